import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Store } from '../../loader/index.js'
import { demoEditions, isDemoWanted, loadDemo } from '../../server/demo/index.js'
import { startEmbedded } from '../../server/index.js'

const small = { zooms: { min: 0, max: 2 }, hours: 4, surveys: 0 }

describe('loading the demo', () => {
  let folder
  let server
  let store
  let databases = 0

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-demo-'))
    server = await startEmbedded({ dir: folder, admins: 'everybody' })
  })

  after(async () => {
    await server?.close()
    await rm(folder, { recursive: true, force: true })
  })

  beforeEach(async () => {
    store = await Store.create(`${server.url}/demo_${++databases}`)
  })

  it('fills an empty store with an edition for each hour, which holds only changed tiles', async () => {
    assert.equal(await isDemoWanted(store), true)
    const { editions, tiles } = await loadDemo(store, small)
    assert.equal(editions, 5)
    const daylight = await store.editions('daylight')
    assert.deepEqual(daylight.map(({ title }) => title), ['00:00 UTC', '01:00 UTC', '02:00 UTC', '03:00 UTC'])
    assert.ok(daylight.every(({ finished, failed }) => finished && !failed))
    assert.equal(daylight[0].created, 21)
    assert.ok(daylight.slice(1).every(({ advanced }) => advanced > 3 && advanced < 21))
    assert.equal(tiles, 42 + daylight.slice(1).reduce((sum, { advanced }) => sum + advanced, 0))
    const layers = await store.layers()
    for (const layer of layers) {
      assert.match(layer.attribution, /Natural Earth/)
      assert.deepEqual([layer.minzoom, layer.bounds.map(Math.round)], [0, [-180, -85, 180, 85]])
    }
    assert.deepEqual(layers.map(({ layer }) => layer), ['daylight', 'land'])
  })

  it('makes the town the first layer, with surveys every ten years as images and vector tiles', async () => {
    await loadDemo(store, { zooms: { min: 0, max: 0 }, hours: 1, surveys: 2 })
    const { opens } = await store.couch.get('tilecouch')
    assert.equal(opens, 'tilby-map')
    for (const [layer, format] of [['tilby-map', 'png'], ['tilby', 'pbf']]) {
      const editions = await store.editions(layer)
      assert.deepEqual(editions.map(({ title }) => title), ['Survey of 1930', 'Survey of 1940'])
      assert.ok(editions[1].advanced > 5, `${layer}: the town has grown`)
      assert.equal((await store.layer(layer)).format, format)
    }
  })

  it('is not wanted again afterwards', async () => {
    await loadDemo(store, small)
    assert.equal(await isDemoWanted(store), false)
  })

  it('continues after a stop, without loading finished editions again', async () => {
    const stop = new AbortController()
    const seen = []
    const stopped = loadDemo(store, {
      ...small,
      signal: stop.signal,
      onProgress: ({ layer, title }) => {
        seen.push(`${layer} ${title}`)
        if (title === '01:00 UTC') stop.abort()
      }
    })
    await assert.rejects(stopped, { code: 'ABORTED' })
    assert.ok(!seen.includes('daylight 02:00 UTC'))
    assert.equal(await isDemoWanted(store), true)

    const again = []
    await loadDemo(store, { ...small, onProgress: ({ title }) => again.push(title) })
    assert.deepEqual([...new Set(again)], ['01:00 UTC', '02:00 UTC', '03:00 UTC'],
      'finished editions are not loaded again')
    assert.equal(await isDemoWanted(store), false)

    const whole = await Store.create(`${server.url}/demo_${++databases}`)
    await loadDemo(whole, small)
    const outline = async of => (
      await of.couch.request({ path: '_all_docs', qs: { startkey: 'daylight:', endkey: 'land;' } })
    ).rows.map(row => row.id)
    assert.deepEqual(await outline(store), await outline(whole))
  })

  it('is not wanted for a store with another layer', async () => {
    await store.defineLayer('osm', { name: 'mine' })
    assert.equal(await isDemoWanted(store), false)
  })

  it('is not wanted for a store with a layer of the same name', async () => {
    await store.defineLayer('land', { description: 'my own land' })
    assert.equal(await isDemoWanted(store), false)
  })

  it('lists its editions of each layer in the order of time', () => {
    const editions = demoEditions()
    assert.equal(editions.length, 45)
    const times = editions.filter(({ layer }) => layer === 'daylight').map(({ time }) => time)
    assert.deepEqual(times, [...times].sort())
    assert.equal(times.at(-1), '2024-06-20T23:00:00Z')
  })
})
