/* global document, getComputedStyle, requestAnimationFrame, innerWidth -- of the page */
/* global map, left, right, control, tilecouch, said -- of the page */
// Tests the compare control and its handle in a browser.
import assert from 'node:assert/strict'
import { dragTouch } from '../viewer/areas.js'
import { screens } from '../viewer/browser.js'
import { drag, onControls } from '../support/client/controls.js'

/** Reads which part of the window shows each layer, as shares of its width, or null when it is not clipped. */
const readShares = page => page.evaluate(() => [left, right].map(layer => {
  const { clipPath } = layer.getContainer().style
  if (!clipPath) return null
  const points =
    [...clipPath.matchAll(/(-?[\d.]+)px (-?[\d.]+)px/g)].map(([, x, y]) => map.layerPointToContainerPoint([+x, +y]))
  const { x, y } = map.getSize()
  const range = name => [Math.min(...points.map(point => point[name])), Math.max(...points.map(point => point[name]))]
  const [from, to] = range('x')
  const [top, bottom] = range('y')
  // while the map glides, edges are on whole pixels of the map and may be off by less than one pixel
  const share = value => Math.round(value / x * 1000) / 1000 || 0 // no minus zero
  return top < 1 && bottom > y - 1 ? [share(from), share(to)] : 'cut off above or below'
}))

describe('the compare control', function () {
  this.timeout(60000)
  const { visit } = onControls()

  const open = async (options = {}, screen = undefined) => {
    const page = await visit(null, screen)
    await page.evaluate(compareOptions => {
      const clocks = [tilecouch.clock({ time: '2020' }), tilecouch.clock()]
      const newMap = tilecouch.map({ zoomAnimation: false })
      const [leftLayer, rightLayer] = [
        '#8fb3a0', '#b38f8f'
      ].map((colour, index) => tilecouch.fakeLayer({ clock: clocks[index], changes: [], colour }).addTo(newMap))
      const compare = tilecouch.compare(leftLayer, rightLayer, compareOptions).addTo(newMap)
      const splits = []
      compare.on('splitchange', ({ split }) => splits.push(split))
      Object.assign(globalThis, { map: newMap, left: leftLayer, right: rightLayer, control: compare, said: splits })
    }, options)
    return page
  }
  const handle = page => page.getByRole('slider', { name: 'Compare' })

  it('shows one layer left and the other layer right of the handle', async () => {
    const page = await open({ split: 0.25 })
    assert.deepEqual(await readShares(page), [[0, 0.25], [0.25, 1]])
    const box = await handle(page).boundingBox()
    assert.ok(box && Math.abs(box.x + box.width / 2 - 320) <= 1 && box.width >= 44 && box.height >= 44)
  })

  it('keeps its split while the map is moved, zoomed and resized', async () => {
    const page = await open()
    await page.mouse.move(200, 500)
    await page.mouse.down()
    await page.mouse.move(330, 420, { steps: 5 })
    assert.deepEqual(await readShares(page), [[0, 0.5], [0.5, 1]], 'during the drag')
    await page.mouse.up()
    await page.evaluate(() => map.setZoom(4, { animate: false }))
    assert.deepEqual(await readShares(page), [[0, 0.5], [0.5, 1]])
    await page.evaluate(() => map.setView([0, 100], 6, { animate: false }))
    assert.deepEqual(await readShares(page), [[0, 0.5], [0.5, 1]])
    await page.setViewportSize({ width: 800, height: 600 })
    await page.waitForFunction(() => map.getSize().x === 800)
    assert.deepEqual(await readShares(page), [[0, 0.5], [0.5, 1]])
  })

  it('keeps the edge between both layers in place while a zoom is animated', async () => {
    const page = await visit()
    const edgePositions = await page.evaluate(() => new Promise(resolve => {
      const newMap = tilecouch.map({ zoomAnimationThreshold: 10 })
      const [leftLayer, rightLayer] =
        [tilecouch.clock(), tilecouch.clock()].map(clock => tilecouch.fakeLayer({ clock, changes: [] }).addTo(newMap))
      tilecouch.compare(leftLayer, rightLayer).addTo(newMap)
      newMap.panBy([37, 21], { animate: false })
      const edges = []
      const recordEdge = () => {
        const [, x] = /px, (-?[\d.]+)px/.exec(leftLayer.getContainer().style.clipPath) ?? []
        edges.push(Math.round(leftLayer.getContainer().getBoundingClientRect().left + Number(x)))
        if (newMap._animatingZoom) requestAnimationFrame(recordEdge)
        else resolve([...new Set(edges)])
      }
      newMap.once('zoomanim', () => requestAnimationFrame(recordEdge))
      newMap.setZoom(5, { animate: true })
    }))
    assert.deepEqual(edgePositions, [640], 'in every frame')
  })

  it('moves its handle with the pointer without moving the map', async () => {
    const page = await open()
    const center = () => page.evaluate(() => map.getCenter().toString())
    const before = await center()
    const box = /** @type {any} */ (await handle(page).boundingBox())
    await drag(page, [box.x + 10, box.y + 22], [box.x + 10 + 320, box.y + 50])
    assert.deepEqual(await readShares(page), [[0, 0.75], [0.75, 1]], 'it does not jump under the pointer')
    assert.equal((await page.evaluate(() => said)).at(-1), 0.75)
    await page.mouse.move(700, 200)
    assert.deepEqual((await readShares(page))[0], [0, 0.75], 'let go of')
    assert.equal(await center(), before)
  })

  it('moves its handle with a finger', async () => {
    const page = await open({}, screens.phone)
    const box = /** @type {any} */ (await handle(page).boundingBox())
    await dragTouch(page, { x: box.x + 22, y: box.y + 20 }, [78, 0])
    assert.ok(Math.abs(await page.evaluate(() => control.getSplit()) - 0.7) < 0.01)
  })

  it('moves its handle with the keys of a slider, and announces the shares of both layers', async () => {
    const page = await open({ leftLabel: '2020', rightLabel: 'Newest' })
    await handle(page).focus()
    const splits = []
    for (const key of ['ArrowRight', 'ArrowLeft', 'PageUp', 'PageDown', 'End', 'ArrowRight', 'Home']) {
      await page.keyboard.press(key)
      splits.push(+(await page.evaluate(() => control.getSplit())).toFixed(2))
    }
    assert.deepEqual(splits, [0.52, 0.5, 0.6, 0.5, 1, 1, 0])
    assert.equal(await handle(page).getAttribute('aria-valuenow'), '0')
    assert.equal(await handle(page).getAttribute('aria-valuetext'), '2020 on 0 %, Newest on 100 % of the map')
    assert.equal(await page.evaluate(() => map.getCenter().lng), 10)
  })

  it('shows the label of each side that has one, on its side of the handle', async () => {
    const page = await open({ leftLabel: '2020' })
    const labels = () => page.locator('.tilecouch-compare-label:visible').allTextContents()
    assert.deepEqual(await labels(), ['2020'])
    await page.evaluate(() => control.setLabels('1 Jan 2020, 00:00 UTC', 'Newest'))
    assert.deepEqual(await labels(), ['1 Jan 2020, 00:00 UTC', 'Newest'])
    const [a, b] = await page.locator('.tilecouch-compare-label')
      .evaluateAll(elements => elements.map(label => label.getBoundingClientRect().toJSON()))
    assert.ok(a.right < 640 && b.left > 640)
  })

  it('swaps layers, clips a layer that returns to the map, and unclips one that is not compared', async () => {
    const page = await open({ split: 0.25 })
    await page.evaluate(() => control.setLayers(right, left))
    assert.deepEqual(await readShares(page), [[0.25, 1], [0, 0.25]])
    await page.evaluate(() => left.remove())
    await page.evaluate(() => left.addTo(map))
    assert.deepEqual(await readShares(page), [[0.25, 1], [0, 0.25]], 'clipped when it is back')
    await page.evaluate(() => control.setLayers(null, [right]))
    assert.deepEqual(await readShares(page), [null, [0.25, 1]], 'what is not compared is whole')
  })

  it('sets the opacity of the right layer by its handle in fade mode, and restores it afterwards', async () => {
    const page = await open({ mode: 'fade', split: 0.25, leftLabel: '2020', rightLabel: 'Newest' })
    const opacity =
      () => page.evaluate(() => [left, right].map(layer => Number(layer.getContainer().style.opacity || 1)))
    assert.deepEqual([await readShares(page), await opacity()], [[null, null], [1, 0.75]], 'nothing is cut')
    const box = /** @type {any} */ (await handle(page).boundingBox())
    assert.ok(Math.abs(box.x + box.width / 2 - (640 - 80)) <= 1, 'a quarter of 320 pixels in the middle')
    await drag(page, [box.x + 22, box.y + 22], [box.x + 22 + 160, box.y + 22])
    assert.deepEqual(await opacity(), [1, 0.25])
    assert.equal(await handle(page).getAttribute('aria-valuetext'), '2020 75 %, Newest 25 %')
    await page.evaluate(() => control.setMode('swipe'))
    assert.deepEqual([await readShares(page), await opacity()], [[[0, 0.75], [0.75, 1]], [1, 1]])
    await page.evaluate(() => control.setMode('fade').remove())
    assert.deepEqual([await readShares(page), await opacity()], [[null, null], [1, 1]])
  })

  it('shows the left layer on a second map in side mode, and both maps move together', async () => {
    const page = await open({ mode: 'side' })
    const places = () => page.evaluate(() => {
      const sideMap = control.getSideMap()
      const { x, y } = map.getSize()
      const [mainPlace, sidePlace] = [map.containerPointToLatLng([0.75 * x, y / 2]), sideMap.getCenter()]
      return {
        zooms: [map.getZoom(), sideMap.getZoom()],
        apart: map.project(mainPlace).distanceTo(map.project(sidePlace)),
        on: left._map === sideMap && right._map === map,
        width: sideMap.getSize().x
      }
    })
    const assertTogether = async label => {
      const { zooms, apart, on } = await places()
      assert.ok(on && apart <= 2 && zooms[0] === zooms[1], `${label}: ${JSON.stringify({ zooms, apart, on })}`)
    }
    await assertTogether('at first')
    assert.equal((await places()).width, 640)
    await page.evaluate(() => map.panBy([120, 40], { animate: false }))
    await assertTogether('the map was moved')
    await page.evaluate(() => control.getSideMap().panBy([-70, 20], { animate: false }))
    await assertTogether('the other one was moved')
    await page.evaluate(() => map.setView([30, -50], 5, { animate: false }))
    await assertTogether('another place')
    await page.evaluate(() => control.getSideMap().setZoom(4, { animate: false }))
    await assertTogether('another zoom')
    await page.setViewportSize({ width: 600, height: 900 })
    await page.waitForFunction(() => map.getSize().x === 600 && control.getSideMap().getSize().x === 600)
    assert.deepEqual(await page.evaluate(() => [control.getSideMap().getSize().y, map.getSize().y]),
      [450, 900], 'above the other one where it is higher than wide')
    await page.evaluate(() => control.setMode('swipe'))
    assert.equal(await page.evaluate(() => left._map === map && control.getSideMap()), null)
    assert.deepEqual(await readShares(page), [[0, 0.5], [0.5, 1]])
    await page.evaluate(() => control.setMode('side').remove())
    assert.ok(await page.evaluate(() => left._map === map))
    assert.equal(await page.locator('.tilecouch-compare-other').count(), 0)
  })

  it('animates a zoom on both maps in side mode', async () => {
    const page = await visit()
    const zooms = await page.evaluate(() => new Promise(resolve => {
      const newMap = tilecouch.map({ zoomAnimationThreshold: 10 })
      const [leftLayer, rightLayer] =
        [tilecouch.clock(), tilecouch.clock()].map(clock => tilecouch.fakeLayer({ clock, changes: [] }).addTo(newMap))
      const comparison = tilecouch.compare(leftLayer, rightLayer, { mode: 'side' }).addTo(newMap)
      const animations = new Set()
      comparison.getSideMap().on('zoomanim', ({ zoom }) => animations.add(`animated to ${zoom}`))
      newMap.once('zoomend', () => requestAnimationFrame(
        () => requestAnimationFrame(
          () => setTimeout(() => resolve([...animations, comparison.getSideMap().getZoom()]), 300))
      ))
      newMap.setZoom(5, { animate: true })
    }))
    assert.deepEqual(zooms, ['animated to 5', 5])
  })

  it('uses the words of its options, and refuses an unknown mode', async () => {
    const page = await open({ split: 0.25, words: { left: 'links' } })
    assert.match(String(await handle(page).getAttribute('aria-valuetext')), /^links on 25 %, right/)
    assert.equal(await page.evaluate(
      () => { try { control.setMode('upside down') } catch (error) { return error.code } }
    ), 'BAD_OPTION')
  })

  it('offers its handle as an element that works without a map', async () => {
    const page = await visit()
    await page.evaluate(() => {
      const compareHandle = new tilecouch.CompareHandle({ split: 0.25, leftLabel: '2020' }).setSize(400, 200)
      compareHandle.on('splitchange', ({ split }) => splits.push(split))
      const splits = []
      const container = document.createElement('div')
      container.style.cssText = 'position: absolute; left: 100px; top: 50px; width: 400px; height: 200px; z-index: 5000'
      container.append(compareHandle.element)
      document.body.append(container)
      Object.assign(globalThis, { control: compareHandle, said: splits })
    })
    const box = /** @type {any} */ (await handle(page).boundingBox())
    assert.equal(box.x + box.width / 2, 200)
    assert.equal(await handle(page).getAttribute('aria-valuetext'), '2020 on 25 %, right on 75 % of the map')
    await page.mouse.move(200, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(300, box.y + 20)
    await page.mouse.move(400, box.y + 20)
    assert.deepEqual(await page.evaluate(() => said), [0.5, 0.75])
    await page.evaluate(() => {
      const { parentElement } = control.element
      control.element.remove()
      parentElement.append(control.element)
    })
    await page.mouse.move(390, box.y + 20)
    assert.equal(await page.evaluate(() => control.getSplit()), 0.75, 'who was taken off the page is let go of')
    await page.evaluate(() => control.setMode('fade').setSplit(0))
    assert.deepEqual(await page.evaluate(() => [said.at(-1), control.getMode()]), [0, 'fade'])
  })

  it('removes its clips, listeners and elements when it is removed', async () => {
    const page = await open()
    const listeners = () => page.evaluate(() => [map, left, right].map(target => tilecouch.listeners(target)))
    await page.evaluate(() => control.remove())
    const before = await listeners()
    await page.evaluate(() => control.addTo(map).remove())
    assert.deepEqual(await listeners(), before)
    assert.deepEqual(await readShares(page), [null, null])
    await page.evaluate(() => map.setZoom(5, { animate: false }))
    await page.evaluate(() => left.remove().addTo(map))
    assert.deepEqual(await readShares(page), [null, null])
    assert.equal(await page.locator('.tilecouch-compare').count(), 0)
  })

  it('lets the pointer reach the map and its buttons', async () => {
    const page = await open()
    await page.locator('.leaflet-control-zoom-in').click()
    assert.equal(await page.evaluate(() => map.getZoom()), 4)
    assert.equal(await page.locator('.tilecouch-compare').evaluate(node => getComputedStyle(node).pointerEvents),
      'none')
    assert.ok(await page.evaluate(() => innerWidth === map.getSize().x))
  })
})
