/* global window, document -- of the page, in functions that run there */
// Tests of the page that lists the layers with their addresses, and of /index.json, from which it is made.
import assert from 'node:assert/strict'
import { addressesOf, isTime } from '../../attachments/layers/addresses.js'
import { until } from '../../bench/wait.js'
import { findBarriers } from '../support/axe.js'
import { json, onEachStore, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { openBrowser, screens } from '../viewer/browser.js'
import { OPTIONS, token } from '../support/gateway/private.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask } from '../support/gateway/wire.js'

const [T1, T2] = ['2022-06-01T00:00:00Z', '2024-06-01T00:00:00Z']
const HOSTILE = '<img src=x onerror="window.hit=1">&amp;'

describe('the addresses of a layer', () => {
  it('are those that its format has, now and as of a time, below the public URL', () => {
    const image = { id: 'osm', name: 'A', format: 'png', tiles: ['https://h/maps/osm/{z}/{x}/{y}.png'], retina: ['x'] }
    const addressesByKind = (layer, time) => Object.fromEntries(
      addressesOf(layer, time).map(({ kind, address }) => [kind, address.replace('https://h/maps/', '')])
    )
    assert.deepEqual(addressesByKind(image),
      {
        xyz: 'osm/{z}/{x}/{y}.png', retina: 'osm/{z}/{x}/{y}@2x.png', tilejson: 'osm.json',
        qgis: 'osm.qlr', wmts: 'wmts/1.0.0/WMTSCapabilities.xml', ogc: 'ogc/collections/osm', gdal: 'osm/gdal.xml'
      })
    assert.deepEqual(addressesByKind({ ...image, retina: undefined }, '2023'),
      {
        xyz: 'osm@2023/{z}/{x}/{y}.png', tilejson: 'osm@2023.json', qgis: 'osm@2023.qlr',
        wmts: 'wmts@2023/1.0.0/WMTSCapabilities.xml', ogc: 'ogc/collections/osm?datetime=2023',
        gdal: 'osm@2023/gdal.xml'
      })
    const vector =
      addressesByKind({ id: 'osm', name: 'A', format: 'pbf', tiles: ['https://h/maps/osm/{z}/{x}/{y}.pbf'] })
    assert.deepEqual([vector.style, vector.gdal], ['osm/style.json', undefined])
  })

  it('take only times that the gateway can read', () => {
    for (const good of ['2023', '2023-06', '2024-02-29', '2023-06-01T12', '2023-06-01T12:00Z',
      '2023-06-01T12:00:00Z']) assert.ok(isTime(good), good)
    for (const bad of ['', 'x', '23', '2023-13', '2023-02-29', '2023-06-01 12:00',
      '2023-06-01T25', '2023-06-01T12:00:00+01:00', '2023/2024']) assert.ok(!isTime(bad), bad)
  })
})

onEachStore('the layers of a gateway', backend => {
  const fixture = useGateway(backend, {
    async fill (store) {
      const attribution = '© <a href="https://example.org">Somebody</a>'
      await store.defineLayer('osm', { name: HOSTILE, description: HOSTILE, attribution, minzoom: 0, maxzoom: 3 })
      await store.defineLayer('roads',
        { name: 'Roads', format: 'pbf', maxzoom: 14, vector_layers: [{ id: 'roads', fields: {} }] })
      await store.defineLayer('secret', { name: 'words-of-secret' })
      for (const time of [T1, T2]) {
        await store.write([{ layer: 'osm', z: 0, x: 0, y: 0, time, bytes: png(1) }])
        await store.putEdition('osm', time, { title: 'one', complete: true })
      }
    }
  })

  describe('as a list', () => {
    it('are their TileJSON, each with its name', async () => {
      const { status, headers, json: list } = await fixture.ask('/index.json')
      assert.deepEqual([status, headers['content-type'], headers['cache-control']],
        [200, 'application/json', 'private, max-age=0, must-revalidate'])
      assert.deepEqual(list.map(({ id }) => id), ['osm', 'roads', 'secret'])
      for (const { id, ...tilejson } of list) assert.deepEqual(tilejson, (await fixture.ask(`/${id}.json`)).json)
      assert.equal((await fixture.ask('/index.json', { headers: { 'if-none-match': headers.etag } })).status, 304)
      const gateway = await fixture.another({ publicUrl: 'https://maps.example.org/' })
      assert.deepEqual((await ask(gateway.url, '/index.json')).json[1].tiles,
        ['https://maps.example.org/roads/{z}/{x}/{y}.pbf'])
    })

    it('are those that a visitor may see, with the token in their addresses', async () => {
      const gateway = await fixture.another({ ...OPTIONS, privateLayers: ['secret'] })
      const answer = await ask(gateway.url, '/index.json')
      assert.deepEqual(answer.json.map(({ id }) => id), ['osm', 'roads'])
      assert.doesNotMatch(answer.text, /words-of-secret/)
      const validToken = token(['secret'])
      const { headers, json: list } = await ask(gateway.url, `/index.json?token=${validToken}`)
      assert.deepEqual([list.map(({ id }) => id), /^private/.test(headers['cache-control'])],
        [['osm', 'roads', 'secret'], true])
      assert.ok(list[2].tiles[0].endsWith(`?token=${validToken}`))
    })

    it('give way to the TileJSON of a layer called index, until it is deleted', async () => {
      const { store } = fixture
      await store.defineLayer('index', { name: 'An index' })
      await until(async () => (await fixture.ask('/index.json')).json.name === 'An index', { what: 'its TileJSON' })
      const { _rev } = await json(`${fixture.url}/layer:index`)
      await request(`${fixture.url}/layer:index?rev=${_rev}`, { method: 'DELETE' })
      await until(async () => Array.isArray((await fixture.ask('/index.json')).json), { what: 'the list' })
    })
  })

  describe('as a page', () => {
    let browser
    before(async function () { browser = await openBrowser(this, { webgl: false }) })
    afterEach(() => browser.close()) // a gateway does not close while pages keep connections open

    /** @param {Record<string, any>} [options] */
    async function open (path, { base = fixture.gateway.url, ...options } = {}) {
      const context = await browser.newContext({ ...screens.desk, ...options })
      const page = await context.newPage()
      page.troubles = []
      page.on('pageerror', error => page.troubles.push(error.message))
      page.on('console', message => { if (message.type() === 'error') page.troubles.push(message.text()) })
      await page.goto(`${base}${path}`)
      return page
    }
    const addresses = (page, layer) => page.locator(`#${layer} dd code`).allTextContents()

    it('shows each layer with its addresses, and shows markup in its name as text', async () => {
      const page = await open('/layers')
      await page.locator('#osm').waitFor()
      assert.equal(await page.locator('#osm h2').textContent(), `${HOSTILE} osm`)
      assert.deepEqual(await page.evaluate(
        () => [/** @type {any} */ (window).hit, document.querySelectorAll('main img').length]
      ), [undefined, 0])
      const { url } = fixture.gateway
      assert.deepEqual((await addresses(page, 'osm')).slice(0, 2), [`${url}/osm/{z}/{x}/{y}.png`, `${url}/osm.json`])
      assert.ok((await addresses(page, 'roads')).includes(`${url}/roads/style.json`))
      assert.match(String(await page.locator('#osm').textContent()), /2 times, Jun 1, 2022 to Jun 1, 2024/)
      assert.deepEqual(page.troubles, [])
    })

    it('puts a time into the addresses, and says when the time is not valid', async () => {
      const page = await open(`/layers?time=2023#roads`)
      await page.locator('#roads').waitFor()
      const { url } = fixture.gateway
      assert.equal((await addresses(page, 'osm'))[0], `${url}/osm@2023/{z}/{x}/{y}.png`)
      assert.equal(await page.evaluate(() => document.activeElement?.id), 'roads')
      await page.getByLabel('Time').fill('2022-06')
      assert.ok((await addresses(page, 'osm')).includes(`${url}/ogc/collections/osm?datetime=2022-06`))
      assert.equal(await page.locator('#osm .head a').getAttribute('href'), './#osm@2022-06')
      await page.getByLabel('Time').fill('soon')
      await page.getByText('“soon” is no time').waitFor()
      assert.equal((await addresses(page, 'osm'))[0], `${url}/osm@2022-06/{z}/{x}/{y}.png`,
        'the last time that was one')
      await page.getByLabel('Time').fill('')
      assert.equal((await addresses(page, 'osm'))[0], `${url}/osm/{z}/{x}/{y}.png`)
      const broken = await open('/layers?time=soon')
      await broken.getByText('“soon” is no time').waitFor()
      assert.equal((await addresses(broken, 'osm'))[0], `${url}/osm/{z}/{x}/{y}.png`)
    })

    it('copies an address by keyboard', async () => {
      const page = await open('/layers')
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const button = page.getByRole('button', { name: 'Copy: TileJSON, Roads' })
      await button.focus()
      await page.keyboard.press('Enter')
      await page.getByText('Copied').waitFor()
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${fixture.gateway.url}/roads.json`)
    })

    it('has no accessibility barriers on a desk, phone and tablet, and speaks the language of the reader', async () => {
      for (const options of [screens.desk, screens.phone, { ...screens.tablet, locale: 'de-DE' }]) {
        const page = await open('/layers?time=soon', options)
        await page.locator('#osm').waitFor()
        assert.deepEqual(await findBarriers(page), [], JSON.stringify(options))
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
          'nothing sticks out')
        if (options.locale) {
          assert.deepEqual([await page.locator('html').getAttribute('lang'), await page.locator('#map').textContent()],
            ['de', 'Karte'])
        }
      }
    })

    it('is linked from the viewer, and leads back to it', async () => {
      const page = await open('/#osm/0/0/0')
      await page.locator('.facts summary').click()
      await page.getByRole('link', { name: 'Addresses for other programs' }).click()
      await page.locator('#osm dd code').first().waitFor()
      await page.locator('#osm .head a').click()
      await page.waitForURL(/\/#osm/)
      await page.locator('.layers .selected').waitFor()
    })

    it('shows private layers to visitors with a token, and removes the token from the URL', async () => {
      const gateway = await fixture.another({ ...OPTIONS, privateLayers: ['secret'] })
      const page = await open(`/layers?time=2023&token=${token(['secret'])}`, { base: gateway.url })
      await page.locator('#secret').waitFor()
      assert.equal(page.url(), `${gateway.url}/layers?time=2023`)
      const anonymousPage = await open('/layers', { base: gateway.url })
      await anonymousPage.locator('#osm').waitFor()
      assert.equal(await anonymousPage.locator('#secret').count(), 0)
    })
  })
})
