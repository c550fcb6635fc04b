/* global document, indexedDB -- of the page, in functions that run there */
// Areas in the viewer when something is in the way: no room, no store, no leave, no network. It is said in words, and
// the map goes on.
import assert from 'node:assert/strict'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { gate } from '../support/client/front.js'
import { area, begin, estimate, openAreas, state, take } from './areas.js'
import { AWAY, onViewer } from '../support/viewer.js'

const isBatch = ({ path }) => /_bulk_get/.test(path)
const ROOM = 40000000 // bytes, far more than the tiles take
const problem = (page, name) => area(page, name).locator('.problem')

onViewer('problems of offline areas', { layers: ['steps', 'late', 'holes'], demo: false }, stage => {
  before(() => stage.store.defineLayer('late', { name: 'Late', minzoom: 3, maxzoom: 3, offline: false }))

  const download = page => page.getByRole('button', { name: 'Download', exact: true })
  /** Says that there are so many bytes. */
  const say = (page, quota) =>
    page.evaluate(most => { navigator.storage.estimate = async () => ({ quota: most, usage: 1000 }) }, quota)

  it('says before a download that it does not fit, and downloads it when there is room', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await openAreas(page)
    await say(page, 3000)
    await page.getByRole('button', { name: 'Download an area' }).click()
    await page.locator('.estimate.warn', { hasText: /does not fit: it needs .* kB, and \d.* are free/ }).waitFor()
    assert.equal(await download(page).getAttribute('aria-disabled'), 'true')
    await download(page).click({ force: true })
    assert.equal(await page.locator('.area-form').count(), 1, 'nothing happens')
    await say(page, ROOM)
    await page.getByRole('combobox', { name: 'Past' }).selectOption('All of the past')
    await page.locator('.estimate:not(.warn)').waitFor()
    await estimate(page)
    await download(page).click()
    await state(page, 'Steps', 'Up to date just now')
  })

  it('says why a layer cannot be downloaded, and offers another one', async () => {
    const page = await stage.visit('#late/3/0/0')
    await openAreas(page)
    await page.getByRole('button', { name: 'Download an area' }).click()
    await page.getByText('This layer cannot be downloaded: its provider does not allow that.').waitFor()
    assert.equal(await download(page).getAttribute('aria-disabled'), 'true')
    await page.getByRole('combobox', { name: 'Layer' }).selectOption('Steps')
    await estimate(page)
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Steps')
  })

  it('says that an area has no tiles, and that its numbers are not a box', async () => {
    const page = await stage.visit('#holes/3/0/0')
    await openAreas(page)
    await begin(page)
    await page.getByText('Box as numbers').click()
    const numbers = page.getByLabel('West, south, east, north')
    await numbers.fill('1, 2, three, 4')
    await numbers.press('Tab')
    await page.getByText('These are not four numbers in degrees').waitFor()
    await numbers.fill('10, -30, 20, -20') // 3/4/4 is there, 3/3/4 is not
    await numbers.press('Tab')
    assert.deepEqual(await estimate(page).then(({ tiles }) => tiles), 1)
    await numbers.fill('-20, -30, -10, -20')
    await numbers.press('Tab')
    await page.getByText('The store has no tiles here at these zooms.').waitFor()
    assert.equal(await download(page).getAttribute('aria-disabled'), 'true')
  })

  it('says that the store is away during a download, and continues it with one press', async function () {
    this.timeout(150000) // a download asks for a while before it gives up
    const page = await stage.visit('#steps/3/0/0')
    const { opened, open } = gate()
    await openAreas(page)
    await begin(page)
    stage.front.rule(async entry => { if (isBatch(entry)) await opened })
    stage.front.forget() // an estimate reads some, too
    await download(page).click()
    await until(() => stage.front.requests().some(isBatch), { what: 'the download to begin' })
    await stage.front.stop()
    try {
      await problem(page, 'Steps').filter({ hasText: 'The store does not answer.' })
        .waitFor({ timeout: 90000 * TIME_FACTOR })
      await page.getByText('No connection').waitFor()
      assert.match(String(await page.locator('#offline').getAttribute('aria-label')), /no connection$/)
    } finally {
      open()
      await stage.front.restart()
    }
    stage.front.reset()
    await area(page, 'Steps').getByRole('button', { name: 'Go on' }).click()
    await state(page, 'Steps', 'Up to date just now')
    assert.equal(await problem(page, 'Steps').isVisible(), false, 'it is over')
    await page.getByText('Connected to the store').waitFor()
    stage.allow(AWAY)
  })

  it('counts tiles that failed, and tries only these again', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await openAreas(page)
    await begin(page)
    const bad = 'steps:3:3:3'
    const heal = stage.front.rule(({ path, body }) => {
      const isAsked = isBatch({ path }) ? body.docs.some(({ id }) => id === bad)
        : path.startsWith('steps%3A3%3A3%3A3') || path.startsWith(bad)
      return isAsked ? { status: 500, body: '{"error":"broken","reason":"broken"}' } : undefined
    })
    await download(page).click()
    await state(page, 'Steps', '1 tile failed')
    heal()
    stage.front.forget()
    await area(page, 'Steps').getByRole('button', { name: 'Try again' }).click()
    await state(page, 'Steps', 'Up to date just now')
    const asked = stage.front.requests().filter(isBatch).flatMap(({ body }) => body.docs.map(({ id }) => id))
      .filter(id => /^steps:/.test(id))
    assert.deepEqual([...new Set(asked)], [bad])
    stage.allow(/500/)
  })

  it('changes an area with keys alone, and closes one step with each Escape', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await page.locator('#map .tilecouch-tile img').first().waitFor()
    await page.locator('#offline').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Download an area' }).press('Enter')
    const before = await estimate(page)
    const handle = page.locator('.sketch-handle[aria-label^="South-east"]')
    await handle.focus()
    for (let presses = 0; presses < 6; presses++) await page.keyboard.press('Shift+ArrowLeft')
    await until(async () => (await estimate(page)).tiles < before.tiles, { what: 'a smaller box' })
    assert.match(String(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))),
      /^South-east/, 'the focus stays on it')
    await page.keyboard.press('Escape')
    await page.locator('.area-form').waitFor({ state: 'detached' })
    assert.equal(await page.locator('.sketch-handle').count(), 0)
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Download an area')
    await page.keyboard.press('Escape')
    await page.locator('.card.offline').waitFor({ state: 'detached' })
    await page.locator('#offline').press('Enter')
    await page.locator('.card.offline').waitFor()
  })

  it('lists the areas of the device after a reload without the store', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await take(page, 'Steps')
    await page.waitForFunction(() => navigator.serviceWorker.controller)
    await stage.front.stop()
    try {
      await page.reload()
      await openAreas(page)
      await state(page, 'Steps', 'Up to date')
      await page.getByText('No connection').waitFor()
      await area(page, 'Steps').locator('.head').click()
      await area(page, 'Steps').getByRole('button', { name: 'Refresh' }).click()
      await problem(page, 'Steps').filter({ hasText: 'The store does not answer.' })
        .waitFor({ timeout: 40000 * TIME_FACTOR })
    } finally {
      await stage.front.restart()
    }
    stage.allow(AWAY)
  })

  it('says when the browser keeps nothing on the device', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await page.addInitScript(() => {
      indexedDB.open = () => { throw new DOMException('no', 'SecurityError') }
    })
    await page.reload()
    await page.locator('#map .tilecouch-tile img').first().waitFor()
    await page.locator('#offline').click()
    await page.locator('.card.offline .hint, .toast').filter({ hasText: /keeps nothing|cannot be opened/ })
      .first().waitFor()
    stage.allow(/SecurityError|no/)
  })
})
