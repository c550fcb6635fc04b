// A store whose answers have errors for some documents, or leave them out: nothing is taken for missing because of
// that.
import assert from 'node:assert/strict'
import path from 'node:path'
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
import { square } from '../support/tiles.js'
import { publishFunctions } from '../support/published.js'

const T = year => `${year}-01-01T00:00:00Z`
const SIDE = 4
const fast = { firstDelay: 2, longestDelay: 4 }

onEachStore('bulk answers with errors or missing rows', backend => {
  const folder = useFolder()
  let url, store, faulty, through
  const made = []

  beforeEach(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { format: 'png' })
    await publishFunctions(store)
    for (
      const [year, seed] of /** @type {const} */ (
        [[2020, (x, y) => x * SIDE + y], [2021, (x, y) => x < 2 ? 100 + x * SIDE + y : undefined],
          [2022, (x, y) => x === 0 ? 200 + y : x === 3 ? null : undefined]]
      )
    ) {
      await store.write(square({ layer: 'osm', time: T(year), side: SIDE, seed }))
      await store.putEdition('osm', T(year), { title: `${year}` })
    }
    faulty = await startFaulty(url)
    through = new Store(new Couch(faulty.url, fast))
  })
  afterEach(async () => {
    await faulty.close()
    await store.destroy()
    for (const one of made.splice(0)) await request(one, { method: 'DELETE' })
  })

  const another = async () => {
    made.push(await backend.database())
    return made.at(-1)
  }
  const begin = () => { faulty.fault = wrongOnce() }
  const wasSpoilt = () => assert.ok(faulty.faults > 0, 'something was wrong')
  const contentsOf = async (of, layer) => {
    const { rows } = await of.couch.request(
      { path: '_all_docs', qs: { startkey: `${layer}:`, endkey: `${layer};`, include_docs: true } }
    )
    return rows.map(({ id, doc }) => [id.slice(layer.length), doc.time, doc._attachments?.tile.digest ?? null])
  }

  const places = side => Array.from({ length: side * side }, (_, at) => `5/${Math.floor(at / side)}/${at % side}`)

  it('lose no past version in a load that overwrites heads', async () => {
    begin()
    const { advanced, unchanged, failed } = await load(through, memorySource(
      Object.fromEntries(places(SIDE).map((place, at) => [place, at % 2 ? 300 + at : 200 + at % SIDE]))
    ), { layer: 'osm', time: T(2023) })
    wasSpoilt()
    assert.deepEqual([advanced + unchanged, failed], [16, 0])
    const times = (await checkInvariants(url)).get('osm:5:1:1').map(({ time }) => time).sort()
    assert.deepEqual(times, [T(2020), T(2021), T(2023)])
  })

  it('make only those tiles gone that a complete source lacks', async () => {
    begin()
    const done = await load(through, memorySource({ '5/0/0': 200, '5/1/1': 105, '5/2/2': 10 }),
      { layer: 'osm', time: T(2024), complete: true })
    wasSpoilt()
    assert.equal(done.failed, 0)
    const shown = (await contentsOf(store, 'osm')).filter(([id]) => !id.includes('@'))
    assert.deepEqual(shown.filter(([, , digest]) => digest).map(([id]) => id).sort(), [':5:0:0', ':5:1:1', ':5:2:2'])
    await checkInvariants(url)
  })

  it('leave nothing out of a copy, from either side', async () => {
    begin()
    const target = await Store.create(await another())
    await publishFunctions(target)
    await copyLayer(target, 'osm', 'two', { source: through, limits: { tiles: 5, batch: 3 } })
    wasSpoilt()
    assert.deepEqual(await contentsOf(target, 'two'), await contentsOf(store, 'osm'))
    faulty.fault = undefined
    await target.write(square({ layer: 'two', time: T(2023), side: SIDE, seed: (x, y) => 400 + x + y }))
    begin()
    await copyLayer(through, 'two', 'osm', { source: target })
    assert.deepEqual(await contentsOf(target, 'two'), await contentsOf(store, 'osm'))
    await checkInvariants(url)
  }).timeout(60000)

  it('leave nothing out of a mirror, whole or of a part', async () => {
    for (const wanted of [{}, { layers: ['osm'], since: '2021-06-01' }]) {
      const [direct, target] = [await another(), await another()]
      await mirror(url, direct, wanted)
      begin()
      await mirror(faulty.url, target, wanted)
      wasSpoilt()
      assert.deepEqual(await differences(direct, target, { revpos: backend.name === 'CouchDB' }), [])
    }
  }).timeout(60000)

  it('leave nothing out of an export, a diff and a backup', async () => {
    const tree = async (of, name) => {
      const { tiles } = await exportLayer(of, 'osm', path.join(folder.dir, name), { time: '2021' })
      return tiles
    }
    const told = async of => {
      const lines = []
      const { tiles } = await diff(of, 'osm@2020', 'osm@2022',
        { onTile: ({ kind, ...at }) => { lines.push(JSON.stringify([kind, at.id ?? at.z, at.x, at.y])) } })
      return [lines, tiles]
    }
    const expected = [await tree(store, 'direct'), await told(store)]
    begin()
    assert.deepEqual([await tree(through, 'through'), await told(through)], expected)
    wasSpoilt()
    begin()
    const file = path.join(folder.dir, 'a.tcb')
    await backup(through, file)
    const to = await another()
    await restore([file], to, { rights: 'give' })
    assert.deepEqual(await differences(url, to, { revpos: backend.name === 'CouchDB' }), [])
  }).timeout(60000)

  it('add no findings to a check', async () => {
    const findings = async of => {
      const found = []
      await check(of, { onFinding: ({ code, where }) => found.push(`${code} ${where}`) })
      return found.sort()
    }
    const expected = await findings(store)
    begin()
    assert.deepEqual(await findings(through), expected)
    wasSpoilt()
  }).timeout(30000)

  it('leave nothing out of the gateway, where a tile that never arrives is NO_ANSWER', async () => {
    const reader = new StoreReader(through, {
      cache: { changes: new RecentChanges(), takeDocument: (id, doc) => doc, takeTimeline: (id, moments) => moments }
    })
    const all = () => Promise.all(places(SIDE).flatMap(place => {
      const id = `osm:${place.replaceAll('/', ':')}`
      return [reader.documents.get(id), reader.timelines.get(id)]
    }))
    const expected = await all()
    begin()
    assert.deepEqual(await all(), expected)
    wasSpoilt()
    faulty.fault = ({ id }) => /osm:5:1:1\b/.test(id) ? 'missing' : undefined
    const [bad, good, badLine] = await Promise.allSettled([reader.documents.get('osm:5:1:1'),
      reader.documents.get('osm:5:0:1'), reader.timelines.get('osm:5:1:1'), reader.timelines.get('osm:5:0:1')])
    assert.deepEqual([bad.reason?.code, badLine.reason?.code, good.value?._id], ['NO_ANSWER', 'NO_ANSWER', 'osm:5:0:1'])
  })

  it('do not keep the store from extending every head', async () => {
    faulty.fault = wrongOnce({ written: 'missing' })
    const ids = places(SIDE).map(place => `osm:${place.replaceAll('/', ':')}`)
    const { extended, changed } = await through.extend(ids.map(id => ({ id, expires: T(2030) })))
    wasSpoilt()
    assert.equal(extended.size + changed.length, 16)
    for (const { doc } of await store.couch.docs(ids)) assert.equal(doc.expires, T(2030))
  })

  it('end in NO_ANSWER with the missing ids if the error persists, and nothing is written', async () => {
    faulty.fault = ({ path: asked, id }) => asked === '_bulk_get' && id === 'osm:5:1:1' ? 'error' : undefined
    const before = await contentsOf(store, 'osm')
    const named = error => {
      assert.deepEqual([error.code, error.details.ids], ['NO_ANSWER', ['osm:5:1:1']])
      return true
    }
    await assert.rejects(load(through, memorySource({ '5/1/1': 500 }), { layer: 'osm', time: T(2023) }), named)
    assert.deepEqual(await contentsOf(store, 'osm'), before)
    const target = await Store.create(await another())
    await assert.rejects(copyLayer(target, 'osm', 'two', { source: through }), named)
    await assert.rejects(through.couch.docs(['osm:5:1:1', 'osm:9:9:9']), named)
  })
})
