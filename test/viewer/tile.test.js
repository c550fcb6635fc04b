/* global document -- of the page, in functions that run there */
// Tests the card of a tile, and the changes of the view: its editions with their shares and small pictures, and how
// often each place changed.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { load } from '../../loader/load/index.js'
import { T, tilesOf } from '../support/client/gallery.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { drawnTiles, screens, shownAt } from './browser.js'
import { onViewer } from '../support/viewer.js'

const editionNames = page => page.locator('.editions li button .name').allTextContents()
const card = page => page.getByRole('region', { name: 'This place' })
const TILE_333 = { x: 600, y: 300 } // left of and above the middle of a desk's map at 0, 0

onViewer('the card of a tile', { layers: ['holes', 'steps'], demo: false }, stage => {
  it('lists the versions of a clicked tile, goes to their times, and offers their images', async () => {
    const page = await stage.visit(`#holes@${T(1)}/3/0/0`)
    await shownAt(page, '1 Jan 2024')
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await card(page).getByText('3 versions, times in UTC').waitFor()
    assert.equal(await card(page).getByRole('heading').textContent(), 'This placeholes')
    const details = card(page).locator('details')
    assert.equal(await details.evaluate(node => /** @type {any} */ (node).open), false, 'what nobody asks for first')
    assert.match(String(await details.textContent()), /3\/3\/3.*\d+ bytes.*image\/png.*holes:3:3:3@2024-01-01/)
    const times = () => card(page).locator('.versions .title').allTextContents()
    assert.deepEqual(await times(), ['3 Jan 2024newest', '2 Jan 2024', '1 Jan 2024'])
    const notes = await card(page).locator('.versions li').allInnerTexts()
    assert.match(notes[1], /Gone: no tile from here on/)
    const pressed = () => card(page).locator('[aria-pressed="true"]').getAttribute('data-version')
    assert.equal(await pressed(), T(1))
    await page.locator('.picked-tile').waitFor({ state: 'attached' })
    await card(page).getByRole('button', { name: '3 Jan 2024' }).click()
    await shownAt(page, '3 Jan 2024')
    assert.equal(await pressed(), T(3))
    const link = card(page).getByRole('link', { name: 'Download the image of 1 Jan 2024' })
    assert.equal(await link.getAttribute('download'), 'holes-3-3-3@2024-01-01T000000Z.png')
    const bytes =
      await page.evaluate(async url => (await (await fetch(url)).blob()).size, await link.getAttribute('href'))
    await card(page).getByRole('button', { name: '1 Jan 2024' }).click()
    await card(page).locator('.shown .date', { hasText: '1 Jan 2024' }).waitFor()
    assert.match(String(await details.textContent()), new RegExp(`${bytes} bytes`))
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await card(page).waitFor({ state: 'detached' })
    assert.equal(await page.locator('.picked-tile').count(), 0, 'the same tile again closes it')
  })

  it('offers older versions only if there are more than it lists', async () => {
    await stage.store.defineLayer('worn', { minzoom: 0, maxzoom: 0 })
    const versionsFrom = (first, count) => Array.from({ length: count }, (_, index) => ({
      layer: 'worn', z: 0, x: 0, y: 0, time: `20${String(first + index)}-01-01T00:00:00Z`, bytes: png(first + index)
    }))
    await stage.store.write(versionsFrom(20, 50))
    const page = await stage.open('#worn/0/0/0')
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await card(page).getByText('50 versions, times in UTC').waitFor()
    const older = card(page).getByRole('button', { name: 'Older versions' })
    assert.equal(await older.count(), 0)
    await stage.store.write(versionsFrom(70, 1))
    await card(page).getByText('The last 50 versions').waitFor()
    await older.click()
    await card(page).getByText('51 versions, times in UTC').waitFor()
  })

  it('says when a tile expires by the ttl of its layer, and stays closed when a double click zooms', async () => {
    await stage.store.defineLayer('steps', { name: 'Steps', minzoom: 3, maxzoom: 3, ttl: 86400 * 365 })
    const page = await stage.open('#steps/3/0/0')
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await card(page).locator('dt', { hasText: 'Expires' }).waitFor({ state: 'attached' })
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await card(page).waitFor({ state: 'detached' })
    await page.mouse.dblclick(TILE_333.x, TILE_333.y)
    await page.waitForURL(/#steps\/4\//)
    await drawnTiles(page)
    assert.equal(await card(page).count(), 0)
  })

  it('opens by keyboard for the middle of the map, and gives the focus back', async () => {
    const page = await stage.open('#steps/3/10/10')
    await page.locator('#map').focus()
    await page.keyboard.press('Enter')
    await card(page).getByText('2 versions').waitFor()
    assert.match(String(await card(page).locator('details').textContent()), /3\/4\/3/)
    for (const name of ['Close: This place', null, /^Download the image of 5 Jan/]) {
      await page.keyboard.press('Tab')
      if (name) {
        assert.match(await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? ''),
          new RegExp(name))
      }
    }
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shownAt(page, '1 Jan 2024')
    await page.keyboard.press('Escape')
    await card(page).waitFor({ state: 'detached' })
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'map')
  })

  it('says when the store has no tile, and shows a version that is written later', async () => {
    const page = await stage.open('#holes/3/0/0')
    await page.mouse.click(TILE_333.x, 430)
    await card(page).getByText('The store has no tile here.').waitFor()
    await stage.write('holes', { 7: [[3, 3, 4]] })
    await card(page).getByText('1 version, times in UTC').waitFor()
  })

  it('lies below the timeline on a phone, with the tile in sight', async () => {
    const page = await stage.open('#steps/3/0/0', screens.phone)
    await page.touchscreen.tap(100, 560)
    await card(page).locator('.versions li').first().waitFor()
    const box = async selector => /** @type {any} */ (await page.locator(selector).boundingBox())
    const [below, timeline] = [await box('.card'), await box('.tilecouch-timeline')]
    assert.ok(below.y >= timeline.y + timeline.height)
    await page.waitForFunction(bottom => {
      const tile = document.querySelector('.picked-tile')?.getBoundingClientRect()
      return tile && tile.top + tile.height / 4 < bottom
    }, timeline.y)
    await card(page).getByRole('button', { name: /^Close/ }).tap()
    await page.locator('#panel').waitFor()
  })

  it('shows the date, the source and the last check of the tile', async () => {
    for (const [time, title, tiles] of /** @type {const} */ ([
      ['2024-02-01T00:00:00Z', 'Spring survey', { '3/3/3': 1, '3/4/4': 1 }],
      ['2024-05-01T00:00:00Z', 'Summer survey', { '3/3/3': 1, '3/4/4': 2 }]
    ])) await load(stage.store, memorySource(tiles), { layer: 'checked', time, title })
    const page = await stage.open('#checked/3/0/0')
    const shown = card(page).locator('.shown')
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await shown.getByText('Summer survey').waitFor()
    assert.equal(await shown.locator('.date').textContent(), '1 Feb 2024')
    const facts = async () => Object.fromEntries(await shown.locator('dt')
      .evaluateAll(terms => terms.map(term => [term.textContent, term.nextElementSibling?.textContent])))
    assert.deepEqual(await facts(),
      { Source: 'Spring survey', 'Unchanged since': '1 Feb 2024', Checked: '1 May 2024 · Summer survey' })
    await page.mouse.click(700, 450) // 3/4/4, which the summer survey changed
    await shown.locator('.date', { hasText: '1 May 2024' }).waitFor()
    await shown.getByText('Summer survey').waitFor()
    await card(page).getByRole('button', { name: '1 Feb 2024' }).click()
    await shown.getByText('Changed again').waitFor()
    await shown.getByText('Spring survey').waitFor()
    await page.getByRole('button', { name: 'Play', exact: true }).click() // to the summer survey, the last one
    await shown.locator('.date', { hasText: '1 May 2024' }).waitFor()
    await shown.getByText('Summer survey').waitFor()
  })
})

onViewer('changes of the view', { demo: false }, stage => {
  before(async () => {
    const world = n => Object.fromEntries(tilesOf(3).map(([z, x, y]) => [`${z}/${x}/${y}`, n]))
    for (const [day, title, tiles] of /** @type {const} */ ([
      ['01', 'First survey', world(1)], ['02', 'West', { '3/0/3': 2, '3/1/3': 2 }],
      ['03', 'East', { '3/6/3': 3 }], ['04', 'West again', { '3/0/3': 4 }]
    ])) await load(stage.store, memorySource(tiles), { layer: 'town', time: `2024-01-${day}T00:00:00Z`, title })
  })
  const WEST = '#town/5/20/-150' // within 3/0/3

  it('lists only the editions that changed the view, each with its share and a picture', async () => {
    const page = await stage.open('#town/3/0/0')
    await page.getByText('4 editions').waitFor()
    assert.deepEqual(await editionNames(page), ['Newest', 'West again', 'East', 'West', 'First survey'])
    await page.getByLabel('Only what changed here').check()
    await page.locator('.editions .share').first().waitFor()
    const texts = async title => Promise.all(
      ['.share', '.note'].map(part => page.locator('.editions li', { hasText: title }).locator(part).textContent())
    )
    assert.match((await texts('First survey')).join(), /^100%,1 Jan 2024 · \d\d tiles$/)
    assert.match((await texts('East')).join(), /^\d%,3 Jan 2024 · 1 tile$/)
    await page.goto(`${stage.address}${WEST}`)
    // changes elsewhere are not listed once the map has flown there
    await until(async () => (await editionNames(page)).join() === 'Newest,West again,West,First survey',
      { what: 'what changed in the west' })
    await page.waitForFunction(() => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('.editions canvas'))
      // a copy, because Chromium warns when a page reads a canvas often
      const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height })
        .getContext('2d')
      copy?.drawImage(canvas, 0, 0)
      return copy?.getImageData(0, 0, canvas.width, canvas.height).data.some(value => value > 0)
    })
    await page.locator('.editions li button', { hasText: 'West again' }).click()
    await shownAt(page, '4 Jan 2024')
  })

  it('marks how often each place changed', async () => {
    const page = await stage.open('#town/3/0/-100')
    await page.getByLabel('Show where it changed often').check()
    await page.locator('#map .heat-5').first().waitFor({ state: 'attached' })
    const numbers = await page.locator('#map .heat-number').allTextContents()
    assert.deepEqual([...new Set(numbers)].sort(), ['1', '2'])
    await page.getByLabel('Show where it changed often').uncheck()
    assert.equal(await page.locator('#map .heat-square').count(), 0)
  })

  it('marks the change of a deeper tile in the size of that tile', async () => {
    for (const [day, n] of /** @type {const} */ ([['01', 1], ['02', 2]])) {
      const tiles = Object.fromEntries([3, 4, 5].flatMap(zoom => tilesOf(zoom))
        .map(([z, x, y]) => [`${z}/${x}/${y}`, z === 5 && x === 16 && y === 15 ? n : 1]))
      await load(stage.store, memorySource(tiles), { layer: 'depth', time: `2024-01-${day}T00:00:00Z` })
    }
    const page = await stage.open('#depth/3/0/0')
    await page.getByLabel('Show where it changed often').check()
    await page.locator('#map .heat-square').waitFor({ state: 'attached' })
    const { width } = /** @type {any} */ (await page.locator('#map .heat-square').boundingBox())
    assert.ok(Math.abs(width - 64) <= 1, `${width} pixels: a tile two zooms below that of the view`)
  })

  it('searches all editions of the layer, also those that were not read yet', async () => {
    const times =
      Array.from({ length: 1250 }, (_, day) => new Date(Date.UTC(2015, 0, 1 + day)).toISOString().slice(0, 19) + 'Z')
    const docs = times.map(
      (time, index) => ({ _id: `edition:town@${time}`, type: 'edition', layer: 'town', time, title: index === 3
        ? 'The very old one' : `Daily ${index}`, finished: time })
    )
    await stage.store.couch.bulk(docs)
    const page = await stage.visit('#town/3/0/0')
    await page.getByText('The last 50 editions').waitFor()
    await page.getByRole('searchbox', { name: 'Find an edition' }).fill('very old')
    await page.locator('.editions li', { hasText: 'The very old one' }).waitFor()
    assert.deepEqual(await editionNames(page), ['The very old one'])
    await page.getByText('1,254 editions').waitFor()
    await page.getByRole('searchbox', { name: 'Find an edition' }).fill('no such thing')
    await page.getByText('No edition matches “no such thing”.').waitFor()
  })

  it('shows no marks and no outline any more when a search hides the chosen layer with their switches', async () => {
    for (let number = 1; number <= 12; number++) await stage.store.defineLayer(`other${number}`, {})
    const page = await stage.open('#town/3/0/-100')
    const marks = page.locator('#map .heat-number, #map .covered-rim')
    await page.getByLabel('Show where it changed often').check()
    await page.locator('.editions li button').nth(1).click()
    await page.getByRole('button', { name: 'Outline what it covers' }).click()
    await page.locator('#map .heat-number').first().waitFor({ state: 'attached' })
    await page.getByRole('searchbox', { name: 'Find a layer' }).fill('other1')
    await page.locator('.editions').waitFor({ state: 'detached' })
    await until(async () => !await marks.count(), { what: 'a map without marks' })
    await page.getByRole('searchbox', { name: 'Find a layer' }).fill('')
    await page.locator('.editions').waitFor()
    assert.equal(await page.getByLabel('Show where it changed often').isChecked(), false)
    assert.equal(await marks.count(), 0)
  })
})
