/* global document, innerWidth, KeyboardEvent, map, clock, layer, control, said -- of the page */
// Tests the timeline in a browser: keyboard, screen reader, playback, and its axis.
import assert from 'node:assert/strict'
import { screens } from '../viewer/browser.js'
import { clockTime, drag, onControls, settled, spot } from '../support/client/controls.js'

const day = number => new Date(Date.UTC(2020, 0, number)).toISOString().slice(0, 19) + 'Z'
/** @type {Array<[string, number]>} */
const TIMES = Array.from({ length: 100 }, (_, index) => [day(1 + index * 10), 1 + index % 7])
const YEARS = { times: TIMES, time: day(101) }

const span = page => page.evaluate(() => control.state.span)
const range = page => page.evaluate(() => control.getRange())
const thumb = page => page.locator('.tilecouch-timeline-thumb')

describe('the timeline with keyboard and screen reader', function () {
  this.timeout(60000)
  const { visit } = onControls()

  it('steps with the arrows, by tens with the page keys, to the ends, and plays with the space bar', async () => {
    const page = await visit(YEARS)
    await thumb(page).focus()
    const times = []
    for (const key of ['ArrowRight', 'ArrowUp', 'ArrowLeft', 'PageUp',
      'PageDown', 'End', 'ArrowRight', 'Home', 'ArrowDown']) {
      await page.keyboard.press(key)
      times.push(await clockTime(page))
    }
    assert.deepEqual(times, [111, 121, 111, 211, 111, 991, 991, 1, 1].map(day))
    await page.keyboard.press(' ')
    assert.equal(await page.evaluate(() => control.player.isPlaying()), true)
    await page.keyboard.press('ArrowRight')
    assert.equal(await page.evaluate(() => control.player.isPlaying()), false, 'who steps has taken over')
  })

  it('is a slider with its time in words, and announces the time only when it rests', async () => {
    const page = await visit(YEARS)
    const slider = page.getByRole('slider', { name: 'Time' })
    assert.equal(await slider.getAttribute('aria-valuetext'), '10 Apr 2020, 4 tiles changed here')
    assert.equal(await slider.getAttribute('aria-valuenow'), String(Date.UTC(2020, 3, 10) / 1000))
    const status = page.locator('.tilecouch-timeline [role=status]')
    await page.evaluate(() => control.player.setSpeed(50).play())
    await page.waitForFunction(from => clock.getTime() > from, day(301))
    assert.equal(await status.textContent(), '', 'nobody wants to hear a film')
    await page.evaluate(() => control.player.first())
    await page.waitForFunction(() => document.querySelector('.tilecouch-timeline [role=status]').textContent !== '')
    assert.equal(await status.textContent(), '1 Jan 2020, 1 tile changed here')
    for (const button of await page.locator('.tilecouch-timeline button').all()) {
      assert.ok(await button.getAttribute('title'), 'every button explains itself')
    }
  })

  it('lets the keyboard alone create, change and clear a range', async () => {
    const page = await visit(YEARS)
    await page.getByRole('button', { name: 'Select a range' }).focus()
    await page.keyboard.press('Enter')
    const before = await range(page)
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    assert.equal(await focused(), 'Start of the range')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Tab')
    assert.equal(await focused(), 'End of the range')
    await page.keyboard.press('PageDown')
    const after = await range(page)
    assert.equal(Date.parse(after.from) - Date.parse(before.from), 10 * 864e5)
    assert.equal(Date.parse(after.to) - Date.parse(before.to), -100 * 864e5)
    for (let turn = 0; turn < 20; turn++) await page.keyboard.press('PageDown')
    assert.ok((await range(page)).to >= after.from, 'the ends do not pass each other')
    await page.getByRole('button', { name: 'Clear the range' }).focus()
    await page.keyboard.press('Enter')
    assert.equal(await range(page), null)
    assert.equal((await page.evaluate(() => said)).at(-1)[1], undefined, 'says that it was cleared')
  })

  it('shows the hour of a midnight only if another change is not at midnight', async () => {
    const head = page => page.locator('.tilecouch-timeline-time').textContent()
    const days = await visit(YEARS)
    assert.equal(await head(days), '10 Apr 2020')
    const hours = await visit({ ...YEARS, times: [...TIMES, ['2023-05-01T14:00:00Z', 3]] })
    await settled(hours)
    assert.equal(await head(hours), '10 Apr 2020, 00:00 UTC')
  })

  it('moves both ends of the range by keys that come within one frame', async () => {
    const page = await visit(YEARS)
    await page.getByRole('button', { name: 'Select a range' }).click()
    const before = await range(page)
    await page.evaluate(() => {
      for (const [label, key] of [['Start of the range', 'ArrowRight'], ['End of the range', 'ArrowLeft']]) {
        document.querySelector(`[aria-label="${label}"]`)
          .dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
      }
    })
    const after = await range(page)
    const movedDays = end => (Date.parse(after[end]) - Date.parse(before[end])) / 864e5
    assert.deepEqual([movedDays('from'), movedDays('to')], [10, -10])
  })
})

describe('the timeline as a player', function () {
  this.timeout(60000)
  const { visit } = onControls()

  it('plays to the end and waits for tiles on the way', async () => {
    const page = await visit({ times: TIMES.slice(0, 4), time: day(1), options: { speed: 50 } })
    await page.evaluate(() => { layer.slow = true })
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.locator('.tilecouch-play.tilecouch-waiting').waitFor()
    assert.equal(await clockTime(page), day(11))
    assert.equal(await page.locator('.tilecouch-timeline-detail').textContent(), 'Waiting for tiles …')
    await page.evaluate(() => {
      layer.slow = false
      layer.arrive()
    })
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
    assert.deepEqual(await page.evaluate(() => said), [11, 21, 31].map(day), 'every step once')
  })

  it('plays in a loop within a range at the speed of the menu', async () => {
    const page = await visit({ times: TIMES, time: day(501), options: { range: { from: '2020-02', to: '2020-02' } } })
    await page.getByLabel('Speed').selectOption('10')
    await page.getByRole('button', { name: 'Start again at the end' }).click()
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.waitForFunction(() => said.length >= 4)
    await page.getByRole('button', { name: 'Pause' }).click()
    assert.deepEqual((await page.evaluate(() => said)).slice(0, 4), [41, 51, 41, 51].map(day))
  })

  it('offers the pace of its options, also if it is not one of the usual ones', async () => {
    for (const [pace, label] of /** @type {Array<[number, string]>} */ ([[43200, '12 h per s'], [90, '90 s per s']])) {
      const page = await visit({ ...YEARS, options: { pace } })
      const speed = page.getByLabel('Speed')
      assert.equal(await speed.inputValue(), `pace ${pace}`)
      assert.equal(await speed.locator('option:checked').textContent(), label)
    }
  })

  it('offers paces in map time per second, and skips changes that a pace shows too briefly', async () => {
    const page = await visit({ times: TIMES, time: day(1) })
    const speed = page.getByLabel('Speed')
    assert.deepEqual(await speed.locator('optgroup').evaluateAll(groups => groups.map(group => group.label)),
      ['Changes a second', 'Time a second'])
    const paces = await speed.locator('optgroup').nth(1).locator('option').allTextContents()
    assert.deepEqual(paces, ['1 day per s', '1 week per s', '1 month per s', '1 year per s'], 'of 1,000 days')
    await speed.selectOption('1 year per s')
    assert.equal(await page.evaluate(() => Math.round(control.player.getPace() / 86400)), 365)
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.waitForFunction(until => said.at(-1) === until, day(991))
    const steps = await page.evaluate(() => said.length)
    assert.ok(steps >= 20 && steps < 60, `${steps} steps: what is seen for less than a moment is left out`)
    await speed.selectOption('2')
    assert.equal(await page.evaluate(() => control.player.getPace()), null)
  })

  it('keeps the time in view while it plays on a zoomed axis', async () => {
    const page = await visit({ ...YEARS, options: { speed: 100 } })
    await page.evaluate(() => control.setSpan({ from: Date.parse('2020-03-01'), to: Date.parse('2020-06-01') }))
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.waitForFunction(from => clock.getTime() > from, day(401))
    await page.getByRole('button', { name: 'Pause' }).click()
    await settled(page)
    const shownSpan = await span(page)
    const time = Date.parse(await clockTime(page))
    assert.ok(time >= shownSpan.from && time <= shownSpan.to)
    assert.ok(Math.abs(shownSpan.to - shownSpan.from - 92 * 864e5) < 1000, 'as close as before')
  })
})

describe('the axis of the timeline on a page', function () {
  this.timeout(60000)
  const { visit } = onControls()

  it('creates a range by shift and drag, and changes it by its handles', async () => {
    const page = await visit(YEARS)
    const [a, b, c] = await Promise.all([201, 401, 601].map(number => spot(page, day(number))))
    await page.keyboard.down('Shift')
    await drag(page, [b.x + 2, b.y], [a.x + 1, a.y])
    await page.keyboard.up('Shift')
    assert.deepEqual(await range(page), { from: day(201), to: day(401) })
    await drag(page, [a.x, a.y], [c.x - 1, c.y])
    assert.deepEqual(await range(page), { from: day(401), to: day(601) }, 'one handle passes the other')
    assert.equal(await clockTime(page), day(101), 'the time has not moved')
    assert.equal(await page.locator('.tilecouch-timeline-chosen').textContent(),
      '4 Feb 2021 – 23 Aug 2021 · 21 changes')
  })

  it('zooms around the pointer, moves by a drag of its ticks, and shows everything with key 0', async () => {
    const page = await visit(YEARS)
    const { x: middle, y, strip } = await spot(page, day(301))
    const x = Math.round(middle) // the mouse is on a whole pixel
    const timeUnderPointer = () => page.evaluate(place =>
      control.state.axis.ms(place - document.querySelector('.tilecouch-timeline-axis').getBoundingClientRect().left), x)
    const wide = await span(page)
    const time = await timeUnderPointer()
    await page.mouse.move(x, y)
    for (let turn = 0; turn < 4; turn++) await page.mouse.wheel(0, -200)
    await page.waitForFunction(length => control.state.span.to - control.state.span.from < length / 8,
      wide.to - wide.from)
    assert.ok(Math.abs(await timeUnderPointer() - time) < 1000, 'what is under the pointer stays there')
    assert.equal(await page.evaluate(() => map.getZoom()), 3)
    const before = await span(page)
    await drag(page, [x, strip], [x - 100, strip])
    await settled(page)
    assert.ok((await span(page)).from > before.from)
    assert.equal(await clockTime(page), day(101), 'the time has not moved')
    await page.getByRole('slider', { name: 'Time' }).focus()
    await page.keyboard.press('0')
    await settled(page)
    assert.deepEqual(await span(page), wide)
  })

  it('zooms to the range', async () => {
    const page = await visit({ ...YEARS, options: { range: { from: day(201), to: day(301) } } })
    await page.getByRole('button', { name: 'Zoom to the range' }).click()
    await settled(page)
    const shownSpan = await span(page)
    assert.ok(shownSpan.from < Date.parse(day(201)) && shownSpan.from > Date.parse(day(181)) &&
      shownSpan.to > Date.parse(day(301)) && shownSpan.to < Date.parse(day(321)))
  })

  it('writes labels that do not overlap at any zoom', async () => {
    const page = await visit(YEARS)
    for (const hours of [30000, 8000, 2000, 600, 200, 48, 7, 1, 0.02]) {
      await page.evaluate(length => {
        const middle = Date.UTC(2021, 0, 1)
        control.setSpan({ from: middle - length * 18e5, to: middle + length * 18e5 }).render()
      }, hours)
      const gaps = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll('.tilecouch-labels text')].map(node => node.getBoundingClientRect())
          .sort((a, b) => a.left - b.left)
        return { count: boxes.length, least: Math.min(...boxes.slice(1).map((box, i) => box.left - boxes[i].right)) }
      })
      assert.ok(gaps.count > 2 && gaps.least > 2, `${hours} h: ${JSON.stringify(gaps)}`)
    }
  })

  it('fits phones: two rows, large buttons, and a zoom with two fingers', async () => {
    const page = await visit(YEARS, { ...screens.phone, viewport: { width: 320, height: 568 } })
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true)
    const rows = await page.locator('.tilecouch-timeline').boundingBox()
    assert.ok(rows && rows.height < 150, 'two rows')
    await page.getByRole('button', { name: 'More' }).tap()
    const targets = page.locator('.tilecouch-timeline :is(button, select):visible')
    assert.ok(await targets.count() >= 10)
    for (const target of await targets.all()) {
      const { width, height } = /** @type {any} */ (await target.boundingBox())
      assert.ok(width >= 40 && height >= 40, `${await target.getAttribute('aria-label')}: ${width} x ${height}`)
    }
    const { x, y } = await spot(page, day(501))
    await page.touchscreen.tap(x, y)
    assert.equal(await clockTime(page), day(501))

    const wide = await span(page)
    const session = await page.context().newCDPSession(page)
    const fingers = (type, ...xs) => session.send('Input.dispatchTouchEvent',
      { type, touchPoints: xs.map((fingerX, id) => ({ x: fingerX, y, id })) })
    await fingers('touchStart', 100)
    await fingers('touchStart', 100, 160)
    await fingers('touchMove', 80, 180)
    await fingers('touchMove', 60, 200)
    await fingers('touchEnd')
    await settled(page)
    const zoomed = await span(page)
    assert.ok(zoomed.to - zoomed.from < (wide.to - wide.from) / 2, 'spread fingers zoom in')
    assert.equal(await clockTime(page), day(501), 'and do not move the time')
    assert.equal(await page.evaluate(() => map.getZoom()), 3)
  })

  it('draws thousands of changes as bars that can be told apart', async () => {
    const times = Array.from({ length: 5000 }, (_, index) => [day(1 + index), 1 + index % 500])
    const page = await visit({ times, time: day(2501) })
    const bars = await page.evaluate(() => [
      'later', 'past', 'current'
    ].map(name => (document.querySelector(`.tilecouch-${name}`).getAttribute('d').match(/M/g) ?? []).length))
    assert.equal(bars[2], 1, 'one current bar')
    assert.ok(bars[0] + bars[1] > 100 && bars[0] + bars[1] < 300, 'bars that can be told apart')
  })
})
