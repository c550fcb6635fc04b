/* global document, getComputedStyle, innerWidth, location -- of the page, in functions that run there */
// Tests layers over each other and on a base map, and the settings of the operator: name, colour and first layer. The
// page cannot draw a layer in another grid than Web Mercator, and does not offer it as a map. A store of many layers
// shows them in groups, finds them by name, and keeps the first visit small.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { history, tilesOf } from '../support/client/gallery.js'
import { drawnTiles, resize, screens } from './browser.js'
import { onViewer } from '../support/viewer.js'

const LAYERS = 40 // in the store of many layers
const FIRST_LOAD = 400000 // bytes of a first visit to this store

onViewer('layers over each other', { layers: ['steps', 'bounded', 'deep', 'swiss'], demo: false }, stage => {
  const settings = fields => stage.store.couch.update('tilecouch', doc => ({ ...doc, ...fields }))
  /** The z-index and opacity of the layers on the map, from the bottom to the top. */
  const onMap = page => page.locator('#map .leaflet-tile-pane > .leaflet-layer').evaluateAll(nodes => nodes
    .map(({ style }) => [Number(/** @type {any} */ (style).zIndex), Number(/** @type {any} */ (style).opacity || 1)])
      .sort(([a], [b]) => a - b))
  const base = page => page.getByRole('combobox', { name: 'Base map' })
  const elsewhere = page => page.locator('.elsewhere')

  it('are added, faded, moved and removed, and a link restores all of it', async () => {
    const page = await stage.open('#steps/3/0/0')
    assert.equal((await onMap(page)).length, 1)
    await page.getByRole('button', { name: 'Show “bounded” over the map' }).click()
    await page.waitForURL(/#steps\/3\/0\.00\/0\.00&layers=\*,bounded$/)
    assert.deepEqual(await onMap(page), [[10, 1], [20, 1]])
    await page.getByRole('slider', { name: 'Opacity of “bounded”' }).fill('40')
    await page.waitForURL(/&layers=\*,bounded:40$/)
    assert.deepEqual(await onMap(page), [[10, 1], [20, 0.4]])
    await page.getByRole('button', { name: '“bounded” lower' }).click()
    await page.waitForURL(/&layers=bounded:40,\*$/)
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
      '“bounded” lower', 'the focus stays')
    assert.deepEqual(await onMap(page), [[10, 0.4], [20, 1]])
    const { href } = new URL(page.url())
    await page.goto('about:blank')
    await page.goto(href)
    await drawnTiles(page)
    assert.deepEqual(await onMap(page), [[10, 0.4], [20, 1]])
    await page.getByRole('button', { name: 'Take “bounded” off the map' }).click()
    await page.waitForURL(/#steps\/3\/0\.00\/0\.00$/)
    assert.equal((await onMap(page)).length, 1)
  })

  it('are left out when a link names them and the store does not have them', async () => {
    const page = await stage.open('#steps/3/0/0&base=nothing&layers=nothing:40,*')
    await page.waitForURL(/#steps\/3\/0\.00\/0\.00$/)
    assert.equal(await base(page).inputValue(), '')
    assert.equal((await onMap(page)).length, 1)
  })

  it('lie on the chosen base map, which is never the layer itself', async () => {
    const page = await stage.visit('#bounded/3/0/-100')
    await base(page).selectOption('steps')
    await page.waitForURL(/#bounded\/3\/0\.00\/-100\.00&base=steps$/)
    await page.waitForFunction(
      () => [...document.querySelectorAll('#map .leaflet-layer img.leaflet-tile-loaded')].length > 2
    )
    assert.equal((await onMap(page))[0][0], 1)
    await page.locator('[data-layer="steps"]').click()
    await page.waitForURL(/#steps\//)
    await drawnTiles(page)
    assert.equal((await onMap(page)).filter(([level]) => level === 1).length, 0, 'not under itself')
  })

  it('lie on the base map of the operator, who also sets the first layer, title and colour', async () => {
    await settings({
      base: 'deep', opens: 'steps', title: 'Maps of <b>Bern</b>', description: 'The <i>town</i> since 1850.',
      colours: { light: '#7a3e9d' }
    })
    const page = await stage.open()
    await page.waitForURL(/#steps\/[\d.]+\/[\d.-]+\/[\d.-]+$/)
    assert.equal(await page.locator('h1').evaluate(node => node.firstChild?.textContent), 'Maps of <b>Bern</b>')
    assert.equal(await page.title(), 'Steps · Maps of <b>Bern</b>')
    assert.equal(await page.locator('#lead').textContent(), 'The <i>town</i> since 1850.')
    assert.equal(await page.evaluate(
      () => getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()
    ), '#7a3e9d')
    assert.equal(await base(page).inputValue(), 'deep')
    await base(page).selectOption('')
    await page.waitForURL(/&base=-$/)
    await settings({
      base: {
        url: '{z}/{x}/{y}.png', name: 'Made elsewhere',
        attribution: '<a href="https://example.org/">Somebody</a><script>1</script>'
      }
    })
    await page.route('**/3/*/*.png',
      route => route.fulfill({
        status: 200, contentType: 'image/svg+xml',
        body: '<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"/>'
      }))
    await page.goto('about:blank')
    await page.goto(`${stage.address}#bounded/3/0/-100`)
    await page.locator('.leaflet-control-attribution a', { hasText: 'Somebody' }).waitFor()
    assert.deepEqual(await base(page).locator('option').allTextContents(),
      ['None', 'Made elsewhere', 'bounded', 'deep', 'Steps'])
    await settings({ base: undefined, opens: undefined, title: undefined, description: undefined, colours: undefined })
    stage.allow(/404/)
  })

  it('in another grid are listed with programs that draw them, and not offered as if the page could', async () => {
    const page = await stage.visit('#swiss')
    for (const screen of [screens.phone, screens.desk]) {
      await resize(page, screen)
      await elsewhere(page).waitFor()
      assert.match(String(await elsewhere(page).textContent()),
        /“swiss” is not in Web Mercator.*LV95.*Leaflet and OpenLayers draw it; QGIS and GDAL do through a gateway/)
      assert.equal(await elsewhere(page).locator('code').textContent(), `${stage.address}swiss/{z}/{x}/{y}.png`)
      assert.equal(await page.locator('[data-layer="swiss"]').count(), 1)
      assert.deepEqual([await page.locator('#map .leaflet-tile').count(),
        stage.front.requests('tile', 'swiss').filter(({ path }) => path.includes('rev=')).length], [0, 0])
      assert.ok(!await page.locator('#time').isVisible() && !await page.locator('.toast').count())
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out')
    }
    const options = select => page.locator(`${select} option`).evaluateAll(list => list.map(option => option.value))
    await page.evaluate(() => { location.hash = '#steps/3/0/0' })
    await page.waitForFunction(() => !document.querySelector('.elsewhere') &&
      document.querySelectorAll('#map .leaflet-tile-loaded').length >= 4)
    assert.ok(await drawnTiles(page) >= 4)
    assert.deepEqual(await options('.on-map select'), ['', 'bounded', 'deep', 'steps'])
    assert.ok(!await page.locator('li:has([data-layer="swiss"]) .over').isVisible())
    await page.locator('[data-does="compare"]').first().click()
    await page.locator('.side select').first().waitFor({ state: 'attached' })
    assert.ok(!(await options('.side select')).includes('swiss'))
    await page.evaluate(() => { location.hash = '#swiss' })
    await elsewhere(page).waitFor()
    await page.waitForFunction(() => !document.querySelector('#map .leaflet-tile'))
  })

  it('are not opened first when they are empty', async () => {
    await stage.store.defineLayer('aaa', { name: 'A layer without tiles', minzoom: 3, maxzoom: 3 })
    const page = await stage.open()
    assert.equal(await page.locator('.layer .title').first().textContent(), 'A layer without tiles')
    assert.equal(await page.locator('[data-layer="aaa"]').getAttribute('aria-pressed'), 'false')
    await page.waitForURL(/#bounded\//)
  })
})

onViewer('many layers', { demo: false }, stage => {
  before(async () => {
    for (let number = 1; number <= LAYERS; number++) {
      const [prefix, group] = number % 2 ? ['aerial', undefined] : ['topo', 'Topographic maps']
      const layer = `${prefix}-${number}`
      await stage.store.defineLayer(layer, { name: `Sheet ${number}`, minzoom: 0, maxzoom: 2, ...(group && { group }) })
      await stage.store.write(await history(layer, { 1: [...tilesOf(0), ...tilesOf(1), ...tilesOf(2)], 2: tilesOf(0) }))
    }
  })
  /** Waits until only the request for changes is open. */
  const waitUntilIdle =
    () => until(() => stage.front.requests().every(({ kind, done }) => kind === 'changes' || done), { what: 'a rest' })
  const titles = page => page.locator('.layer:visible .title').allTextContents()

  it('are grouped, sorted by the numbers in their names, and found by a part of a name', async () => {
    const page = await stage.open('#aerial-1/2/0/0')
    assert.deepEqual(await page.locator('.group').allTextContents(), ['aerial', 'Topographic maps'])
    const visibleTitles = await titles(page)
    assert.deepEqual([visibleTitles.length, ...visibleTitles.slice(0, 6)],
      [LAYERS, 'Sheet 1', 'Sheet 3', 'Sheet 5', 'Sheet 7', 'Sheet 9', 'Sheet 11'])
    await page.getByRole('searchbox', { name: 'Find a layer' }).fill('topo 3')
    assert.deepEqual(await titles(page), [30, 32, 34, 36, 38].map(number => `Sheet ${number}`))
    await page.getByRole('searchbox', { name: 'Find a layer' }).fill('nothing like it')
    await page.getByText('No layer matches “nothing like it”.').waitFor()
    await page.getByRole('searchbox', { name: 'Find a layer' }).fill('')
    assert.equal((await titles(page)).length, LAYERS)
  })

  it('load their pictures only when they come into view', async () => {
    const page = await stage.visit('#aerial-1/2/0/0')
    await page.locator('.thumbnail img').first().waitFor()
    await waitUntilIdle()
    const before = await page.locator('.thumbnail img').count()
    assert.ok(before > 0 && before < 15, `${before} at first`)
    await page.locator('[data-layer="topo-40"]').scrollIntoViewIfNeeded()
    await page.locator('[data-layer="topo-40"] .thumbnail img').waitFor()
    const heads = stage.front.requests('tile').filter(({ path }) => /:0:0:0\/tile$/.test(decodeURIComponent(path)))
    assert.equal(new Set(heads.map(({ path }) => path)).size, heads.length, 'each comes once')
  })

  it(`need at most ${FIRST_LOAD / 1000} kB on a first visit`, async () => {
    for (const options of [screens.desk, screens.phone]) {
      stage.front.forget()
      const page = await stage.open('#aerial-1/2/0/0', options)
      await page.getByText(/^40 layers · \d/).waitFor()
      await page.evaluate(() => navigator.serviceWorker.ready.then(({ active }) => active?.state))
      await waitUntilIdle()
      const requests = stage.front.requests()
      assert.ok(requests.filter(({ path }) => path.includes('by_zoom')).every(({ bytes: { down } }) => down < 25000),
        'figures of every zoom of every layer are large')
      const bytes = requests.reduce((sum, { bytes: { down } }) => sum + down, 0)
      const largest = requests.map(({ path, bytes: { down } }) => [path.slice(0, 60), down])
        .sort((a, b) => Number(b[1]) - Number(a[1])).slice(0, 8)
      assert.ok(bytes <= FIRST_LOAD,
        `${bytes} bytes in ${requests.length} requests: ${JSON.stringify(largest)}`)
    }
  })
})
