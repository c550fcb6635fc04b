/* global window, document, requestAnimationFrame -- of the page, in functions that run there */
// Tests the timeline and the compare control in MapLibre.
import assert from 'node:assert/strict'
import { T } from '../support/client/gallery.js'
import { maplibre } from '../support/client/maplibre-page.js'
import { call, onStage } from '../support/client/suite.js'

onStage('controls in MapLibre', { layers: ['steps'], library: maplibre }, stage => {
  const box = (page, selector) => page.locator(selector).boundingBox()

  it('the timeline lies along the lower edge below other controls, and removes its elements', async () => {
    const page = await stage.show('steps', { time: T(1) })
    await page.evaluate(() => {
      const view = window
      view.map.addControl(new view.maplibregl.NavigationControl(), 'bottom-right')
      view.control = view.tilecouch.timeline(view.layer)
      view.map.addControl(view.control)
    })
    const [bar, buttons] =
      [await box(page, '.tilecouch-timeline'), await box(page, '.maplibregl-ctrl-bottom-right .maplibregl-ctrl-group')]
    assert.ok(bar.width > 660 && bar.y + bar.height > 480, JSON.stringify(bar))
    assert.ok(buttons.y + buttons.height <= bar.y, 'nothing lies above each other')
    await page.getByRole('slider', { name: 'Time' }).focus()
    await page.keyboard.press('End')
    assert.equal(await call(page, 'layer.getTime'), T(5))
    await page.keyboard.press('PageDown')
    assert.deepEqual(await page.evaluate(() => window.map.getCenter().toArray()),
      [0, 0], 'its keys do not move the map')
    await page.evaluate(() => { const { map, control } = window; map.removeControl(control) })
    assert.equal(await page.locator('.tilecouch-timeline, .tilecouch-dock').count(), 0)
  })

  it('the timeline plays in another element of the page, and fires rangechange', async () => {
    const page = await stage.show('steps', { time: T(1) })
    await page.evaluate(() => {
      const view = window
      const container = document.body.appendChild(document.createElement('div'))
      container.id = 'elsewhere'
      view.control = view.tilecouch.timeline(view.layer, { container, speed: 50 })
      view.said = []
      view.control.on('rangechange', ({ from, to }) => view.said.push([from, to]))
      view.map.addControl(view.control)
      view.control.player.setRange({ from: '2024-01-02', to: '2024-01-04' })
      view.control.player.play()
    })
    assert.equal(await page.locator('#elsewhere .tilecouch-timeline').count(), 1)
    await page.waitForFunction(time => window.layer.getTime() >= time, T(4))
    assert.equal((await call(page, 'said.slice')).length, 1)
  })

  /** Opens a map with two layers, each with its own clock, and the compare control. */
  async function openComparison (options = {}) {
    const page = await stage.show('steps', { time: T(5) })
    await page.evaluate(([time, compareOptions]) => {
      const view = window
      view.left = new view.tilecouch.HistoryLayer(view.db, { layer: 'steps', time, preload: 0 })
      view.control = view.tilecouch.compare(view.left, view.layer,
        { leftLabel: 'before', rightLabel: 'now', ...compareOptions })
      view.map.addControl(view.control)
      view.upper = {} // the picture of its last frame
      view.control.getUpperMap().on('render', ({ target }) => { view.upper = view.see.picture(target) })
    }, [T(1), options])
    await page.waitForFunction(() => { const { left, layer, control } =
      window; return left.isShown() && layer.isShown() && control.getUpperMap().loaded() })
    return page
  }

  it('the comparison shows one time left of its handle and the other right of it', async () => {
    const page = await openComparison()
    await page.waitForFunction(() => {
      const texts = Object.values(window.upper)
      return texts.length > 0 && texts.every(text => text === '1')
    })
    assert.ok(Object.values(await call(page, 'see.picture')).every(text => text === '5'))
    const clip = () => page.locator('.tilecouch-compare-upper').evaluate(element => element.style.clipPath)
    assert.equal(await clip(), 'inset(0px 50% 0px 0px)')
    await page.getByRole('slider').focus()
    await page.keyboard.press('PageUp')
    assert.equal(await clip(), 'inset(0px 40% 0px 0px)')
    assert.deepEqual(await page.locator('.tilecouch-compare-label').allTextContents(), ['before', 'now'])
    await page.evaluate(() => { const { map, control } = window; map.removeControl(control) })
    assert.equal(await page.locator('.tilecouch-compare, .tilecouch-compare-upper').count(), 0)
    assert.equal(await call(page, 'left.history.isOnMap'), false)
    assert.equal(await call(page, 'layer.history.isOnMap'), true)
  })

  it('the comparison moves both maps in the same frame, and fades one into the other', async () => {
    const page = await openComparison({ mode: 'fade', split: 0.25 })
    assert.equal(await page.locator('.tilecouch-compare-upper').evaluate(element => element.style.opacity), '0.25')
    const result = await page.evaluate(() => new Promise(resolve => {
      const { map, control } = window
      const upper = control.getUpperMap()
      let [maxDifference, frames] = [0, 0]
      upper.on('render', () => {
        frames++
        maxDifference = Math.max(maxDifference, Math.abs(upper.getZoom() - map.getZoom()),
          Math.abs(upper.getCenter().lng - map.getCenter().lng))
        if (frames !== 10) return // the tenth frame ends the move
        map.jumpTo({ center: [10, 10], zoom: 2.5, bearing: 30 })
        requestAnimationFrame(() => requestAnimationFrame(
          () => resolve({ most: maxDifference, frames, zoom: upper.getZoom(), bearing: upper.getBearing() })
        ))
      })
      map.easeTo({ center: [10, 10], zoom: 2.5, bearing: 30, duration: 60000 })
    }))
    assert.ok(result.frames > 2, JSON.stringify(result))
    assert.deepEqual([result.most, result.zoom, result.bearing], [0, 2.5, 30])
  })
})
