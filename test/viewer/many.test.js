// A store of many layers: they are found, they stand in groups, and the first visit is small.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { history, tilesOf } from '../support/client/gallery.js'
import { drawnTiles, screens } from './browser.js'
import { onViewer } from '../support/viewer.js'

const LAYERS = 40
const FIRST_LOAD = 400000 // bytes

onViewer('many layers', { demo: false }, stage => {
  before(async () => {
    for (let number = 1; number <= LAYERS; number++) {
      const [prefix, group] = number % 2 ? ['aerial', undefined] : ['topo', 'Topographic maps']
      const layer = `${prefix}-${number}`
      await stage.store.defineLayer(layer, { name: `Sheet ${number}`, minzoom: 0, maxzoom: 2, ...(group && { group }) })
      await stage.store.write(await history(layer, { 1: [...tilesOf(0), ...tilesOf(1), ...tilesOf(2)], 2: tilesOf(0) }))
    }
  })
  /** Nothing is on its way but the wait for changes. */
  const rest =
    () => until(() => stage.front.requests().every(({ kind, done }) => kind === 'changes' || done), { what: 'a rest' })
  const titles = page => page.locator('.layer:visible .title').allTextContents()

  it('are grouped, sorted by the numbers in their names, and found by a part of a name', async () => {
    const page = await stage.visit('#aerial-1/2/0/0')
    await drawnTiles(page)
    assert.deepEqual(await page.locator('.group').allTextContents(), ['aerial', 'Topographic maps'])
    const all = await titles(page)
    assert.deepEqual([all.length, ...all.slice(0, 6)],
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
    await rest()
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
      const page = await stage.visit('#aerial-1/2/0/0', options)
      await drawnTiles(page)
      await page.getByText(/^40 layers · \d/).waitFor()
      await page.evaluate(() => navigator.serviceWorker.ready.then(({ active }) => active?.state))
      await rest()
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
