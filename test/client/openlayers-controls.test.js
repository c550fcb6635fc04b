/* global document, window -- of the page, in functions that run there */
// Tests the timeline and the compare control in OpenLayers, and the script for pages without modules.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { bundle, clientBundles } from '../../loader/couchapp/bundle.js'
import { drag } from '../support/client/controls.js'
import { T } from '../support/client/gallery.js'
import { READING, openlayers } from '../support/client/openlayers-page.js'
import { call, onStage } from '../support/client/suite.js'

onStage('the controls in OpenLayers', { layers: ['steps'], library: openlayers }, stage => {
  beforeEach(() => stage.allow(READING))

  const addTimeline = page => page.evaluate(() => {
    const view = window
    view.control = view.tilecouch.timeline(view.olLayer, {})
    view.map.addControl(view.control)
  })

  it('have a timeline along the edge of the map that moves the clock', async () => {
    const page = await stage.show('steps', { time: T(1) })
    await addTimeline(page)
    const slider = page.getByRole('slider', { name: 'Time' })
    await slider.focus()
    await page.keyboard.press('End')
    await page.waitForFunction(time => window.layer.getTime() === time, T(5))
    assert.deepEqual(new Set(Object.values(await stage.rest(page))), new Set(['5']))
    const { left, right, bottom } = await page.evaluate(() => window.control.element.getBoundingClientRect().toJSON())
    assert.ok(left >= 0 && left < 20 && right > 680 && bottom > 480, JSON.stringify({ left, right, bottom }))
    const center = () => page.evaluate(() => window.map.getView().getCenter())
    const before = await center()
    await drag(page, [300, bottom - 20], [200, bottom - 20])
    assert.deepEqual(await center(), before, 'the map does not move with it')
    await page.evaluate(() => { window.map.removeControl(window.control) })
    assert.equal(await page.locator('.tilecouch-timeline').count(), 0)
    await page.evaluate(() => { window.map.addControl(window.control) })
    assert.equal(await page.locator('.tilecouch-dock .tilecouch-timeline').count(), 1)
  })

  for (const webgl of [false, true]) {
    it(`compare two times at a handle or by fading (${webgl ? 'WebGL' : 'canvas'})`, async () => {
      const page = await stage.show('steps', { webgl, time: T(1) })
      await page.evaluate(([isWebGL, time]) => {
        const view = window
        view.right = view.tilecouch.historyLayer(view.map, view.db,
          { layer: 'steps', webgl: isWebGL, interpolate: false, preload: 0, time })
        view.compare = view.tilecouch.compare(view.olLayer, view.right, { leftLabel: 'one', rightLabel: 'five' })
        view.map.addControl(view.compare)
      }, [webgl, T(5)])
      const steps = () => page.evaluate(() => {
        const picture = window.see.picture()
        return ['3/2/3', '3/3/3', '3/4/3', '3/5/3'].map(key => picture[key]).join(' ')
      })
      const shows = text => page.waitForFunction(expected => {
        const picture = window.see.picture()
        return ['3/2/3', '3/3/3', '3/4/3', '3/5/3'].map(key => picture[key]).join(' ') === expected
      }, text).catch(async () => assert.equal(await steps(), text))
      await shows('1 1 5 5')
      await call(page, 'compare.setSplit', 0)
      await shows('5 5 5 5')
      await page.getByRole('slider', { name: 'Compare: left and right' }).focus()
      await page.keyboard.press('End')
      await shows('1 1 1 1')
      await page.evaluate(() => { window.compare.setMode('fade').setSplit(0) })
      await shows('5 5 5 5')
      assert.equal(await page.evaluate(() => {
        try { window.compare.setMode('side') } catch (error) { return error.code }
      }), 'BAD_OPTION')
      await page.evaluate(() => { window.map.removeControl(window.compare) })
      await shows('5 5 5 5')
      assert.equal(await page.evaluate(() => window.right.getOpacity()), 1)
    })
  }

  it('work on pages that load OpenLayers as a script', async () => {
    const page = await stage.page()
    const ol = fileURLToPath(new URL('../../node_modules/ol/dist/ol.js', import.meta.url))
    const name = 'tilecouch-openlayers.js'
    await page.evaluate(script => {
      const element = document.head.appendChild(document.createElement('script'))
      delete window.ol
      element.textContent = script
    }, await readFile(ol, 'utf8'))
    const { [name]: { bytes } } = await bundle({ [name]: clientBundles[name] })
    await page.addScriptTag({ content: bytes.toString() })
    await page.evaluate(time => {
      const view = window
      const { ol: library } = view
      const map = new library.Map({ target: 'map', view: new library.View({ center: [0, 0], zoom: 3 }) })
      view.olLayer = library.couch.historyLayer(map, view.db, { layer: 'steps', time, webgl: true })
      view.layer = view.olLayer.getSource()
      map.addControl(library.couch.timeline(view.olLayer))
    }, T(3))
    await page.waitForFunction(() => window.layer.isShown() && window.layer.changes()?.length === 5)
    assert.equal(await page.locator('.tilecouch-timeline').count(), 1)
    assert.ok(stage.front.tiles().length >= 8)
  })
})
