// Bytes that a disk has damaged: they are found and left, and right after they were deleted and loaded again.
import assert from 'node:assert/strict'
import { check } from '../../loader/check/index.js'
import { load } from '../../loader/index.js'
import { written } from '../../loader/store/revisions.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { document, flipped, tile } from '../support/sample-tiles.js'
import { plant } from './damage.js'

const [T1, T2] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z']

/** With the revision that it has wherever it was moved to the past. */
async function moved (id, seed) {
  const bytes = await tile(seed)
  const { _attachments, ...doc } = await document(id, {}, tile(seed))
  const { _rev, _revisions, ...rest } = written(
    { ...doc, _attachments: {
      tile: { content_type: 'image/png', data: bytes.toString('base64'), digest: digestOf(bytes) }
    } }
  )
  return { ...rest, _rev, _revisions }
}

onEachStore('damaged bytes', backend => {
  /** @type {Store} */
  let store
  const damaged = new Set()

  before(async () => {
    store = await Store.create(await backend.database(), { public: false })
    const docs = await Promise.all(
      [0, 1, 2, 3].flatMap(y => [document(`osm:3:1:${y}`, {}, tile(y)),
        y === 1 ? document(`osm:3:1:${y}@${T1}`, {}, tile(10 + y)) : moved(`osm:3:1:${y}@${T1}`, 10 + y)])
    )
    await store.defineLayer('osm', { minzoom: 3, maxzoom: 3 })
    await plant(store, docs)
    for (const id of ['osm:3:1:0', 'osm:3:1:3', `osm:3:1:1@${T1}`, `osm:3:1:2@${T1}`]) {
      damaged.add((await store.couch.get(id))._rev)
    }
    // what the disk says of the damaged ones is read by everybody, until they are written anew
    store.couch.request = async request => {
      const answer = await Couch.prototype.request.call(store.couch, request)
      if (request.path === '_bulk_get' && Array.isArray(answer)) {
        for (const { doc } of answer) if (damaged.has(doc?._rev) && doc._attachments.tile.data) {
          doc._attachments.tile.data =
            flipped(doc._attachments.tile.data, doc._attachments.tile.data.indexOf('IDAT') + 9)
        }
      }
      return answer
    }
  })
  after(() => store.destroy())

  const look = async options => {
    const found = []
    const report = await check(store,
      { layers: ['osm'], decode: false, onFinding: ({ code, where }) => found.push(`${code} ${where}`), ...options })
    return { found: found.filter(text => text.startsWith('wrong-digest')).sort(), report }
  }
  const all = ['osm:3:1:0', `osm:3:1:1@${T1}`, `osm:3:1:2@${T1}`, 'osm:3:1:3'].map(id => `wrong-digest ${id}`).sort()

  it('are found, and are not changed by a repair', async () => {
    assert.deepEqual((await look()).found, all)
    const { report } = await look({ fix: true })
    assert.deepEqual([report.repair?.repaired, report.repair?.remaining], [{}, { 'wrong-digest': 4 }])
    assert.deepEqual((await look()).found, all)
  })

  it('are correct after their documents were deleted and loaded again', async () => {
    const ids = all.map(text => text.slice('wrong-digest '.length))
    const rows = await store.couch.docs(ids)
    await store.couch.write(rows.map(({ doc: { _id, _rev } }) => ({ _id, _rev, _deleted: true })))
    await load(store, memorySource({ '3/1/0': 1, '3/1/3': 2 }), { layer: 'osm', time: T2 })
    await load(store, memorySource({ '3/1/1': 3, '3/1/2': 4 }), { layer: 'osm', time: T1 })
    const { found, report } = await look()
    assert.deepEqual([found, report.faults], [[], 0])
    for (const [id, seed] of /** @type {const} */ (
      [['osm:3:1:0', 1], ['osm:3:1:3', 2], [`osm:3:1:1@${T1}`, 3], [`osm:3:1:2@${T1}`, 4]]
    )) {
      const [{ doc }] = await store.couch.docs([id], { attachments: true })
      assert.ok(png(seed).equals(doc._attachments.tile.data), id)
    }
  })
})
