/* global document -- of the page, in functions that run there */
// Only what changed here: editions of the view, how much of it they changed, small pictures, and how often places did.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { load } from '../../loader/load/index.js'
import { memorySource } from '../support/memory-source.js'
import { tilesOf } from '../support/client/gallery.js'
import { drawnTiles, shownAt } from './browser.js'
import { onViewer } from '../support/viewer.js'

const entries = page => page.locator('.editions li button .name').allTextContents()

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
    const page = await stage.visit('#town/3/0/0')
    await drawnTiles(page)
    await page.getByText('4 editions').waitFor()
    assert.deepEqual(await entries(page), ['Newest', 'West again', 'East', 'West', 'First survey'])
    await page.getByLabel('Only what changed here').check()
    await page.locator('.editions .share').first().waitFor()
    const texts = async title => Promise.all(
      ['.share', '.note'].map(part => page.locator('.editions li', { hasText: title }).locator(part).textContent())
    )
    assert.match((await texts('First survey')).join(), /^100%,1 Jan 2024 · \d\d tiles$/)
    assert.match((await texts('East')).join(), /^\d%,3 Jan 2024 · 1 tile$/)
    await page.goto(`${stage.address}${WEST}`)
    // not what changed elsewhere; the map flies there
    await until(async () => (await entries(page)).join() === 'Newest,West again,West,First survey',
      { what: 'what changed in the west' })
    await page.waitForFunction(() => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('.editions canvas'))
      // Chromium warns of canvases read often
      const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height })
        .getContext('2d')
      copy?.drawImage(canvas, 0, 0)
      return copy?.getImageData(0, 0, canvas.width, canvas.height).data.some(value => value > 0)
    })
    await page.locator('.editions li button', { hasText: 'West again' }).click()
    await shownAt(page, '4 Jan 2024')
  })

  it('marks how often each place changed', async () => {
    const page = await stage.visit('#town/3/0/-100')
    await drawnTiles(page)
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
    const page = await stage.visit('#depth/3/0/0')
    await drawnTiles(page)
    await page.getByLabel('Show where it changed often').check()
    await page.locator('#map .heat-square').waitFor({ state: 'attached' })
    const { width } = /** @type {any} */ (await page.locator('#map .heat-square').boundingBox())
    assert.ok(Math.abs(width - 64) <= 1, `${width} pixels: a tile two zooms below that of the view`)
  })

  it('searches all editions of the layer, also those that were not read yet', async () => {
    const times =
      Array.from({ length: 1250 }, (_, day) => new Date(Date.UTC(2015, 0, 1 + day)).toISOString().slice(0, 19) + 'Z')
    const docs = times.map(
      (time, at) => ({ _id: `edition:town@${time}`, type: 'edition', layer: 'town', time, title: at === 3
        ? 'The very old one' : `Daily ${at}`, finished: time })
    )
    await stage.store.couch.request({ method: 'POST', path: '_bulk_docs', body: JSON.stringify({ docs }) })
    const page = await stage.visit('#town/3/0/0')
    await page.getByText('The last 50 editions').waitFor()
    await page.getByRole('searchbox', { name: 'Find an edition' }).fill('very old')
    await page.locator('.editions li', { hasText: 'The very old one' }).waitFor()
    assert.deepEqual(await entries(page), ['The very old one'])
    await page.getByText('1,254 editions').waitFor()
    await page.getByRole('searchbox', { name: 'Find an edition' }).fill('no such thing')
    await page.getByText('No edition matches “no such thing”.').waitFor()
  })
})
