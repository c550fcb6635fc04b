/* global document, innerWidth -- of the page, in functions that run there */
// The examples as people open them: from another address than the store's, and as files.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { Store } from '../../loader/index.js'
import { writeGallery } from '../support/client/gallery.js'
import { openBrowser, openPage, screens } from '../viewer/browser.js'
import { drawn } from './drawn.js'
import { folder, serveExamples, serveLibraries } from './server.js'
import { openKinds } from './stores.js'

const WITH_WEBGL = ['maplibre.html']

const pages = (await readdir(folder)).filter(name => name.endsWith('.html') && name !== 'index.html').sort()
for (const { name, open } of openKinds) {
  describe(`the examples on ${name}`, function () {
    this.timeout(60000)
    let plain
    let webgl
    let server
    let store
    let view

    before(async function () {
      plain = await openBrowser(this, { webgl: false })
      webgl = await openBrowser(this)
      server = await serveExamples()
      store = await open()
      await writeGallery(await Store.open(store.database), ['europe']) // for other-grids.html
    })

    after(async () => {
      await plain?.close()
      await webgl?.close()
      await server?.close()
      await store?.close()
    })

    afterEach(async function () {
      await view?.close()
      if (this.currentTest?.isPassed()) assert.deepEqual(view?.errors ?? [], [], 'nothing on the console')
      view = undefined
    })

    const visit = async (example, { base = server.url, options = screens.desk } = {}) => {
      view = await openPage(WITH_WEBGL.includes(example) ? webgl : plain, options)
      await serveLibraries(view.page)
      await view.page.goto(`${base}/${example}?db=${encodeURIComponent(store.url)}`)
      await drawn(view.page)
      return view.page
    }

    for (const example of pages) {
      it(`${example} draws its tiles, also as a file and on a phone`, async () => {
        const title = await (await visit(example)).locator('h1').textContent()
        assert.equal(await view.page.title(), `${title} · tilecouch`)
        await view.close()
        const page = await visit(example, { base: pathToFileURL(folder).href, options: screens.phone })
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out')
      })
    }

    it('plain-xyz.html shows the tiles as of a time', async () => {
      const page = await visit('plain-xyz.html')
      await page.getByLabel('06:00 UTC').check()
      await page.waitForFunction(() => [
        ...document.querySelectorAll('#map img.leaflet-tile')
      ].every(tile => /daylight@2024-06-20T06\//.test(/** @type {any} */ (tile).src)))
      await drawn(page)
    })

    it('history.html counts the changes in view, and steps through time', async () => {
      const page = await visit('history.html')
      await page.getByText('3 changes in view').waitFor()
      await page.getByRole('slider', { name: 'Time' }).focus()
      await page.keyboard.press('Home')
      await page.waitForFunction(() => /00:00/.test(
        document.querySelector('[role="slider"][aria-label="Time"]')?.getAttribute('aria-valuetext') ?? ''
      ))
      await drawn(page)
    })

    for (const example of ['maplibre.html', 'openlayers.html']) {
      it(`${example} counts the changes in view, and draws another picture at another time`, async () => {
        const page = await visit(example)
        await page.getByText('3 changes in view').waitFor()
        const before = await page.screenshot()
        await page.getByRole('slider', { name: 'Time' }).focus()
        await page.keyboard.press('Home')
        await page.waitForFunction(() => /00:00/.test(
          document.querySelector('[role="slider"][aria-label="Time"]')?.getAttribute('aria-valuetext') ?? ''
        ))
        await drawn(page)
        assert.notDeepEqual(await page.screenshot(), before)
      })
    }

    it('other-grids.html draws a layer in its own grid, with coordinates of that system', async () => {
      const page = await visit('other-grids.html')
      assert.deepEqual(await page.locator('#layers option').allTextContents(), ['europe (EuropeanETRS89_LAEAQuad)'])
      await page.getByText(/^EPSG:3035: \d{7}, \d{7}$/).waitFor()
      assert.ok(await page.locator('#trouble').isHidden())
    })

    it('compare.html compares two times, of which one can be changed', async () => {
      const page = await visit('compare.html')
      const labels = page.locator('.tilecouch-compare-label')
      await page.locator('#left:enabled').waitFor()
      assert.deepEqual(await labels.allTextContents(), ['00:00 UTC', '02:00 UTC'])
      await page.locator('#right').selectOption({ label: '01:00 UTC' })
      assert.deepEqual(await labels.allTextContents(), ['00:00 UTC', '01:00 UTC'])
      await drawn(page)
    })

    it('custom-controls.html has a step for each change', async () => {
      const page = await visit('custom-controls.html')
      await page.getByText('20 Jun 2024, 02:00, ').waitFor()
      const slider = page.getByRole('slider', { name: 'Time' })
      assert.equal(await slider.getAttribute('max'), '2')
      await slider.focus()
      await page.keyboard.press('Home')
      await page.getByText('20 Jun 2024, 00:00, ').waitFor()
      await page.getByRole('button', { name: 'Play' }).click()
      await page.getByText('20 Jun 2024, 02:00, ').waitFor()
      await page.getByRole('button', { name: 'Pause' }).click()
      await drawn(page)
    })

    it('live.html reports a tile that is written while the page is open', async () => {
      const page = await visit('live.html')
      const writer = await Store.open(store.database)
      const { bytes } = await writer.at('daylight', 2, 0, 0, '2024')
      // the feed may begin after the first tiles are drawn; the next version is seen in any case
      for (let hour = 3; !/is new/.test(await page.locator('#said').textContent()); hour++) {
        assert.ok(hour < 20, 'no news')
        await writer.write(
          [
            {
              layer: 'daylight', z: 2, x: 2, y: 1, time: `2024-06-20T${String(hour).padStart(2, '0')}:00:00Z`,
              bytes: Buffer.concat([bytes, Buffer.from([hour])])
            }
          ]
        )
        await page.getByText('tile 2/2/1 is new').waitFor({ timeout: 3000 }).catch(() => {})
      }
    })

    it('history.html says when there is no store', async () => {
      view = await openPage(plain)
      await view.page.goto(`${server.url}/history.html?db=${encodeURIComponent(`${store.url}-none`)}`)
      await view.page.getByText(`There is no store at ${store.url}-none`).waitFor()
      view.errors.length = 0 // the errors of the missing store
    })
  })
}
