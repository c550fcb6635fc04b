/* global document, window, VideoEncoder -- of the page, in functions that run there */
// Time-lapses of the map: each frame of a file is decoded and compared with the past of the layer.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { holdRequests } from '../client/requests.js'
import { T } from '../support/client/gallery.js'
import { shownAt } from './browser.js'
import { AWAY, onViewer } from '../support/viewer.js'
import { MIDDLE, PACKED, STEPS, assertMiddle, choose, colourAsOf, colourOf, decode, decodeVideo,
  distance, make, openTake, ownSize, placeOf, save, texts, watch } from './take-support.js'

const FILMED = 9 // like PACKED, for a video; two steps of a tile differ by 8, the first and the last by 32

/** An image that only a time-lapse needs: the map neither shows it nor reads it ahead. */
const isFirst = ({ kind, path }) => kind === 'tile' && path.includes(':3:3:3@2024-01-01')

const waitForWorkerEnd = page => until(() => page.workers().length === 0, { what: 'no worker' })

onViewer('a time-lapse', { layers: ['steps', 'bounded'], demo: false }, stage => {
  /** Opens the dialog and chooses a GIF. */
  async function open (hash = '#steps/3/0/0') {
    const page = await stage.visit(hash)
    const card = await openTake(page, 'Time-lapse')
    await choose(card, 'Format', 'gif')
    await ownSize(card, 512, 512)
    return { page, card }
  }

  /** Starts a GIF. One of its images is held back until the gate is opened. */
  async function begin () {
    const { page, card } = await open()
    await card.getByText(/^5 frames/).waitFor()
    const held = holdRequests(stage.front, isFirst)
    await card.getByRole('button', { name: 'Make the time-lapse' }).click()
    return { page, card, held }
  }

  it('shows every change with its date in a GIF, after an estimate of its length', async () => {
    const { page, card } = await open()
    await choose(card, 'Frames a second', '2')
    await card.getByText(/^5 frames, 4\.5 seconds, about [\d.,]+\s[kM]B\.$/).waitFor()
    await watch(page)
    const { name, bytes } = await make(card, 'Make the time-lapse')
    assert.equal(name, 'steps-2024-01-01-2024-01-05.gif')
    const { width, height, pages, delay, at } = await decode(bytes)
    assert.deepEqual([width, height, pages, delay], [512, 512, 5, [500, 500, 500, 500, 2500]])
    for (const [frame, step] of STEPS.entries()) assertMiddle((x, y) => at(x, y, frame), colourAsOf(step), PACKED)
    assert.deepEqual((await texts(page)).filter(text => /Jan/.test(text)), STEPS.map(step => `${step} Jan 2024`))
    // the map on the screen stays where it was
    assert.equal(await page.getByRole('slider', { name: 'Time' })
      .getAttribute('aria-valuetext').then(text => text?.startsWith('Newest')), true)
    await waitForWorkerEnd(page)
  })

  it('shows only the changes of the chosen range, from the state at its beginning', async () => {
    const { page, card } = await open(`#steps@${T(3)}/3/0/0/2024-01-02T12:00:00Z..${T(4)}`)
    await shownAt(page, '3 Jan 2024')
    await card.getByText(/^3 frames/).waitFor()
    const { name, bytes } = await make(card, 'Make the time-lapse')
    assert.equal(name, 'steps-2024-01-02T1200-2024-01-04.gif')
    const { pages, at } = await decode(bytes)
    assert.equal(pages, 3)
    for (const [frame, step] of [2, 3, 4].entries()) assertMiddle((x, y) => at(x, y, frame), colourAsOf(step), PACKED)
    await choose(card, 'Period', 'all')
    await card.getByText(/^5 frames/).waitFor()
  })

  for (const [format, codec, type] of [['webm', 'vp09.00.10.08', 'video/webm'], ['mp4', 'avc1.42001f', 'video/mp4']]) {
    it(`shows every change in a file of the format ${format}, or says that the browser has no encoder`, async () => {
      const { page, card } = await open()
      const isPossible = await page.evaluate(async name =>
        (await VideoEncoder.isConfigSupported({ codec: name, width: 640, height: 480, bitrate: 1e6 })).supported, codec)
      const option = card.locator(`option[value="${format}"]`)
      if (!isPossible) {
        await until(async () => await option.isDisabled(), { what: 'a format that cannot be chosen' })
        return assert.match(await option.textContent(), /not in this browser/)
      }
      await choose(card, 'Format', format)
      await choose(card, 'Frames a second', '2')
      const { bytes } = await make(card, 'Make the time-lapse')
      // shortly after a frame begins: Chromium seeks to the next frame if that is a key frame and close
      const places = STEPS.flatMap((step, frame) =>
        MIDDLE.map(placeOf).map(([x, y]) => ({ time: frame / 2 + 0.1, x, y })))
      const { width, height, duration, colours } = await decodeVideo(stage.browser, bytes, type, places)
      assert.deepEqual([width, height], [512, 512])
      assert.ok(Math.abs(duration - 4.5) < 0.6, `${duration} seconds`)
      const expected = STEPS.flatMap(step => MIDDLE.map(colourAsOf(step)))
      for (const [index, colour] of colours.entries()) {
        assert.ok(distance(colour, expected[index]) <= FILMED, `${index}: ${colour} instead of ${expected[index]}`)
      }
    })
  }

  it('offers no video format when the browser has no encoder', async () => {
    const page = await stage.open('#steps/3/0/0')
    await page.evaluate(() => { /** @type {any} */ (window).VideoEncoder = undefined })
    const card = await openTake(page, 'Time-lapse')
    for (const format of ['mp4', 'webm']) {
      const option = card.locator(`option[value="${format}"]`)
      await until(async () => await option.isDisabled(), { what: `no ${format}` })
      assert.match(await option.textContent(), /not in this browser/)
    }
  })

  it('stops its requests and its worker when it is cancelled, and can be made again', async () => {
    const { page, card, held } = await begin()
    await held.reached()
    await card.getByRole('button', { name: 'Cancel' }).click()
    await card.getByText('Cancelled. Nothing was saved.').waitFor()
    await until(() => stage.front.requests('tile').filter(isFirst).every(({ aborted }) => aborted),
      { what: 'no request' })
    held.open()
    await waitForWorkerEnd(page)
    assert.equal(await card.locator('a.save').count(), 0)
    stage.front.reset()
    assert.equal((await decode((await make(card, 'Make the time-lapse')).bytes)).pages, 5)
  })

  it('is cancelled when its card is closed, and says so', async () => {
    const { page, card, held } = await begin()
    await card.locator('progress').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Cancelled. Nothing was saved.').waitFor()
    held.open()
    await waitForWorkerEnd(page)
  })

  it('says which time lacks a tile, and continues with "Try again" when the tile loads', async () => {
    const { card } = await open()
    await card.getByText(/^5 frames/).waitFor()
    await card.locator('.preview canvas').evaluate(canvas => { canvas.id = 'picture' })
    const heal = stage.front.rule(entry => isFirst(entry) ? { status: 500, body: '{"reason":"broken"}' } : undefined)
    await card.getByRole('button', { name: 'Make the time-lapse' }).click()
    await card.getByRole('alert').getByText(/^Not every tile of 1 Jan 2024 could be loaded/).waitFor()
    assert.equal(await card.locator('#picture').count(), 1, 'no frame is drawn: the preview stays')
    heal()
    await card.getByRole('button', { name: 'Try again' }).click()
    assert.equal((await decode((await save(card)).bytes)).pages, 5)
    stage.allow(/500/)
  })

  it('is not made where nothing changed', async () => {
    const page = await stage.visit('#bounded/3/30/20')
    const card = await openTake(page, 'Time-lapse')
    await card.getByText('Nothing changed here in this period.').waitFor()
    await card.getByRole('button', { name: 'Make the time-lapse' }).press('Enter')
    assert.equal(await card.locator('progress').isVisible(), false)
  })

  it('goes on while the map is moved, and shows the place where it began', async () => {
    const { page, card, held } = await begin()
    await page.evaluate(() => { document.location.hash = '#steps/3/50/100' })
    await page.waitForURL(/#steps\/3\/50/)
    held.open()
    const { pages, at } = await decode((await save(card)).bytes)
    assert.equal(pages, 5)
    assert.ok(distance(at(...placeOf([3, 3]), 4), colourOf([3, 3], 5)) <= PACKED)
    stage.allow(AWAY)
  })
})
