/* global document, map, offline -- of the page, in functions that run there */
// The wish list of Leaflet #2197, wish by wish, as a reader of the page goes through it; the last one without a
// network.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { Store } from '../../loader/index.js'
import { startLink } from '../mirror/link.js'
import { openBrowser, openPage } from '../viewer/browser.js'
import { drawn } from './drawn.js'
import { serveExamples } from './server.js'
import { openKinds } from './stores.js'

const ALL = 85 // tiles of zooms 0 to 3

/** Messages on the console without a network, which no page can prevent. */
const NO_NETWORK = /net::ERR_/

for (const { name, open } of openKinds) {
  describe(`the wish list for offline maps on ${name}`, function () {
    this.timeout(300000)
    let browser, server, store, link, view, page

    before(async function () {
      browser = await openBrowser(this, { webgl: false })
      server = await serveExamples()
      store = await open({ zooms: { min: 0, max: 3 }, hours: 2, surveys: 0 })
      link = await startLink(store.url)
      view = await openPage(browser)
      page = view.page
      await page.goto(`${server.url}/offline.html?db=${encodeURIComponent(link.url)}`)
      await drawn(page)
    })

    after(async () => { for (const resource of [view, browser, link, server, store]) await resource?.close() })

    const text = id => page.locator(`#${id}`).textContent()
    const waitForText = (id, words) => page.waitForFunction(([elementId, source]) =>
      new RegExp(source).test(document.getElementById(elementId)?.textContent ?? ''), [id, words])
    const button = label => page.getByRole('button', { name: label, exact: true })
    const areas = () => page.locator('#areas label').allTextContents()
    const move =
      (...place) => page.evaluate(([lat, lng, zoom]) => { map.setView([lat, lng], zoom, { animate: false }) }, place)
    const count = async () => +(/^\d+/.exec(await text('progress'))?.[0] ?? 0)
    const choose = label => page.getByLabel(label, { exact: false }).check()
    /** The number of tiles that the device has in full, read as a map reads them. */
    const readable = () => page.evaluate(async () => {
      const tiles =
        [0, 1, 2, 3].flatMap(z => Array.from({ length: 4 ** z }, (_, at) => ({ z, x: at >> z, y: at % 2 ** z })))
      const heads = await Promise.all(tiles.map(({ z, x, y }) => offline.device.head('daylight', z, x, y)))
      return heads.filter(head => head?.blob.size === head?.version.bytes && head?.blob.type === 'image/png').length
    })
    async function add (label, zooms) {
      await page.getByLabel('Name').fill(label)
      await page.getByLabel('Zooms').selectOption(zooms)
      await button('Add').click()
      await page.waitForFunction(expectedName =>
        [...document.querySelectorAll('#areas b')].some(({ textContent }) => textContent === expectedName), label)
      await waitForText('size', 'tiles?,')
    }
    /** Changes a tile in the store. */
    async function change (hour) {
      const writer = await Store.open(store.database)
      const { bytes } = await writer.at('daylight', 2, 0, 0, '2024')
      const changed = Buffer.concat([bytes, Buffer.from(hour)])
      await writer.write([{ layer: 'daylight', z: 2, x: 2, y: 1, time: `2024-06-20T${hour}:00:00Z`, bytes: changed }])
    }

    it('come true on the page, one after the other, in the end without a network', async () => {
      // 1, 2: the visible area gets a name and is listed, and nothing is downloaded
      await move(0, 0, 1)
      await add('World', '0-2')
      assert.deepEqual(await areas(), ['Worldnot downloaded'])
      assert.equal(await readable(), 0)
      await page.getByLabel('Name').fill('World')
      await button('Add').click()
      await waitForText('trouble', 'there is an area "World" already. Use another name')

      // 3, 4: the size of an area is known before the download, and equals the room that it takes
      const before = await text('size')
      assert.match(before, /^21 tiles, \d+ kB$/)
      await button('Download').click()
      await waitForText('progress', 'All 21 tiles are here')
      assert.deepEqual(await areas(), [`Worldcomplete, ${before.replace(/.*, /, '')}`])
      assert.equal(await text('trouble'), '')

      // 5: a cancelled download continues after a reload without losing tiles
      await add('Everything', '0-3')
      assert.match(await text('size'), /^85 tiles, /)
      link.set({ rate: 60000 })
      await button('Download').click()
      await until(async () => await count() > 25 && await text('progress'), { timeout: 20000, what: 'a third of it' })
      assert.match(await text('progress'), /^\d+ of 85 tiles, \d+ s to go/)
      await button('Cancel').click()
      await page.waitForFunction(() => /Everythingcancelled/.test(document.getElementById('areas')?.textContent ?? ''))
      const tilesBefore = await count()
      assert.ok(tilesBefore < ALL, `${tilesBefore}`)
      link.set({})
      await page.reload()
      await drawn(page)
      await choose('Everything')
      assert.ok(await count() >= tilesBefore, 'nothing is lost')
      await button('Resume').click()
      await waitForText('progress', `All ${ALL} tiles are here`)
      assert.equal(await readable(), ALL)

      // 6: a refresh fetches only changed tiles, and a live area fetches them by itself
      await change('05')
      link.bytes.down = 0
      await button('Refresh').click()
      await waitForText('changed', '^1 tile changed: ')
      assert.ok(link.bytes.down < 50000, `${link.bytes.down} bytes`)
      await button('Refresh').click()
      await waitForText('changed', '^Nothing has changed')
      await page.getByLabel('live').check()
      await change('06')
      await until(() => page.evaluate(
        async () => (await offline.device.head('daylight', 2, 2, 1)).version.time === '2024-06-20T06:00:00Z'
      ), { timeout: 40000, what: 'the news' })

      // 7: removing an area keeps another area with the same tiles complete
      await choose('World')
      await button('Remove').click()
      await page.waitForFunction(() => document.querySelectorAll('#areas label').length === 1)
      assert.equal(await readable(), ALL)
      // the area is live, and may be reading the last change
      await until(async () => /^Everythingcomplete, /.test((await areas())[0]), { what: 'the other area' })

      // 9: the tiles on the device are marked
      await move(20, 0, 2)
      await page.getByLabel('mark the tiles').check()
      await page.waitForFunction(() => document.querySelectorAll('#map .tilecouch-coverage-whole').length >= 9)
      assert.equal(await page.locator('#map .tilecouch-coverage-part').count(), 0)

      // 10: the used and the free room are shown, and the browser is asked to keep it
      assert.match(await text('storage'), /Maps take \d+ kB of this device, and [\d.]+ GB are free\./)
      await button('Keep it safe').click()
      await page.waitForFunction(() => !document.getElementById('persist')?.textContent?.startsWith('Keep'))

      // 8: the map is drawn without a network, with and without asking the store, and says so
      assert.deepEqual(view.errors, [], 'nothing on the console')
      await link.cut()
      await view.page.context().setOffline(true)
      for (const onlyDevice of [false, true]) {
        await page.getByLabel('ask nobody but this device').setChecked(onlyDevice)
        for (const [lat, lng, zoom] of [[0, 0, 1], [40, 20, 3], [-30, 140, 3], [60, -100, 2]]) {
          await move(lat, lng, zoom)
          await drawn(page)
        }
      }
      await waitForText('status', 'offline')
      await choose('Everything')
      assert.match(await text('size'), /^85 tiles, /, 'what is here is known')
      await button('Refresh').click()
      await waitForText('trouble', 'cannot reach')
      assert.deepEqual(view.errors.filter(message => !NO_NETWORK.test(message)), [], 'nothing else on the console')
    })
  })
}
