/* global window, L -- of the page, in functions that run there */
// Tests of the viewer and the client library, which the gateway serves and which use no other server.
import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { compose } from '../../loader/couchapp/compose.js'
import { until as eventually } from '../../bench/wait.js'
import { VIEWER_CSP, viewerPolicy } from '../../loader/couchapp/policy.js'
import { T, history, layers, stepAt, writeGallery } from '../support/client/gallery.js'
import { install } from '../support/client/maps.js'
import { serveExamples } from '../examples/server.js'
import { onEachStore } from '../support/backends.js'
import { drawnTiles, openBrowser, openPage, shownAt } from '../viewer/browser.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask } from '../support/gateway/wire.js'

onEachStore('the viewer of the gateway', backend => {
  const fixture = useGateway(backend, { fill: store => writeGallery(store, ['steps', 'holes']) })
  const get = fixture.ask
  let files
  before(async () => {
    files = (await compose()).find(({ _id }) => _id === '_design/tiles')?._attachments ?? {}
  })

  it('has every file of the couchapp except the control room, in every content coding', async () => {
    assert.ok(['index.html', 'viewer.js', 'tilecouch.js', 'tilecouch.esm.js',
      'tilecouch.css', 'leaflet.js', 'leaflet.css'].every(name => name in files))
    const codings = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const [name, { content_type: type, data }] of Object.entries(files)) {
      if (name.startsWith('admin') || name === 'words.admin.json') {
        assert.equal((await get(`/${name}`)).status, 404, name)
        continue
      }
      const bytes = Buffer.from(data, 'base64')
      for (const acceptEncoding of
        ['', 'identity', 'gzip', 'gzip;q=0.5, br;q=0.9', 'br;q=0, gzip', '*', 'gzip;q=0, br;q=0, *;q=0']) {
        const { status, headers, body } =
          await get(`/${name}`, { headers: acceptEncoding ? { 'accept-encoding': acceptEncoding } : {} })
        const coding = headers['content-encoding']
        assert.deepEqual([status, headers['content-type'], headers['content-length']],
          [200, type, `${body.length}`], name)
        assert.deepEqual(coding ? codings[coding](body) : body, bytes, `${name} ${acceptEncoding}`)
        // PNG is already compressed
        if (/^(|identity|.*q=0, br;q=0.*)$/.test(acceptEncoding) || type === 'image/png') assert.equal(coding,
          undefined, `${name} ${acceptEncoding}`)
        else if (bytes.length > 1000) {
          assert.equal(coding, acceptEncoding === 'gzip' || acceptEncoding === 'br;q=0, gzip' ? 'gzip' : 'br',
            `${name} ${acceptEncoding}`)
        }
        assert.match(headers.vary, /accept-encoding/i)
      }
    }
    assert.deepEqual((await get('/')).body, Buffer.from(files['index.html'].data, 'base64'))
    assert.deepEqual((await get('/?x#y')).body, Buffer.from(files['index.html'].data, 'base64'))
  })

  it('is revalidated each time, and sent only when it has changed', async () => {
    const etags = new Set()
    for (const coding of ['identity', 'gzip', 'br']) {
      const { headers } = await get('/viewer.js', { headers: { 'accept-encoding': coding } })
      assert.match(headers.etag, /^"[^"]+"$/)
      etags.add(headers.etag)
      assert.equal(headers['cache-control'], 'no-cache')
      for (const tags of [headers.etag, `"x", W/${headers.etag}`, '*']) {
        const unchanged = await get('/viewer.js', { headers: { 'accept-encoding': coding, 'if-none-match': tags } })
        assert.deepEqual([unchanged.status, unchanged.body.length, unchanged.headers.etag], [304, 0, headers.etag])
      }
      const head = await get('/viewer.js', { method: 'HEAD', headers: { 'accept-encoding': coding } })
      assert.deepEqual([head.status, head.headers['content-length'], head.body.length],
        [200, headers['content-length'], 0])
    }
    assert.equal(etags.size, 3, 'each coding is a representation of its own')
  })

  it('may read from the origins that the operator currently names', async () => {
    const settings = fields => fixture.store.couch.update('tilecouch', doc => ({ ...doc, ...fields }))
    const policy = async (path = '/') => (await get(path)).headers['content-security-policy']
    const untilPolicyIs = expected => eventually(async () => await policy() === expected, { what: 'the policy' })
    const etagBefore = (await get('/')).headers.etag
    await settings(
      { base: { url: 'https://{s}.example.org/{z}/{x}/{y}.png' }, gazetteer: 'https://places.example.org/search' }
    )
    const origins = {
      images: ['https://a.example.org', 'https://b.example.org', 'https://c.example.org'],
      requests: ['https://places.example.org']
    }
    await untilPolicyIs(viewerPolicy([], origins))
    const changed = await get('/', { headers: { 'if-none-match': etagBefore } })
    assert.deepEqual([changed.status, changed.headers['content-security-policy']],
      [200, viewerPolicy([], origins)], 'a page with another policy is another page')
    assert.equal((await get('/', { headers: { 'if-none-match': changed.headers.etag } })).status, 304)
    assert.equal(await policy('/index.html'), viewerPolicy([], origins))
    assert.equal(await policy('/viewer.js'), VIEWER_CSP)
    await settings({ base: { url: 'https://other.example.org/{z}/{x}/{y}.png' }, gazetteer: '/search' })
    await untilPolicyIs(viewerPolicy([], { images: ['https://other.example.org'], requests: [] }))
    await settings({ base: undefined, gazetteer: undefined })
    await untilPolicyIs(VIEWER_CSP)
    assert.equal((await get('/')).headers.etag, etagBefore)
  })

  it('can be turned off, and so can /db', async () => {
    const gateway = await fixture.another({ viewer: false, dbAccess: false })
    for (const path of ['/', '/index.html', '/viewer.js', '/layers', '/db', '/db/_all_docs']) {
      assert.equal((await ask(gateway.url, path)).status, 404, path)
    }
    assert.equal((await ask(gateway.url, '/steps/3/3/3.png')).status, 200)
  })

  describe('in a browser', () => {
    let browser
    const views = []
    before(async function () { browser = await openBrowser(this, { webgl: false }) })
    afterEach(async () => {
      const errors = views.flatMap(view => view.errors)
      await Promise.all(views.splice(0).map(view => view.close()))
      assert.deepEqual(errors, [], 'nothing on the console')
    })
    after(() => browser?.close())

    async function open (address, init) {
      const view = await openPage(browser)
      views.push(view)
      const urls = []
      view.page.on('request', request => urls.push(request.url()))
      if (init) await view.page.addInitScript(init)
      await view.page.goto(address)
      return { page: view.page, asked: urls }
    }

    it('shows tiles, goes through time, and lists the versions of a tile, all from the gateway', async () => {
      const { page, asked: urls } = await open(`${fixture.gateway.url}#holes@${T(1)}/3/0/0`)
      await shownAt(page, '1 Jan 2024')
      assert.ok(await drawnTiles(page) > 4)
      await page.getByRole('slider', { name: 'Time' }).focus()
      await page.keyboard.press('ArrowRight')
      await shownAt(page, '2 Jan 2024')
      await page.keyboard.press('ArrowRight')
      await shownAt(page, '3 Jan 2024')
      await page.mouse.click(600, 300)
      const card = page.getByRole('region', { name: 'This place' })
      await card.getByText('3 versions, times in UTC').waitFor()
      assert.deepEqual(await card.locator('.versions .title').allTextContents(),
        ['3 Jan 2024newest', '2 Jan 2024', '1 Jan 2024'])
      const { origin } = new URL(fixture.gateway.url)
      assert.deepEqual(urls.filter(url => !url.startsWith(origin) && !/^(blob|data):/.test(url)), [])
      assert.ok(urls.some(url => /\/db\/holes:3:\d:\d.*\/tile\?rev=/.test(url)))
    })

    it('lets a page of another origin draw a layer and its history, and follow it', async () => {
      const server = await serveExamples()
      const base = fixture.gateway.url.replace(/\/?$/, '/')
      server.pages.set('map.html', { html: `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
        <link rel="stylesheet" href="${base}leaflet.css"><link rel="stylesheet" href="${base}tilecouch.css">
        <div id="map" style="width:700px;height:500px"></div>
        <script src="${base}leaflet.js"></script><script src="${base}tilecouch.js"></script>` })
      try {
        const { page } = await open(`${server.url}/map.html`, install)
        await page.evaluate(([db]) => {
          const view = /** @type {any} */ (window)
          view.map = L.map('map', { center: [0, 0], zoom: 3 })
          view.layer = L.tileLayer.couch.history(db, { layer: 'steps', live: true, preload: 0 }).addTo(view.map)
        }, [`${base}db`])
        const waitForTiles = expected => page.waitForFunction(([texts]) => {
          const drawn = Object.entries(/** @type {any} */ (window).see.picture())
          return drawn.length > 5 && drawn.every(([key, text]) => text === (texts[key.split('#')[0]] ?? texts.other))
        }, [expected])
        await waitForTiles({ other: '5' })
        await page.waitForFunction(() => performance.getEntriesByType('resource')
          .some(({ name }) => /_changes\?feed=(normal|longpoll)/.test(name)))
        await fixture.store.write(await history('steps', { 6: [[3, 3, 3]] }))
        await waitForTiles({ other: '5', '3/3/3': '6' })
        await page.evaluate(time => { /** @type {any} */ (window).layer.setTime(time) }, T(3))
        const changed = layers.steps.steps[1].map(([z, x, y]) => [`${z}/${x}/${y}`, stepAt('steps', 3, z, x, y)])
        await waitForTiles(Object.fromEntries([['other', '1'], ...changed]))
      } finally {
        await server.close()
      }
    })
  })
})
