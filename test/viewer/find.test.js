/* global document, location -- of the page, in functions that run there */
// Tests the search for a place by coordinates, layers, names and a gazetteer, and the position of the device.
import assert from 'node:assert/strict'
import { drawnTiles, screens } from './browser.js'
import { onViewer } from '../support/viewer.js'

const field = page => page.getByRole('searchbox', { name: 'Find a place' })
const results = page => page.locator('#find li button')

/** Opens the search with its button and types. */
async function find (page, text) {
  await page.locator('.tools').getByRole('button', { name: 'Find a place' }).click()
  await field(page).fill(text)
}

/** The middle of the mark of a place, in pixels of the screen. */
const mark = page => page.locator('#map .here').evaluate(node => {
  const { x, y, width, height } = node.getBoundingClientRect()
  return { x: x + width / 2, y: y + height / 2 }
})

onViewer('the search for a place', { layers: ['steps', 'bounded'], demo: false }, stage => {
  const settings = fields => stage.store.couch.update('tilecouch', doc => ({ ...doc, ...fields }))

  it('goes to coordinates, a tile or the area of a layer, and the page shows where the pointer is', async () => {
    const page = await stage.open('#steps/3/0/0')
    await page.mouse.move(640, 400)
    await page.mouse.move(768, 400)
    await page.locator('.pointer', { hasText: /^-?0\.00, 22\.\d\d$/ }).waitFor()
    assert.ok(await page.evaluate(() => location.hash.startsWith('#steps/3')))
    await find(page, '20°30\'N 40°15\'W')
    await page.getByText('20.50000, -40.25000').waitFor()
    await page.getByText('Places and names on the map, layers, coordinates').waitFor() // the hint stays
    await field(page).press('Enter')
    await page.waitForURL(/#steps\/6\/(1[6-9]|2[01])\.\d\d\/-4\d\.\d\d$/)
    const { x, y } = await mark(page)
    assert.ok(x > 360 && x < 1280 && y > 0 && y < 680, `beside the panel and the timeline: ${x}, ${y}`)
    assert.equal(await page.locator('#find').isVisible(), false)
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'map')
    await find(page, '4/8/5')
    await field(page).press('Enter')
    await page.waitForURL(/#steps\/4\//)
    await find(page, 'bound')
    await results(page).filter({ hasText: 'bounded' }).click()
    await page.waitForURL(/#bounded\/\d/)
    await drawnTiles(page)
    const [lat, lon] = new URL(page.url()).hash.split('/').slice(2).map(Number)
    assert.ok(lat > 0 && lat < 65 && lon > -30 && lon < 60, `${lat}, ${lon}`)
  })

  it('finds places that the settings of the store name, and says when it finds nothing', async () => {
    await settings({ places: [['Bern', 7.44, 46.95, 5], ['Bergen', 5.32, 60.39, 5]] })
    const page = await stage.open('#steps/3/0/0')
    await find(page, 'ber')
    assert.deepEqual(await results(page).allTextContents(), ['Bern', 'Bergen'])
    await field(page).press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#steps\/5\//)
    await find(page, 'Nowhere')
    await page.getByText('Nothing found.').waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('#find').isVisible(), false)
    await settings({ places: undefined })
  })

  it('asks the gazetteer of the operator only when Enter is pressed', async () => {
    await settings({ gazetteer: '/places/search?format=x' })
    const page = await stage.visit('#steps/3/0/0')
    const queries = []
    await page.route('**/places/search**', route => {
      queries.push(new URL(route.request().url()).searchParams)
      const places = [{
        display_name: '<b>Bern</b>, Schweiz', lat: '46.9', lon: '7.4', boundingbox: ['46', '48', '6', '9']
      }, { display_name: 'Bern, Kansas', lat: '39.9', lon: '-95.9' }]
      return route.fulfill({ json: places })
    })
    await drawnTiles(page)
    await find(page, 'Bern')
    await page.getByText(/^Press Enter to search at 127\.0\.0\.1/).waitFor()
    assert.equal(queries.length, 0, 'what is typed goes nowhere by itself')
    await field(page).press('Enter')
    await page.getByText(/^2 places from/).waitFor()
    assert.equal(await results(page).first().textContent(), '<b>Bern</b>, Schweiz', 'text, no markup')
    assert.deepEqual([queries.length, queries[0].get('q'), queries[0].get('format'), queries[0].get('accept-language')],
      [1, 'Bern', 'jsonv2', 'en'])
    await results(page).first().click()
    await page.waitForURL(/#steps\/[456]\/4\d\.\d+\/\d/)
    await page.route('**/places/search**', route => route.fulfill({ status: 500, body: 'no' }))
    await find(page, 'Bern')
    await field(page).press('Enter')
    await page.getByText(/does not answer\.$/).waitFor()
    stage.allow(/500/)
    await settings({ gazetteer: undefined })
  })

  it('shows the position of the device, or says that the browser hides it', async () => {
    const page = await stage.visit('#steps/3/0/0', {
      ...screens.desk, geolocation: { latitude: -33.8, longitude: 151.2, accuracy: 5000 }, permissions: ['geolocation']
    })
    await drawnTiles(page)
    await page.getByRole('button', { name: 'Show where I am' }).click()
    await page.waitForURL(/#steps\/[3-6]\/-3\d\.\d+\/1[45]\d\./)
    await page.locator('#map .here-around').waitFor({ state: 'attached' })
    const other = await stage.visit('#steps/3/0/0')
    await other.getByRole('button', { name: 'Show where I am' }).click()
    await other.getByText('The browser does not let this page know where you are.').waitFor()
  })
})
