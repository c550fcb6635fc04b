/* global document, indexedDB, location -- of the page, in functions that run there */
// Tests offline areas in the viewer through the texts and buttons that people see, from the first press to the last.
// This includes devices without free space, store, permission or network.
import assert from 'node:assert/strict'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { holdRequests } from '../client/requests.js'
import { drag } from '../support/client/controls.js'
import { isBulk } from '../support/offline/suite.js'
import { load, tilesOf, writeWorld } from '../support/offline/world.js'
import { AWAY, onViewer } from '../support/viewer.js'
import { area, begin, corner, dragTouch, draw, estimate, openAreas, state, take } from './areas.js'
import { screens } from './browser.js'

const ROOM = 40000000 // bytes, far more than the tiles take
const problem = (page, name) => area(page, name).locator('.problem')

/** Waits for an estimate with fewer tiles than before. */
const waitForEstimate = (page, isFewer) => until(async () => {
  const now = await estimate(page)
  return isFewer(now.tiles) && now
}, { what: 'a smaller estimate' })

onViewer('offline areas', { layers: ['steps', 'late', 'holes'], demo: false }, stage => {
  before(async () => {
    await writeWorld(stage.store, ['small'])
    await stage.store.defineLayer('late', { name: 'Late', minzoom: 3, maxzoom: 3, offline: false })
  })

  it('downloads the box whose corner was dragged, and shows its size and age', async () => {
    const page = await stage.visit('#small/2/0/0')
    await openAreas(page)
    await page.getByText('Connected to the store').waitFor()
    await begin(page)
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Small')
    assert.deepEqual(await Promise.all(
      ['First zoom', 'Last zoom'].map(name => page.getByLabel(name, { exact: true }).inputValue())
    ), ['0', '4'], 'two zooms beyond the one that is shown')
    const before = await estimate(page)
    const { x, y } = await corner(page, 'South-east')
    await drag(page, [x, y], [x - 200, y - 150])
    const after = await waitForEstimate(page, tiles => tiles < before.tiles)
    await page.getByRole('button', { name: 'Download', exact: true }).click()
    await state(page, 'Small', 'Up to date just now')
    assert.match(String(await area(page, 'Small').locator('.what').textContent()),
      new RegExp(`^Zoom 0–4 · ${after.size}$`), 'what was estimated is what came')
    assert.equal(await page.locator('#offline').getAttribute('aria-label'), 'Offline maps, 1 area')
    assert.equal(await page.locator('.area-name', { hasText: 'Small' }).count() > 0, true, 'its name on the map')
  })

  it('downloads a shape that is tapped on a phone', async () => {
    const page = await stage.visit('#small/2/0/0', screens.phone)
    await openAreas(page)
    await begin(page)
    const low = await corner(page, 'South-east')
    assert.ok(low.x > 250 && low.x < 350 && low.y > 250 && low.y < 440, 'the box is where the map is to be seen')
    await page.getByRole('button', { name: 'Free shape' }).tap()
    assert.equal(await page.locator('.estimate').textContent(), 'At least three corners make an area.')
    await draw(page, [[80, 100], [250, 80], [300, 250], [200, 200], [100, 320]])
    assert.equal(await page.locator('.card.tile').count(), 0, 'a tap is a corner, and no question about a tile')
    await page.getByRole('button', { name: 'Take back the last corner' }).tap()
    await page.getByText('4 corners.').waitFor()
    const before = await estimate(page)
    await dragTouch(page, await corner(page, 'Corner 3'), [-120, -100])
    await waitForEstimate(page, tiles => tiles < before.tiles)
    await page.getByLabel('Last zoom: one less').tap()
    await page.getByLabel('Last zoom: one less').tap()
    const after = await waitForEstimate(page, tiles => tiles < 40)
    await page.getByLabel('Name', { exact: true }).fill('<img src=x onerror=alert(1)>')
    await page.getByRole('button', { name: 'Download', exact: true }).tap()
    await state(page, '<img', 'Up to date just now')
    assert.match(String(await area(page, '<img').locator('.what').textContent()),
      new RegExp(`^Small · zoom 0–2 · ${after.size}$`))
    assert.equal(await page.locator('.card.offline img, .area-name img').count(), 0)
  })

  it('pauses a download, and continues it with one press after a reload', async () => {
    const page = await stage.visit('#small/2/0/0')
    await openAreas(page)
    await begin(page)
    await page.getByRole('combobox', { name: 'Past' }).selectOption('All of the past')
    await estimate(page)
    const batchHold = holdRequests(stage.front, isBulk, 1)
    await page.getByRole('button', { name: 'Download', exact: true }).click()
    await area(page, 'Small').getByRole('progressbar').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await state(page, 'Small', 'Paused')
    batchHold.open()
    await page.reload()
    await openAreas(page)
    await state(page, 'Small', 'Paused')
    await area(page, 'Small').getByRole('button', { name: 'Go on' }).click()
    await state(page, 'Small', 'Up to date just now')
    assert.equal(await area(page, 'Small').getByRole('progressbar').count(), 0)
    stage.allow(AWAY)
  })

  it('reads only the changed tiles in a refresh, and says how many there are', async () => {
    const page = await stage.visit('#small/2/0/0')
    await take(page, 'Small')
    const item = area(page, 'Small')
    await item.getByRole('button', { name: 'Refresh' }).click()
    await item.getByText('Up to date: nothing changed.').waitFor()
    await load(stage.store, 'small', { 3: [[2, 1, 1], [2, 2, 2], [3, 4, 4]] })
    stage.front.forget()
    await item.getByRole('button', { name: 'Refresh' }).click()
    await item.getByText(/^3 tiles changed, \d/).waitFor()
    assert.ok(stage.front.requests().filter(isBulk).flatMap(({ body }) => body.docs).length < 12,
      'and nothing else was read')
  })

  it('renames an area, refuses a name that is taken, and removes one of two areas after a question', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await take(page, 'Steps')
    await take(page, 'Steps 2')
    await area(page, 'Steps 2').getByRole('button', { name: 'Rename', exact: true }).click()
    const field = page.getByLabel('New name')
    await field.fill('Steps')
    await field.press('Enter')
    await page.locator('.area .problem', { hasText: 'There is an area of this name already.' }).waitFor()
    await field.fill('Harbour')
    await field.press('Enter')
    const renamedArea = area(page, 'Harbour')
    await renamedArea.waitFor()
    assert.deepEqual(await page.locator('.area .title').allTextContents(), ['Steps', 'Harbour'])
    await renamedArea.getByRole('button', { name: 'Remove', exact: true }).click()
    await renamedArea.getByText(/^Remove “Harbour”\? 6 tiles, 1\.7 kB will be removed from this device/).waitFor()
    const keep = renamedArea.getByRole('button', { name: 'Keep it' })
    assert.equal(await keep.evaluate(button => button === document.activeElement), true, 'Enter removes nothing')
    await keep.click()
    assert.equal(await renamedArea.count(), 1)
    await renamedArea.getByRole('button', { name: 'Remove', exact: true }).click()
    await renamedArea.getByRole('button', { name: 'Remove it' }).click()
    await renamedArea.waitFor({ state: 'detached' })
    assert.equal(await page.evaluate(() => document.activeElement?.closest('.card')?.className),
      'card offline', 'the focus stays in the card')
    await state(page, 'Steps', 'Up to date just now')
    const [, size] = /Maps take (.*?) ·/.exec(String(await page.locator('.meter .figures').textContent())) ?? []
    assert.ok(size, 'what is left takes room')
  })

  it('keeps an area up to date by itself, also after a reload', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await take(page, 'Steps')
    await page.getByLabel('Keep it up to date').check()
    await page.getByText('Kept up to date').waitFor()
    await page.reload()
    await openAreas(page)
    await page.getByText('Kept up to date').waitFor()
    await area(page, 'Steps').locator('.head').click()
    assert.equal(await page.getByLabel('Keep it up to date').isChecked(), true)
    const before = stage.front.requests().filter(isBulk).length
    await stage.write('steps', { 6: tilesOf(3, x => x === 3) })
    await until(() => stage.front.requests().filter(isBulk).length > before,
      { timeout: 30000, what: 'the new tiles to be taken' })
  })

  it('says why an area is not kept up to date until it is, in its card or in a notice', async () => {
    stage.allow(/403/)
    const page = await stage.visit('#steps/3/0/0')
    await take(page, 'Steps')
    await page.getByLabel('Keep it up to date').check()
    await page.getByText('Kept up to date').waitFor()
    const refuse = () => stage.front.rule(({ kind }) => kind === 'layer'
      ? { status: 403, body: '{"error":"forbidden","reason":"no"}' } : undefined)
    let step = 7
    const change = () => stage.write('steps', { [step++]: tilesOf(3, x => x === 3) })
    const allow = refuse()
    await change()
    const note = problem(page, 'Steps').filter({ hasText: 'The store does not let you read it.' })
    await note.waitFor()
    allow()
    await change()
    await note.waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'Offline maps' }).getByRole('button', { name: /^Close/ }).click()
    const allowAgain = refuse()
    await change()
    const toast = page.locator('.toast', { hasText: 'The store does not let you read it.' })
    await toast.waitFor()
    allowAgain()
    await change()
    await toast.waitFor({ state: 'detached' })
  })

  it('says why the store refuses its changes, without the name of an area, until it does not', async () => {
    stage.allow(/403/)
    const page = await stage.visit('#steps/3/0/0')
    await take(page, 'Steps')
    await page.getByLabel('Keep it up to date').check()
    await page.getByText('Kept up to date').waitFor()
    const isOfAreas = ({ kind, body }) => kind === 'changes' && /edition/.test(JSON.stringify(body))
    const allow = stage.front.rule(entry => isOfAreas(entry)
      ? { status: 403, body: '{"error":"forbidden","reason":"no"}' } : undefined)
    await page.reload()
    const toast = page.locator('.toast', { hasText: 'The store does not let you read it.' })
    await toast.waitFor()
    assert.equal(await toast.locator('span').textContent(), 'The store does not let you read it.')
    allow()
    await toast.waitFor({ state: 'detached' })
  })

  it('goes to an area and its layer with "Show on map", and leaves the other layers over each other', async () => {
    const page = await stage.visit('#small/2/0/0')
    await take(page, 'Small')
    await page.evaluate(() => { location.hash = '#steps/3/0/0&layers=*,holes:50' })
    await page.locator('[data-layer="steps"][aria-pressed="true"]').waitFor()
    await area(page, 'Small').getByRole('button', { name: 'Show on map' }).click()
    await page.waitForURL(/#small\/\d/)
    await page.waitForURL(/&layers=\*,holes:50$/)
  })

  const download = page => page.getByRole('button', { name: 'Download', exact: true })
  /** Makes the browser report this quota, in bytes. */
  const setQuota = (page, quota) =>
    page.evaluate(bytes => { navigator.storage.estimate = async () => ({ quota: bytes, usage: 1000 }) }, quota)

  it('says before a download that it does not fit, and downloads it when there is room', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await openAreas(page)
    await setQuota(page, 3000)
    await page.getByRole('button', { name: 'Download an area' }).click()
    await page.locator('.estimate.warn', { hasText: /does not fit: it needs .* kB, and \d.* are free/ }).waitFor()
    assert.equal(await download(page).getAttribute('aria-disabled'), 'true')
    await download(page).click({ force: true })
    assert.equal(await page.locator('.area-form').count(), 1, 'nothing happens')
    await setQuota(page, ROOM)
    await page.getByRole('combobox', { name: 'Past' }).selectOption('All of the past')
    await page.locator('.estimate:not(.warn)').waitFor()
    await estimate(page)
    await download(page).click()
    await state(page, 'Steps', 'Up to date just now')
  })

  it('says that a layer, a box without tiles or text that is no box cannot be downloaded', async () => {
    const page = await stage.visit('#late/3/0/0')
    await openAreas(page)
    await page.getByRole('button', { name: 'Download an area' }).click()
    await page.getByText('This layer cannot be downloaded: its provider does not allow that.').waitFor()
    assert.equal(await download(page).getAttribute('aria-disabled'), 'true')
    await page.getByRole('combobox', { name: 'Layer' }).selectOption('Steps')
    await estimate(page)
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Steps')
    await page.getByRole('combobox', { name: 'Layer' }).selectOption('holes')
    await page.getByText('Box as numbers').click()
    const numbers = page.getByLabel('West, south, east, north')
    await numbers.fill('1, 2, three, 4')
    await numbers.press('Tab')
    await page.getByText('These are not four numbers in degrees').waitFor()
    await numbers.fill('10, -30, 20, -20') // the layer has 3/4/4, but not 3/3/4
    await numbers.press('Tab')
    assert.deepEqual(await estimate(page).then(({ tiles }) => tiles), 1)
    await numbers.fill('-20, -30, -10, -20')
    await numbers.press('Tab')
    await page.getByText('The store has no tiles here at these zooms.').waitFor()
    assert.equal(await download(page).getAttribute('aria-disabled'), 'true')
  })

  it('says that the store is away during a download, and continues it with one press', async function () {
    this.timeout(150000) // a download retries for a while before it fails
    const page = await stage.visit('#steps/3/0/0')
    await openAreas(page)
    await begin(page) // its estimate sends such requests, too
    const batchHold = holdRequests(stage.front, isBulk)
    await download(page).click()
    await batchHold.reached()
    await stage.front.stop()
    try {
      await problem(page, 'Steps').filter({ hasText: 'The store does not answer.' })
        .waitFor({ timeout: 90000 * TIME_FACTOR })
      await page.getByText('No connection').waitFor()
      assert.match(String(await page.locator('#offline').getAttribute('aria-label')), /no connection$/)
    } finally {
      batchHold.open()
      await stage.front.restart()
    }
    stage.front.reset()
    await area(page, 'Steps').getByRole('button', { name: 'Go on' }).click()
    await state(page, 'Steps', 'Up to date just now')
    assert.equal(await problem(page, 'Steps').isVisible(), false, 'it is over')
    await page.getByText('Connected to the store').waitFor()
    stage.allow(AWAY)
  })

  it('adds no area if its form was closed while the store was asked', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await openAreas(page)
    await begin(page)
    const hold = holdRequests(stage.front, ({ kind }) => kind === 'layer')
    await download(page).click()
    await hold.reached()
    await page.keyboard.press('Escape')
    await page.locator('.area-form').waitFor({ state: 'detached' })
    hold.open()
    await begin(page)
    await download(page).click() // the area that was not added would be the first
    await page.locator('.area').first().waitFor()
    await page.locator('.area[data-state="complete"]').waitFor()
    assert.equal(await page.locator('.area').count(), 1)
  })

  it('counts tiles that failed, and tries only these again', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await openAreas(page)
    await begin(page)
    const failingId = 'steps:3:3:3'
    const heal = stage.front.rule(entry => {
      const { path, body } = entry
      const isFailing = isBulk(entry) ? body.docs.some(({ id }) => id === failingId)
        : path.startsWith('steps%3A3%3A3%3A3') || path.startsWith(failingId)
      return isFailing ? { status: 500, body: '{"error":"broken","reason":"broken"}' } : undefined
    })
    await download(page).click()
    await state(page, 'Steps', '1 tile failed')
    heal()
    stage.front.forget()
    await area(page, 'Steps').getByRole('button', { name: 'Try again' }).click()
    await state(page, 'Steps', 'Up to date just now')
    const requestedIds = stage.front.requests().filter(isBulk).flatMap(({ body }) => body.docs.map(({ id }) => id))
      .filter(id => /^steps:/.test(id))
    assert.deepEqual([...new Set(requestedIds)], [failingId])
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
    await waitForEstimate(page, tiles => tiles < before.tiles)
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

onViewer('offline areas of a store without a layer in Web Mercator', { layers: ['degrees'], demo: false }, stage => {
  it('are refused in words, and nothing is drawn on the map', async () => {
    const page = await stage.visit('#degrees')
    await page.locator('.elsewhere').waitFor()
    await page.locator('#offline').click()
    await page.getByRole('button', { name: 'Download an area' }).click()
    await page.locator('.toast', { hasText: 'need a layer in Web Mercator' }).waitFor()
    assert.equal(await page.locator('.sketch-handle').count(), 0)
  })
})
