/* global L, PointerEvent, document, plain, counted, getComputedStyle, requestAnimationFrame -- of the page */
/* global map, clock, layer, control, said, tilecouch -- of the page */
// Tests the elements, texts and pointer input of the timeline in a browser.
import assert from 'node:assert/strict'
import { screens } from '../viewer/browser.js'
import { clockTime, drag, onControls, settled, spot } from '../support/client/controls.js'

const hour = number => `2024-06-20T${String(number).padStart(2, '0')}:00:00Z`
/** @type {Array<[string, number]>} */
const TIMES = [[hour(0), 4], [hour(1), 12], [hour(2), 1], [hour(14), 1200], [hour(20), 40]]
const DAY = { times: TIMES, time: hour(1) }

const text = (page, name) => page.locator(`.tilecouch-timeline-${name}`).textContent()

describe('the timeline on a map', function () {
  this.timeout(60000)
  const { visit } = onControls()

  it('spans the map along its lower edge, below the attribution and the scale', async () => {
    const page = await visit(DAY)
    const boxes = await page.evaluate(() => Object.fromEntries(['timeline', 'attribution', 'scale'].map(name => {
      const { left, right, top, bottom } = document.querySelector(
        name === 'timeline' ? '.tilecouch-timeline' : `.leaflet-control-${name}`
      ).getBoundingClientRect()
      return [name, { left, right, top, bottom }]
    })))
    assert.ok(boxes.timeline.left <= 8 && boxes.timeline.right >= 1272 && boxes.timeline.bottom <= 800,
      'as wide as the map')
    assert.ok(boxes.attribution.bottom <= boxes.timeline.top && boxes.scale.bottom <= boxes.timeline.top, 'above it')
    await page.evaluate(() => control.setPosition('topright'))
    const [timeline, zoom] = await page.evaluate(() => [
      '.tilecouch-timeline', '.leaflet-control-zoom'
    ].map(name => document.querySelector(name).getBoundingClientRect().toJSON()))
    assert.ok(timeline.top < 20 && zoom.top >= timeline.bottom, 'at the top it is the zoom buttons that give way')
  })

  it('removes its elements, styles and listeners when it or its map is removed', async () => {
    const page = await visit(DAY)
    const counts = () => page.evaluate(() => [clock, layer, map, control.player].map(part => tilecouch.listeners(part)))
    const html = () => page.evaluate(() => [
      map.getContainer().className, map.getContainer().getAttribute('style'), map._controlContainer.childElementCount
    ])
    await page.evaluate(() => control.remove())
    const before = [await counts(), await html()]
    await page.evaluate(() => control.addTo(map))
    await page.locator('.tilecouch-play').click()
    await page.evaluate(() => control.setRange({ from: '2024', to: '2025' }).remove())
    await settled(page)
    assert.deepEqual([await counts(), await html()], before)
    await page.evaluate(() => {
      clock.setTime('2020')
      layer.setChanges([])
    })
    assert.equal(await page.locator('.tilecouch-timeline').count(), 0)
    await page.evaluate(() => {
      control.addTo(map)
      tilecouch.timeline(layer).addTo(map)
      control.remove()
      map.remove()
    })
    assert.equal(await page.locator('.tilecouch-dock').count(), 0, 'a map that goes takes its timelines along')
  })

  it('can be placed in another element of the page', async () => {
    const page = await visit(DAY)
    await page.evaluate(() => {
      control.remove()
      const place = Object.assign(document.createElement('div'), { id: 'place' })
      place.style.cssText = 'position: absolute; left: 100px; top: 10px; width: 600px; z-index: 5000'
      document.body.append(place)
      tilecouch.timeline(layer, { container: place }).addTo(map)
    })
    const box = await page.locator('#place > .tilecouch-timeline').boundingBox()
    assert.equal(box?.width, 600)
    assert.equal(await page.locator('.tilecouch-dock').count(), 0)
    await page.locator('#place .tilecouch-timeline-axis').click({ position: { x: 10, y: 20 } })
    assert.equal(await clockTime(page), hour(0))
  })

  it('is available as an element that works without a map', async () => {
    const page = await visit(DAY)
    const result = await page.evaluate(() => {
      control.remove()
      const place = Object.assign(document.createElement('div'), { id: 'place' })
      place.style.cssText = 'position: absolute; left: 100px; top: 10px; width: 600px; height: 200px; z-index: 5000'
      document.body.append(place)
      const counted = [clock, layer].map(part => tilecouch.listeners(part)).join()
      const plain = new tilecouch.Timeline({ history: layer }, { timeZone: 'Asia/Tokyo' })
        .appendTo(place).setRange({ from: '2024', to: '2025' })
      Object.assign(globalThis, { plain, counted, control: plain })
      return [plain.element.parentElement === place, plain.clock === clock, plain.layers.length, plain.getRange()?.from]
    })
    assert.deepEqual(result, [true, true, 1, '2024-01-01T00:00:00Z'])
    assert.equal(await text(page, 'time'), '20 Jun 2024, 10:00 GMT+9')
    const { x, y } = await spot(page, hour(14))
    await page.mouse.click(x, y)
    assert.equal(await clockTime(page), hour(14))
    const docked = await page.evaluate(() => {
      const place = document.getElementById('place')
      const state =
        () => [place.className, place.style.getPropertyValue('--tilecouch-dock-top'), place.childElementCount]
      const open = plain.dock(place, { edge: 'top' }) === plain && state()
      plain.remove().remove()
      return { open, shut: state(), left: [clock, layer].map(part => tilecouch.listeners(part)).join() === counted }
    })
    assert.match(docked.open[1], /^[1-9]\d+px$/)
    assert.deepEqual(docked, { open: ['tilecouch-docked-top', docked.open[1], 1], shut: ['', '', 0], left: true })
  })

  it('shows the time and the number of tiles that changed then', async () => {
    const page = await visit(DAY)
    assert.equal(await text(page, 'time'), '20 Jun 2024, 01:00 UTC')
    assert.equal(await text(page, 'detail'), '12 tiles changed here')
    await page.evaluate(() => clock.setTime('2024-06-20T15:30:00Z'))
    await settled(page)
    assert.equal(await text(page, 'detail'), 'Unchanged since 20 Jun 2024, 14:00 UTC')
    await page.evaluate(() => clock.setTime(null))
    await settled(page)
    assert.equal(await text(page, 'time'), 'Newest')
    assert.equal(await page.locator('.tilecouch-newest').getAttribute('aria-pressed'), 'true')
  })

  it('sets the clock to a change near the click, otherwise to the time under the pointer', async () => {
    const page = await visit(DAY)
    const bar = await spot(page, hour(14))
    await page.mouse.click(bar.x + 6, bar.y)
    assert.equal(await clockTime(page), hour(14))
    const between = await spot(page, '2024-06-20T10:10:10Z')
    await page.mouse.click(between.x, between.y)
    const time = await clockTime(page)
    assert.match(time, /^2024-06-20T10:\d\d:00Z$/, 'as round as a pixel is wide')
  })

  it('snaps to changes while it is dragged, and sets the clock at most once a frame', async () => {
    const page = await visit(DAY)
    const start = await spot(page, hour(1))
    const end = await spot(page, hour(14))
    await page.mouse.move(start.x, start.y)
    await page.mouse.down()
    const moves = await page.evaluate(({ y, from, to }) => new Promise(resolve => {
      const axis = document.querySelector('.tilecouch-timeline-axis')
      said.length = 0
      // many moves within one task, as a fast mouse sends them
      for (let i = 1; i <= 50; i++) {
        axis.dispatchEvent(new PointerEvent('pointermove',
          { bubbles: true, pointerId: 1, pointerType: 'mouse', clientX: from + (to - from) * i / 50 - 4, clientY: y }))
      }
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(said)))
    }), { y: start.y, from: start.x, to: end.x })
    assert.deepEqual(moves, [hour(14)], 'one move, to the last place')
    await page.mouse.move(end.x + 2, end.y)
    await page.mouse.up()
    await settled(page)
    assert.deepEqual(await page.evaluate(() => said), [hour(14)], 'the same time is not set again')
    assert.ok(await page.locator('.tilecouch-timeline-tip').isHidden())
  })

  it('sets the clock to the newest beyond the right end of its axis, or by its button', async () => {
    const page = await visit(DAY)
    const { x, y, right } = await spot(page, hour(14))
    await drag(page, [x, y], [right + 40, y])
    assert.equal(await clockTime(page), null)
    await page.locator('.tilecouch-timeline-thumb').focus()
    await page.keyboard.press('ArrowLeft')
    assert.equal(await clockTime(page), hour(14), 'the last change looks like the newest')
    await page.getByRole('button', { name: 'Newest' }).click()
    assert.equal(await clockTime(page), null)
  })

  it('shows the change under the pointer in a tip', async () => {
    const page = await visit(DAY)
    const { x, y } = await spot(page, hour(14))
    await page.mouse.move(x - 40, y)
    await page.mouse.move(x + 3, y)
    await settled(page)
    assert.equal(await text(page, 'tip'), '20 Jun 2024, 14:00 UTC1,200 tiles changed here, 1.2 MB')
    await page.mouse.move(600, 300)
    await page.locator('.tilecouch-timeline-tip').waitFor({ state: 'hidden' })
  })

  it('keeps drags, wheels, double clicks and keys from the map', async () => {
    const page = await visit({ ...DAY, map: { keyboard: true } })
    const view = () => page.evaluate(() => [map.getCenter().lat, map.getCenter().lng, map.getZoom()].join())
    const before = await view()
    const head = /** @type {any} */ (await page.locator('.tilecouch-timeline-now').boundingBox())
    const { x, y, strip } = await spot(page, hour(10))
    for (const [fromX, fromY] of [[head.x + 10, head.y + 10], [x, y], [x, strip]]) {
      await drag(page, [fromX, fromY], [fromX + 60, fromY - 20])
      await page.mouse.dblclick(fromX, fromY)
      await page.mouse.wheel(0, 200)
    }
    for (const key of ['ArrowLeft', 'ArrowUp', '+', '-', 'PageDown', ' ', 'End']) await page.keyboard.press(key)
    await page.locator('.tilecouch-timeline-now').click()
    for (const key of ['ArrowLeft', 'ArrowUp', '+', '-']) await page.keyboard.press(key)
    await settled(page)
    assert.equal(await page.evaluate(() => Boolean(map._animatingZoom || map._panAnim?._inProgress)), false)
    assert.equal(await view(), before)
  })

  it('shows messages for loading, an unreachable store, no changes and a removed layer', async () => {
    const page = await visit({ times: null })
    assert.equal(await text(page, 'message'), 'Loading the history …')
    assert.ok(await page.getByRole('button', { name: 'Play' }).isDisabled())
    await page.evaluate(() => layer.fire('storeerror', { error: new Error('gone') }))
    await settled(page)
    assert.equal(await text(page, 'message'), 'The store cannot be reached')
    await page.evaluate(() => {
      layer.fire('storeback')
      layer.setExtent({ first: '2020-01-01T00:00:00Z', last: '2024-01-01T00:00:00Z' })
      layer.setChanges([])
    })
    await settled(page)
    assert.equal(await text(page, 'message'), 'Nothing changed here')
    assert.ok((await page.locator('.tilecouch-labels text').allTextContents()).includes('2021'),
      'the axis stays, so that panning does not rescale it')
    await page.evaluate(() => layer.remove())
    await settled(page)
    assert.equal(await text(page, 'message'), 'The layer is not on the map')
  })

  it('shows that a store cannot be reached until the stores of all layers answer', async () => {
    const page = await visit({ times: null })
    const problems = await page.evaluate(() => {
      const other = tilecouch.fakeLayer({ clock }).addTo(map)
      control.setLayers([layer, other])
      return [[layer, 'storeerror'], [other, 'storeerror'], [other, 'storeback'], [layer, 'storeback']]
        .map(([target, type]) => {
          target.fire(type)
          control.render()
          return control.state.problem
        })
    })
    const away = 'the store cannot be reached'
    assert.deepEqual(problems, [away, away, away, null])
  })

  it('has no axis and no buttons while the layer has only one time', async () => {
    const onlyTime = { times: [[hour(1), 12]], time: null }
    const page = await visit(onlyTime)
    assert.deepEqual([await text(page, 'time'), await text(page, 'detail')],
      ['20 Jun 2024, 01:00 UTC', 'The only time of this layer'])
    for (const part of ['axis', 'transport']) {
      assert.equal(await page.locator(`.tilecouch-timeline-${part}`).isVisible(), false, part)
    }
    await page.evaluate(() => {
      const changes = ['2024-06-20T01:00:00Z', '2024-06-20T02:00:00Z'].map(time => ({ time, tiles: 1, bytes: 1 }))
      layer.setExtent({ first: changes[0].time, last: changes[1].time })
      layer.setChanges(changes)
    })
    await settled(page)
    assert.equal(await page.locator('.tilecouch-timeline-axis').isVisible(), true)
    assert.equal(await text(page, 'time'), 'Newest')
  })

  it('uses the words of its options, and English for the others', async () => {
    const words = { timeline: 'Zeitleiste', play: 'Abspielen', newest: 'Neueste' }
    const page = await visit({ ...DAY, time: null, options: { words } })
    assert.equal(await page.locator('.tilecouch-timeline').getAttribute('aria-label'), 'Zeitleiste')
    await page.getByRole('button', { name: 'Abspielen' }).waitFor()
    assert.equal(await text(page, 'time'), 'Neueste')
    assert.equal(await page.getByRole('button', { name: 'Next change' }).count(), 1, 'what is not given stays English')
  })

  it('keeps its buttons in place when the time or the range changes', async () => {
    const page = await visit(DAY)
    const boxes = () => page.locator('.tilecouch-timeline-head button:visible')
      .evaluateAll(nodes => nodes.map(node => [node.title, Math.round(node.getBoundingClientRect().x)])
        .filter(([title]) => !/axis|range/i.test(String(title))))
    const before = await boxes()
    for (const time of [null, hour(14), '2024-06-20T10:59:59Z']) {
      await page.evaluate(newTime => clock.setTime(newTime), time)
      await settled(page)
      assert.deepEqual(await boxes(), before)
    }
    await page.evaluate(() => control.setRange({ from: '2024', to: '2024' }))
    await settled(page)
    assert.deepEqual(await boxes(), before)
  })

  it('shows local time or the time of another zone instead of UTC', async () => {
    const page = await visit(DAY, { ...screens.desk, timezoneId: 'America/New_York' })
    await page.getByRole('button', { name: 'Local' }).click()
    await settled(page)
    assert.match(String(await text(page, 'time')), /^19 Jun 2024, 21:00 (GMT-4|EDT)$/)
    assert.ok((await page.locator('.tilecouch-labels text').allTextContents()).includes('20 Jun'))
    await page.evaluate(() => control.setTimeZone('Asia/Tokyo'))
    await settled(page)
    assert.match(String(await text(page, 'time')), /^20 Jun 2024, 10:00/)
  })

  it('can switch to other layers on another clock', async () => {
    const page = await visit(DAY)
    const texts = await page.evaluate(() => {
      const otherClock = tilecouch.clock({ time: '2001-02-03T00:00:00Z' })
      const nextLayer = tilecouch.fakeLayer(
        { clock: otherClock, changes: [{ time: '2001-02-03T00:00:00Z', tiles: 5, bytes: 1 }] }
      ).addTo(map)
      control.setLayers(nextLayer).render()
      return [document.querySelector('.tilecouch-timeline-time').textContent,
        document.querySelector('.tilecouch-timeline-detail').textContent, tilecouch.listeners(clock)]
    })
    assert.deepEqual(
      texts,
      ['3 Feb 2001', '5 tiles changed here', 2],
      'only the old layer and the test still listen to the old clock'
    )
  })

  it('uses the accent colour that the page sets, in light and dark mode', async () => {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const page = await visit(DAY, { ...screens.desk, colorScheme })
      await page.addStyleTag({ content: '.tilecouch-timeline { --tilecouch-accent: rgb(200, 0, 100) }' })
      assert.equal(await page.locator('.tilecouch-play').evaluate(node => getComputedStyle(node).backgroundColor),
        'rgb(200, 0, 100)')
      assert.ok(await page.evaluate(() => control instanceof L.Control))
      await page.context().close()
    }
  })
})
