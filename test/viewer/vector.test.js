/* global document, location, window, HTMLCanvasElement, OffscreenCanvas, createImageBitmap -- of the page */
// Vector layers in the viewer: drawn by MapLibre, stepped through in time, and compared feature by feature.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { until } from '../../bench/wait.js'
import { load } from '../../loader/index.js'
import { demoEditions, layers } from '../../server/demo/index.js'
import { INTERVAL, TOWN_BOUNDS, townIn } from '../../server/demo/town.js'
import { holdRequests } from '../client/requests.js'
import { findBarriers } from '../support/axe.js'
import { T } from '../support/client/gallery.js'
import { IDLE, screens } from './browser.js'
import { onViewer } from '../support/viewer.js'

const [FIRST, LAST] = [1990, 2020]
const PLACE = '13/45/-30'

/** Counts the features that were added, changed or removed between two years. */
function countChanges (from, to) {
  const [before, after] = [townIn(from), townIn(to)]
  const text = feature => JSON.stringify([feature.geometry, feature.properties])
  return Object.fromEntries(Object.keys(before).map(name => {
    const [oldTexts, newTexts] =
      [before[name], after[name]].map(list => new Map(list.map(feature => [feature.id, text(feature)])))
    const both = [...newTexts.keys()].filter(id => oldTexts.has(id))
    return [name, {
      added: newTexts.size - both.length, changed: both.filter(id => oldTexts.get(id) !== newTexts.get(id)).length,
      removed: oldTexts.size - both.length
    }]
  }).filter(([, counts]) => Object.values(counts).some(Boolean)))
}

onViewer('a vector layer', { demo: false, layers: ['steps', 'bounded'], webgl: true }, stage => {
  before(async () => {
    for (const { layer, time, title, open } of demoEditions()) {
      const year = +time.slice(0, 4)
      if (layer === 'tilby' && year >= FIRST && year <= LAST) {
        await load(stage.store, open(), { layer, time, title, fields: layers.tilby })
      }
    }
  })

  /** Waits until the map is still and completely drawn. */
  async function waitUntilDrawn (page) {
    await page.locator('#map .tilecouch-vector canvas').first().waitFor()
    await page.locator(`${IDLE} .tilecouch-timeline-detail:not(:empty)`).waitFor({ state: 'attached' })
  }

  /** Counts the pixels of each colour on the map. */
  async function coloursOf (page) {
    const png = (await page.locator('#map').screenshot()).toString('base64')
    return page.evaluate(async data => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), letter => letter.charCodeAt(0))]))
      const context = /** @type {any} */ (new OffscreenCanvas(image.width, image.height).getContext('2d'))
      context.drawImage(image, 0, 0)
      const { data: pixels } = context.getImageData(0, 0, image.width, image.height)
      const counts = {}
      for (let offset = 0; offset < pixels.length; offset += 4) {
        const colour = `${pixels[offset]},${pixels[offset + 1]},${pixels[offset + 2]}`
        counts[colour] = (counts[colour] ?? 0) + 1
      }
      return counts
    }, png)
  }

  it('is drawn in a style for its source layers, by a script that is loaded only then', async () => {
    const page = await stage.visit('#steps/3/0/0', screens.small)
    await page.locator('#map .tilecouch-tile img').first().waitFor()
    assert.deepEqual(stage.front.requests().filter(({ path }) => path.includes('vector.js')), [])
    await page.locator('[data-layer="tilby"]').click()
    await waitUntilDrawn(page)
    assert.equal(stage.front.requests().filter(({ path }) => path.includes('vector.js')).length, 1)
    await page.evaluate(place => { location.hash = `#tilby/${place}` }, PLACE)
    await waitUntilDrawn(page)
    const colours = Object.entries(await coloursOf(page)).filter(([, count]) => count > 500)
    assert.ok(colours.length >= 4, `land, buildings, parks and roads: ${JSON.stringify(colours)}`)
  })

  it('steps through its editions, asking for the tiles that differ, each once', async () => {
    const page = await stage.visit(`#tilby@${FIRST}-06-01T00:00:00Z/${PLACE}`, screens.small)
    await waitUntilDrawn(page)
    for (let year = FIRST; year < LAST; year += INTERVAL) {
      await page.getByRole('button', { name: 'Next change' }).click()
    }
    await page.waitForURL(new RegExp(`#tilby@${LAST}-06-01T00:00:00Z`))
    await waitUntilDrawn(page)
    const paths = stage.front.requests('tile').map(({ path }) => path)
    assert.ok(paths.length > 0)
    assert.equal(new Set(paths).size, paths.length, 'no version comes twice')
    stage.front.forget()
    await page.getByRole('button', { name: 'Previous change' }).click()
    await page.waitForURL(new RegExp(`#tilby@${LAST - INTERVAL}-06-01T00:00:00Z`))
    await waitUntilDrawn(page)
    assert.deepEqual(stage.front.requests('tile'), [], 'on the way back nothing is asked for')
  })

  it('has a picture of each change of the view, and removes its hidden map afterwards', async () => {
    const page = await stage.visit(`#tilby/${PLACE}`, screens.desk)
    await waitUntilDrawn(page)
    await page.getByLabel('Only what changed here').check()
    const pictures = page.locator('.of-view canvas')
    await pictures.nth(1).waitFor()
    /** The colour of each pixel of a picture. */
    const pixelsOf = index => pictures.nth(index).evaluate(canvas => {
      const { width, height } = /** @type {HTMLCanvasElement} */ (canvas)
      const copy = /** @type {any} */ (new OffscreenCanvas(width, height).getContext('2d'))
      copy.drawImage(canvas, 0, 0)
      const { data } = copy.getImageData(0, 0, width, height)
      return Array.from({ length: width * height }, (_, pixel) => data.slice(4 * pixel, 4 * pixel + 4).join()).join(' ')
    })
    const isDrawn = text => new Set(text.split(' ')).size > 4
    const count = await pictures.count()
    await until(async () => isDrawn(await pixelsOf(0)) && isDrawn(await pixelsOf(count - 1)), { what: 'the pictures' })
    assert.notEqual(await pixelsOf(0), await pixelsOf(count - 1), 'the town of then and of now')
    assert.equal(await page.locator('.hidden-map').count(), 1)
    await page.getByLabel('Only what changed here').uncheck()
    await page.evaluate(() => { location.hash = '#tilby/14/44.99/-30' })
    await page.locator('.hidden-map').waitFor({ state: 'detached' })
  })

  it('lists the features at a place with their attributes', async () => {
    const page = await stage.visit('#tilby/16/45/-30', screens.small)
    await waitUntilDrawn(page)
    // MapLibre parses the tiles in workers
    await until(async () => {
      await page.mouse.move(401, 301)
      await page.mouse.move(400, 300)
      return page.locator('.feature-tip').count()
    }, { what: 'a feature under the pointer' })
    await page.mouse.click(400, 300)
    await page.locator('.card.tile .features summary').first().waitFor()
    const text = await page.locator('.card.tile .features').innerText()
    assert.match(text, /building|park|road/)
    assert.deepEqual(await findBarriers(page), [])
    await page.mouse.move(401, 301)
    await page.waitForFunction(() => document.getElementById('map')?.style.cursor === 'pointer')
    await page.locator('[data-layer="steps"]').dispatchEvent('click') // the list is folded
    await page.waitForFunction(() => document.getElementById('map')?.style.cursor === '')
  })

  it('is found by the names of its features in view', async () => {
    const page = await stage.visit(`#tilby/${PLACE}`, screens.small)
    await waitUntilDrawn(page)
    await page.keyboard.press('f')
    const field = page.getByRole('searchbox', { name: 'Find a place' })
    const result = page.locator('#find li button').first()
    // MapLibre parses tiles in workers, one after the other: the name of a street may come before the place
    await until(async () => {
      await field.fill('')
      await field.fill('old harb')
      return await result.count() && await result.textContent() === 'Old Harbourplace'
    }, { what: 'the place as the first name on the map' })
    await result.click()
    await page.waitForURL(/#tilby\/13\/44\.9\d*\/-30\.0/)
    await page.locator('#map .here').waitFor({ state: 'attached' })
  })

  it('tells which features differ between two times, marks them, and saves them as GeoJSON', async () => {
    const [west, south, east, north] = TOWN_BOUNDS
    const page =
      await stage.visit(`#tilby/13/${(south + north) / 2}/${(west + east) / 2}/${FIRST}-06-01..${LAST}-06-01`)
    await waitUntilDrawn(page)
    await page.locator('.features table').waitFor()
    const rows = await page.locator('.features tbody tr')
      .evaluateAll(list => list.map(row => [...row.cells].map(cell => cell.textContent)))
    const kinds = await page.locator('.features thead th')
      .evaluateAll(list => list.slice(1).map(cell => cell.className))
    const shownCounts = Object.fromEntries(
      rows.map(
        ([name, ...numbers]) => [
          name,
          { added: 0, changed: 0, removed: 0, ...Object.fromEntries(
            kinds.map((kind, index) => [kind, +numbers[index].replaceAll(',', '')])
          ) }
        ]
      )
    )
    assert.deepEqual(shownCounts, countChanges(FIRST, LAST))
    const [download] =
      await Promise.all([page.waitForEvent('download'), page.locator('[data-does="save-features"]').click()])
    const { features } = JSON.parse(await readFile(await download.path(), 'utf8'))
    assert.equal(features.length,
      Object.values(shownCounts).flatMap(counts => Object.values(counts)).reduce((sum, count) => sum + count, 0))
    assert.ok(
      features.every(({ properties, geometry }) => properties.change && properties.source_layer && geometry.coordinates)
    )
    const checkbox = page.getByRole('checkbox', { name: 'Mark these features' })
    const countPixels = async () => (await coloursOf(page))['15,123,63'] ?? 0
    await waitUntilDrawn(page)
    const marked = await countPixels()
    await checkbox.uncheck()
    const unmarked = await countPixels() // the table uses the colour, too
    assert.ok(marked > unmarked + 100, `${marked} and ${unmarked} pixels in the colour of what was added`)
  })

  it('is compared with itself at another time, under a handle, faded, and on two maps', async () => {
    const page = await stage.visit(`#tilby@${FIRST}-06-01..${LAST}-06-01/${PLACE}`, screens.small)
    await page.locator('.tilecouch-compare-handle').waitFor()
    assert.equal(await page.locator('#map .tilecouch-vector').count(), 2)
    await page.getByRole('button', { name: 'Fade' }).click()
    await page.getByRole('button', { name: 'Side by side' }).click()
    await page.locator('.tilecouch-compare .leaflet-container .tilecouch-vector canvas').waitFor()
    await page.getByRole('button', { name: 'Stop comparing' }).click()
    await page.waitForFunction(() => document.querySelectorAll('#map .tilecouch-vector').length === 1)
  })

  it('lies over an image layer with its opacity, on a phone in dark colours', async () => {
    const page = await stage.visit(`#steps/4/45/-30&layers=*,tilby:80`, { ...screens.phone, colorScheme: 'dark' })
    await page.locator('#map .tilecouch-vector canvas').waitFor()
    assert.equal(await page.locator('#map .tilecouch-vector').evaluate(node => node.style.opacity), '0.8')
  })

  const isScript = ({ path }) => path.includes('vector.js')

  it('does not begin a comparison that was ended before its script was loaded', async () => {
    const hold = holdRequests(stage.front, isScript)
    const page = await stage.visit(`#steps@${T(3)}..${T(4)}/3/0/0`, screens.small)
    const card = page.getByRole('region', { name: 'What changed here' })
    await card.getByRole('combobox', { name: 'Layer at the left' }).selectOption('tilby')
    await hold.reached()
    await card.getByRole('button', { name: 'Stop comparing' }).click()
    hold.open()
    await page.locator('[data-layer="tilby"]').dispatchEvent('click') // the list is folded
    await waitUntilDrawn(page) // the script was loaded before
    assert.equal(await page.locator('.tilecouch-compare-handle').count(), 0)
    assert.doesNotMatch(page.url(), /\.\.|with=/)
  })

  it('takes the comparison of its link with it when another layer is chosen before its script was loaded', async () => {
    const hold = holdRequests(stage.front, isScript)
    const page = await stage.open('#steps/3/0/0', screens.small)
    await page.evaluate(hash => { location.hash = hash }, `#tilby@${FIRST}..${LAST}/${PLACE}`)
    await hold.reached()
    await page.locator('[data-layer="bounded"]').click()
    await page.locator('[data-layer="bounded"][aria-pressed="true"]').waitFor()
    hold.open()
    await page.locator('[data-layer="tilby"]').click()
    await waitUntilDrawn(page)
    assert.equal(await page.locator('.tilecouch-compare-handle').count(), 0)
    assert.doesNotMatch(page.url(), /\.\./)
  })

  it('takes the comparison of its link with it when it is chosen anew before the link has its style', async () => {
    const page = await stage.open('#steps/3/0/0', screens.small)
    await page.evaluate(() => { // the first style comes last
      const shared = /** @type {any} */ (window)
      const fetchNow = window.fetch
      const released = new Promise(resolve => { shared.releaseStyle = resolve })
      window.fetch = async (...request) => {
        const isHeld = !shared.isStyleHeld && String(request[0]).includes('tilby/style.json')
        if (!isHeld) return fetchNow(...request)
        shared.isStyleHeld = true
        await released
        const answer = await fetchNow(...request)
        const bytes = await answer.arrayBuffer()
        shared.isStyleRead = true
        return new Response(bytes, answer)
      }
    })
    await page.evaluate(hash => { location.hash = hash }, `#tilby@${FIRST}..${LAST}/${PLACE}`)
    await page.waitForFunction(() => /** @type {any} */ (window).isStyleHeld)
    for (const layer of ['bounded', 'tilby']) {
      await page.locator(`[data-layer="${layer}"]`).click()
      await page.locator(`[data-layer="${layer}"][aria-pressed="true"]`).waitFor()
    }
    await waitUntilDrawn(page)
    await page.evaluate(() => /** @type {any} */ (window).releaseStyle())
    await page.waitForFunction(() => /** @type {any} */ (window).isStyleRead)
    await waitUntilDrawn(page)
    assert.doesNotMatch(page.url(), /\.\./)
    assert.equal(await page.locator('.tilecouch-compare-handle').count(), 0)
  })

  it('is drawn with "Try again" after the script that draws it did not load', async () => {
    stage.allow(/503/)
    const heal = stage.front.rule(entry => isScript(entry) ? { status: 503, body: '' } : undefined)
    const page = await stage.visit(`#tilby/${PLACE}`, screens.small)
    const toast = page.locator('.toast', { hasText: 'The server does not answer.' })
    await toast.waitFor()
    assert.equal(await page.getByText('it has no WebGL').count(), 0)
    heal()
    await toast.getByRole('button', { name: 'Try again' }).click()
    await waitUntilDrawn(page)
    await toast.waitFor({ state: 'detached' })
  })

  it('is not drawn in a browser without WebGL, and the page says so', async () => {
    const page = await stage.visit()
    await page.addInitScript(() => { HTMLCanvasElement.prototype.getContext = () => null })
    await page.goto(`${stage.address}#tilby/${PLACE}`)
    await page.reload()
    await page.getByText('this browser cannot draw them').waitFor()
    await page.getByRole('button', { name: 'Previous change' }).click()
    await page.waitForURL(/#tilby@/)
  })
})
