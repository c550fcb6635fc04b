// A store whose bulk answers have errors for some documents, or lack them: no program takes such a document for
// missing.
import assert from 'node:assert/strict'
import { backup } from '../../loader/backup/index.js'
import { restore } from '../../loader/backup/restore.js'
import { check } from '../../loader/check/index.js'
import { copyLayer } from '../../loader/maintain/copy/index.js'
import { diff } from '../../loader/export/diff/index.js'
import { exportLayer } from '../../loader/export/index.js'
import { load } from '../../loader/load/index.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { RecentChanges } from '../../server/gateway/tiles/recent-changes.js'
import { StoreReader } from '../../server/gateway/tiles/reader.js'
import { differences } from '../mirror/compare.js'
import { onEachStore, request } from '../support/backends.js'
import { startFaulty, wrongOnce } from '../support/faulty-store.js'
import { useFolder } from '../support/folder.js'
import { checkInvariants } from '../support/invariants.js'
import { memorySource } from '../support/memory-source.js'
import { square, yearStart } from '../support/tiles.js'
import { publishFunctions } from '../support/published.js'

const SIDE = 4
const fast = { firstDelay: 2, longestDelay: 4 }

onEachStore('bulk answers with errors or missing rows', backend => {
  const folder = useFolder()
  let url, store, faulty, faultyStore
  const databases = []

  beforeEach(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { format: 'png' })
    await publishFunctions(store)
    const seeds = {
      2020: (x, y) => x * SIDE + y,
      2021: (x, y) => x < 2 ? 100 + x * SIDE + y : undefined,
      2022: (x, y) => ({ 0: 200 + y, 3: null })[x]
    }
    for (const [year, seed] of Object.entries(seeds)) {
      await store.write(square({ layer: 'osm', time: yearStart(+year), side: SIDE, seed }))
      await store.putEdition('osm', yearStart(+year), { title: year })
    }
    faulty = await startFaulty(url)
    faultyStore = new Store(new Couch(faulty.url, fast))
  })
  afterEach(async () => {
    await faulty.close()
    await store.destroy()
    for (const database of databases.splice(0)) await request(database, { method: 'DELETE' })
  })

  const newDatabase = async () => {
    databases.push(await backend.database())
    return databases.at(-1)
  }
  const startFaults = () => { faulty.fault = wrongOnce() }
  const assertFaulted = () => assert.ok(faulty.faults > 0, 'something was wrong')
  const contentsOf = async (source, layer) => {
    const { rows } = await source.couch.request(
      { path: '_all_docs', qs: { startkey: `${layer}:`, endkey: `${layer};`, include_docs: true } }
    )
    return rows.map(({ id, doc }) => [id.slice(layer.length), doc.time, doc._attachments?.tile.digest ?? null])
  }

  const places = side => Array.from({ length: side * side }, (_, n) => `5/${Math.floor(n / side)}/${n % side}`)

  it('lose no past version in a load that overwrites heads', async () => {
    startFaults()
    const { advanced, unchanged, failed } = await load(faultyStore, memorySource(
      Object.fromEntries(places(SIDE).map((place, n) => [place, n % 2 ? 300 + n : 200 + n % SIDE]))
    ), { layer: 'osm', time: yearStart(2023) })
    assertFaulted()
    assert.deepEqual([advanced + unchanged, failed], [16, 0])
    const times = (await checkInvariants(url)).get('osm:5:1:1').map(({ time }) => time).sort()
    assert.deepEqual(times, [yearStart(2020), yearStart(2021), yearStart(2023)])
  })

  it('make only those tiles gone that a complete source lacks', async () => {
    startFaults()
    const summary = await load(faultyStore, memorySource({ '5/0/0': 200, '5/1/1': 105, '5/2/2': 10 }),
      { layer: 'osm', time: yearStart(2024), complete: true })
    assertFaulted()
    assert.equal(summary.failed, 0)
    const heads = (await contentsOf(store, 'osm')).filter(([id]) => !id.includes('@'))
    assert.deepEqual(heads.filter(([, , digest]) => digest).map(([id]) => id).sort(), [':5:0:0', ':5:1:1', ':5:2:2'])
    await checkInvariants(url)
  })

  it('leave nothing out of a copy, from either side', async () => {
    startFaults()
    const target = await Store.create(await newDatabase())
    await publishFunctions(target)
    await copyLayer(target, 'osm', 'two', { source: faultyStore, limits: { tiles: 5, batch: 3 } })
    assertFaulted()
    assert.deepEqual(await contentsOf(target, 'two'), await contentsOf(store, 'osm'))
    faulty.fault = undefined
    await target.write(square({ layer: 'two', time: yearStart(2023), side: SIDE, seed: (x, y) => 400 + x + y }))
    startFaults()
    await copyLayer(faultyStore, 'two', 'osm', { source: target })
    assert.deepEqual(await contentsOf(target, 'two'), await contentsOf(store, 'osm'))
    await checkInvariants(url)
  }).timeout(60000)

  it('leave nothing out of a mirror, whole or of a part', async () => {
    for (const options of [{}, { layers: ['osm'], since: '2021-06-01' }]) {
      const [direct, target] = [await newDatabase(), await newDatabase()]
      await mirror(url, direct, options)
      startFaults()
      await mirror(faulty.url, target, options)
      assertFaulted()
      assert.deepEqual(await differences(direct, target, { revpos: backend.name === 'CouchDB' }), [])
    }
  }).timeout(60000)

  it('leave nothing out of an export, a diff and a backup', async () => {
    const exportTiles = async (source, name) => {
      const { tiles } = await exportLayer(source, 'osm', folder.path(name), { time: '2021' })
      return tiles
    }
    const diffLines = async source => {
      const lines = []
      const { tiles } = await diff(source, 'osm@2020', 'osm@2022',
        { onTile: ({ kind, ...tile }) => { lines.push(JSON.stringify([kind, tile.id ?? tile.z, tile.x, tile.y])) } })
      return [lines, tiles]
    }
    const expected = [await exportTiles(store, 'direct'), await diffLines(store)]
    startFaults()
    assert.deepEqual([await exportTiles(faultyStore, 'through'), await diffLines(faultyStore)], expected)
    assertFaulted()
    startFaults()
    const file = folder.path('a.tcb')
    await backup(faultyStore, file)
    const to = await newDatabase()
    await restore([file], to, { rights: 'give' })
    assert.deepEqual(await differences(url, to, { revpos: backend.name === 'CouchDB' }), [])
  }).timeout(60000)

  it('add no findings to a check', async () => {
    const findings = async source => {
      const lines = []
      await check(source, { onFinding: ({ code, where }) => lines.push(`${code} ${where}`) })
      return lines.sort()
    }
    const expected = await findings(store)
    startFaults()
    assert.deepEqual(await findings(faultyStore), expected)
    assertFaulted()
  }).timeout(30000)

  it('leave nothing out of the gateway, where a tile that never arrives is NO_ANSWER', async () => {
    const reader = new StoreReader(faultyStore, {
      cache: { changes: new RecentChanges(), takeDocument: (id, doc) => doc, takeTimeline: (id, moments) => moments }
    })
    const readAll = () => Promise.all(places(SIDE).flatMap(place => {
      const id = `osm:${place.replaceAll('/', ':')}`
      return [reader.documents.get(id), reader.timelines.get(id)]
    }))
    const expected = await readAll()
    startFaults()
    assert.deepEqual(await readAll(), expected)
    assertFaulted()
    faulty.fault = ({ id }) => /osm:5:1:1\b/.test(id) ? 'missing' : undefined
    const [badDocument, goodDocument, badTimeline] = await Promise.allSettled([reader.documents.get('osm:5:1:1'),
      reader.documents.get('osm:5:0:1'), reader.timelines.get('osm:5:1:1'), reader.timelines.get('osm:5:0:1')])
    assert.deepEqual([badDocument.reason?.code, badTimeline.reason?.code, goodDocument.value?._id],
      ['NO_ANSWER', 'NO_ANSWER', 'osm:5:0:1'])
  })

  it('do not keep the store from extending every head', async () => {
    faulty.fault = wrongOnce({ written: 'missing' })
    const ids = places(SIDE).map(place => `osm:${place.replaceAll('/', ':')}`)
    const { extended, changed } = await faultyStore.extend(ids.map(id => ({ id, expires: yearStart(2030) })))
    assertFaulted()
    assert.equal(extended.size + changed.length, 16)
    for (const { doc } of await store.couch.docs(ids)) assert.equal(doc.expires, yearStart(2030))
  })

  it('end in NO_ANSWER with the missing ids if the error persists, and nothing is written', async () => {
    faulty.fault = ({ path: endpoint, id }) => endpoint === '_bulk_get' && id === 'osm:5:1:1' ? 'error' : undefined
    const contentsBefore = await contentsOf(store, 'osm')
    const checkIds = error => {
      assert.deepEqual([error.code, error.details.ids], ['NO_ANSWER', ['osm:5:1:1']])
      return true
    }
    await assert.rejects(load(faultyStore, memorySource({ '5/1/1': 500 }), { layer: 'osm', time: yearStart(2023) }),
      checkIds)
    assert.deepEqual(await contentsOf(store, 'osm'), contentsBefore)
    const target = await Store.create(await newDatabase())
    await assert.rejects(copyLayer(target, 'osm', 'two', { source: faultyStore }), checkIds)
    await assert.rejects(faultyStore.couch.docs(['osm:5:1:1', 'osm:9:9:9']), checkIds)
  })
})
