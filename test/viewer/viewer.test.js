/* global document, innerWidth, location, window -- of the page, in functions that run there */
// The page of a store as it is opened, in each of its languages.
import assert from 'node:assert/strict'
import { up } from '../../server/index.js'
import { history } from '../support/client/gallery.js'
import { drawnTiles, openPage, screens, shownAt } from './browser.js'
import { AWAY, onViewer } from '../support/viewer.js'

const FIRST_LOAD = 338_000 // bytes as transferred, without headers, which differ between stores

onViewer('the page', {}, (stage, kind) => {
  it('draws the newest tiles of the first layer and lists all', async () => {
    const page = await stage.visit()
    assert.ok(await drawnTiles(page) >= 4)
    await page.locator('.editions li').first().waitFor()
    assert.deepEqual(await page.locator('.layer .title').allTextContents(), ['Daylight', 'Land and borders'])
    assert.equal(await page.locator('[data-layer="daylight"]').getAttribute('aria-pressed'), 'true')
    assert.equal(await page.title(), 'Daylight · tilecouch')
    await page.getByText(/^2 layers · \d/).waitFor()
    assert.match(String(await page.locator('.leaflet-control-attribution').textContent()), /Natural Earth/)
    await page.locator('.thumbnail img').first().waitFor()
    assert.equal(await page.getByRole('button', { name: 'Newest' }).first().getAttribute('aria-pressed'), 'true')
  })

  for (const [locale, { lang, compare, newest, summary, date }] of Object.entries({
    'de-DE': {
      lang: 'de', compare: 'Vergleichen', newest: 'Neueste', summary: /^2 Ebenen · /, date: '20. Juni 2024, 01:00 UTC'
    },
    'fr-FR': {
      lang: 'fr', compare: 'Comparer', newest: 'Dernier état', summary: /^2 couches · .* ko$/,
      date: '20 juin 2024, 01:00 UTC'
    },
    es: { lang: 'es', compare: 'Comparar', newest: 'Lo último', summary: /^2 capas · /, date: '20 jun 2024, 1:00 UTC' },
    'en-US': {
      lang: 'en', compare: 'Compare', newest: 'Newest', summary: /^2 layers · /, date: 'Jun 20, 2024, 1:00 AM UTC'
    },
    'pt-BR': {
      lang: 'en', compare: 'Compare', newest: 'Newest', summary: /^2 layers · /, date: 'Jun 20, 2024, 1:00 AM UTC'
    }
  })) {
    it(`shows texts and dates for the locale ${locale}`, async () => {
      const page = await stage.open('#daylight@2024-06-20T01:00:00Z/2/0/0', { ...screens.desk, locale })
      await page.getByText(summary).waitFor()
      assert.equal(await page.locator('html').getAttribute('lang'), lang)
      await page.getByRole('button', { name: compare }).waitFor()
      await page.getByRole('button', { name: newest }).first().waitFor()
      const shown = String(await page.locator('.tilecouch-timeline-time').textContent()).replace(/[\u202f\u00a0]/g, ' ')
      if (lang !== 'en' || locale === 'en-US') assert.equal(shown, date)
      // no text of the page stays in English
      if (lang === 'en') return
      const english = /\b(the|and|layer|tiles?|edition|show|newest|changed?)\b/i
      const labels = await page.locator('[aria-label], [title], [placeholder]')
        .evaluateAll(nodes => nodes.filter(node => !node.closest('.layer, .leaflet-control-attribution'))
        .flatMap(node => ['aria-label', 'title', 'placeholder'].map(name => node.getAttribute(name) ?? ''))
          .filter(Boolean))
      assert.ok(labels.length > 20)
      assert.deepEqual(labels.filter(text => english.test(text.replace('Land and borders', ''))), [])
    })
  }

  it('uses the language that the address names', async () => {
    const page = await stage.visit('?lang=fr#land/1/0/0')
    await page.getByText(/^2 couches/).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'fr')
  })

  it('shows the only time of a layer with one edition, without an axis', async () => {
    const page = await stage.open('#land/1/0/0')
    await page.locator('.tilecouch-timeline-time', { hasText: '21 May 2018' }).waitFor()
    await page.getByText('The only time of this layer').waitFor()
    assert.equal(await page.locator('.tilecouch-timeline-axis').isVisible(), false)
    assert.equal(await page.getByRole('button', { name: 'Play', exact: true }).isVisible(), false)
  })

  it(`sends at most ${FIRST_LOAD / 1000} kB until the map is visible`, async () => {
    const { page, close } = await openPage(stage.browser)
    const network = await page.context().newCDPSession(page)
    // A repeated request counts once: if the change feed is slow, the page reads the history again.
    const requests = new Map()
    const headers = new Map()
    const sizes = new Map()
    network.on('Network.requestWillBeSent', ({ requestId, request: { method, url, postData } }) => {
      requests.set(requestId, [method, url, postData].join(' '))
    })
    network.on('Network.responseReceived', ({ requestId, response }) => {
      headers.set(requestId, response.encodedDataLength)
    })
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const request = requests.get(requestId)
      const size = encodedDataLength - (headers.get(requestId) ?? 0)
      sizes.set(request, Math.max(size, sizes.get(request) ?? 0))
    })
    await network.send('Network.enable')
    await page.goto(stage.address)
    await drawnTiles(page)
    await close()
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
    assert.ok(bytes > 100_000 && bytes <= FIRST_LOAD, `${bytes} bytes`)
  })

  it('shows the figures of a layer', async () => {
    const page = await stage.visit('#land')
    await page.locator('.facts summary').click()
    await page.locator('.facts dt', { hasText: 'Tiles' }).waitFor() // the last figure to arrive
    const terms = await page.locator('.facts dt').allTextContents()
    const values = await page.locator('.facts dd').allTextContents()
    const facts = Object.fromEntries(terms.map((term, index) => [term, values[index]]))
    assert.equal(facts.Layer, 'land')
    assert.equal(facts.Tiles, '21')
    assert.equal(facts.Versions, '21')
    assert.equal(facts.Zooms, '0–2')
    assert.match(facts.Size, /^\d+(\.\d)? kB$/)
    assert.equal(facts.First, '21 May 2018')
    assert.equal(facts.Last, '21 May 2018')
    assert.equal(facts.Source, 'Natural Earth, public domain')
    assert.equal(await page.locator('.address code').textContent(), `${stage.address}land/{z}/{x}/{y}.png`)
  })

  it('lists the editions by title, and goes to the time of the chosen one', async () => {
    const page = await stage.open('#daylight/2/10/20')
    await page.locator('.editions li').first().waitFor()
    assert.deepEqual(await page.locator('.editions li button > span:first-child').allTextContents(),
      ['Newest', '04:00 UTC', '03:00 UTC', '02:00 UTC', '01:00 UTC', '00:00 UTC'])
    await page.getByRole('button', { name: '01:00 UTC 20 Jun' }).click()
    await shownAt(page, '20 Jun 2024, 01:00 UTC')
    await page.waitForURL(/#daylight@2024-06-20T01:00:00Z\/2\/10\.00\/20\.00$/)
    assert.equal(await page.locator('.editions [aria-pressed="true"]').getAttribute('data-time'),
      '2024-06-20T01:00:00Z')
    assert.equal(await page.evaluate(() => /** @type {any} */ (document.activeElement).dataset.time),
      '2024-06-20T01:00:00Z', 'the focus stays')
    assert.equal(await page.locator('.address code').textContent(),
      `${stage.address}daylight@2024-06-20T01:00:00Z/{z}/{x}/{y}.png`)
  })

  it('reads many editions a page at a time, and finds one by a part of its name', async () => {
    const times =
      Array.from({ length: 60 }, (_, day) => new Date(Date.UTC(2020, 0, 1 + day)).toISOString().slice(0, 19) + 'Z')
    const docs = times.map(
      time => ({
        _id: `edition:many@${time}`, type: 'edition', layer: 'many',
        time, title: `Survey ${time.slice(5, 10)}`, finished: time
      })
    )
    await stage.store.defineLayer('many', { name: 'Many', minzoom: 0, maxzoom: 1 })
    await stage.store.couch.bulk(docs)
    const page = await stage.visit('#many/1/0/0')
    await page.getByText('The last 50 editions').waitFor()
    await page.getByRole('button', { name: 'Older editions' }).click()
    await page.getByText('60 editions').waitFor()
    await page.getByRole('searchbox').fill('02-1')
    assert.equal(await page.locator('.editions li:visible').count(), 10)
    // the next tests expect only the layers of the demo
    const { _rev } = await stage.store.couch.get('layer:many')
    await stage.store.couch.request({ method: 'DELETE', path: `layer:many?rev=${_rev}` })
    stage.allow(/404/)
  })

  it('changes the layer by keyboard, and keeps place and time', async () => {
    const page = await stage.open('#daylight@2024-06-20T02:00:00Z/2/30/40')
    await page.locator('[data-layer="land"]').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/#land@2024-06-20T02:00:00Z\/2\/30\.00\/40\.00$/)
    await drawnTiles(page)
    await page.waitForFunction(() => document.querySelectorAll('#map .leaflet-layer').length === 1)
    assert.equal(await page.title(), 'Land and borders · tilecouch')
    assert.equal(await page.evaluate(() => /** @type {any} */ (document.activeElement).dataset.layer), 'land')
  })

  it('opens at the place of a permalink, and follows changes of the address', async () => {
    const page = await stage.open('#land/2/-25.50/134.20')
    assert.equal(await page.locator('[data-layer="land"]').getAttribute('aria-pressed'), 'true')
    await page.waitForURL(/#land\/2\/-25\.50\/134\.20$/)
    await page.evaluate(() => { location.hash = '#daylight@2024-06-20T00:00:00Z/1/0/0' })
    await shownAt(page, '20 Jun 2024, 00:00 UTC')
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click()
    await page.waitForURL(/#daylight@2024-06-20T00:00:00Z\/2\//)
  })

  it('reads the database directly, or through its rewrites when a proxy hides the rest', async () => {
    let page = await stage.visit()
    await drawnTiles(page)
    assert.deepEqual(stage.front.requests('other').filter(({ path }) => path.includes('_rewrite/db')), [])
    stage.front.rule(({ path }) => path.startsWith('_design/tiles/_rewrite/') ? undefined : { status: 404, body: '{}' })
    page = await stage.visit()
    assert.ok(await drawnTiles(page) >= 4)
    await page.getByText(/^2 layers · \d/).waitFor()
    stage.allow(/404/)
  })

  it('has a folded sheet below map and timeline on a phone, and opens it', async () => {
    const page = await stage.visit('', screens.phone)
    assert.ok(await drawnTiles(page) > 0)
    const box = async selector => /** @type {any} */ (await page.locator(selector).boundingBox())
    const [map, timeline, panel] = [await box('#map'), await box('.tilecouch-timeline'), await box('#panel')]
    assert.equal(Math.round(panel.width), 390)
    assert.ok(map.height > 844 * 0.85, 'the map dominates')
    assert.ok(timeline.y + timeline.height <= panel.y && timeline.y > 844 * 0.6, 'the timeline is above the sheet')
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out')
    assert.match(String(await page.locator('h1').innerText()), /Daylight/)
    await page.getByRole('button', { name: 'Show the list' }).tap()
    assert.equal(await page.locator('.layers').isVisible(), true)
    assert.ok((await box('#map')).height > 844 * 0.5)
    await page.getByRole('button', { name: 'Hide the list' }).tap()
    assert.equal(await page.locator('.layers').isVisible(), false)
  })

  it('says that the store does not answer, and goes on by itself when it does', async () => {
    const unblock = stage.front.rule(({ path }) => path.includes('_all_docs')
      ? { status: 503, body: '{"reason":"not now"}' } : undefined)
    const page = await stage.visit('#daylight@2024-06-20T03:00:00Z/2/0/0')
    await page.getByRole('heading', { name: 'The store does not answer' }).waitFor()
    await page.getByText('not now').waitFor()
    unblock()
    await shownAt(page, '20 Jun 2024, 03:00 UTC')
    await page.waitForURL(/#daylight@2024-06-20T03:00:00Z\/2\/0\.00\/0\.00$/)
    stage.allow(/503/, AWAY)
  })

  // the embedded store has no such policy
  if (kind === 'CouchDB') it('names the command to run when a stock CouchDB forbids its scripts', async () => {
    await stage.backend.forbidScripts()
    try {
      const page = await stage.visit()
      await page.getByRole('heading', { name: 'The viewer may not run here' }).waitFor()
      assert.equal(await page.locator('noscript code').first().textContent(), 'tilecouch serve')
      assert.equal((await up({ db: stage.backend.database, demo: false })).blocked, true)
    } finally {
      await stage.backend.allowScripts()
    }
    assert.equal((await up({ db: stage.backend.database, demo: false })).blocked, false)
    stage.allow(/sandbox|CORS/i, AWAY) // errors of the forbidden scripts
  })

  it('zooms to a chosen layer that has only deeper zooms', async () => {
    const versions = await history('steps', { 1: [[7, 66, 44], [7, 67, 44]] })
    await stage.store.defineLayer('deep', { name: 'Deep', minzoom: 7, maxzoom: 7, bounds: [5.6, 47, 11.2, 49] })
    await stage.store.write(versions.map(version => ({ ...version, layer: 'deep' })))
    const page = await stage.open('#land/1/0/0')
    await page.locator('[data-layer="deep"]').click()
    await page.waitForURL(/#deep\/7\//)
    await page.locator('#map .tilecouch-tile img').first().waitFor()
  })

  it('follows a link to a layer of other zooms at the zoom of the link', async () => {
    await stage.store.defineLayer('broad', { minzoom: 0, maxzoom: 9 })
    await stage.store.defineLayer('close', { minzoom: 7, maxzoom: 9 })
    const page = await stage.open('#land/1/0/0')
    const follow = hash => page.evaluate(to => { location.hash = to }, hash)
    await follow('#broad/9/48/8')
    await page.waitForURL(/#broad\/9\/48\.000\/8\.000$/)
    await follow('#close/8/48/8')
    await page.waitForURL(/#close\/8\/48\.000\/8\.000$/)
    await follow('#broad/2/20/8')
    await page.waitForURL(/#broad\/2\/20\.00\/8\.00$/)
  })

  it('shows text of the store as text, and only its safe links as links', async () => {
    await stage.store.defineLayer('rude', {
      name: '<img src=x onerror="window.hurt=1">', minzoom: 30, maxzoom: 30,
      attribution: '<a href="https://example.org/" onclick="window.hurt=1">Someone</a> <a ' +
        'href="javascript:window.hurt=1">else</a><script>window.hurt=1</script>'
    })
    const page = await stage.visit('#rude')
    await page.locator('.facts summary').click()
    await page.locator('.facts dd a').waitFor()
    assert.equal(await page.locator('[aria-pressed="true"] .title').first().textContent(),
      '<img src=x onerror="window.hurt=1">')
    const links = page.locator('.facts dd a')
    assert.deepEqual(await links.evaluateAll(nodes => nodes.map(node => node.outerHTML)),
      ['<a href="https://example.org/" rel="noopener" target="_blank">Someone</a>'])
    assert.equal(await page.evaluate(() => /** @type {any} */ (window).hurt), undefined)
    stage.allow(/inline event handler/) // Chromium reports forbidden handlers when it parses them
  })
})
