// Bytes that a disk has damaged: taken from a mirror, where it has those that the document speaks of.
import assert from 'node:assert/strict'
import { check } from '../../loader/check/index.js'
import { written } from '../../loader/store/revisions.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { onEachStore } from '../support/backends.js'
import { document, flipped, tile } from '../verify/helpers.js'
import { plant } from './damage.js'

const T1 = '2021-06-01T00:00:00Z'

/** With the revision that it has wherever it was moved to the past. */
async function moved (id, seed) {
  const bytes = await tile(seed)
  const { _attachments, ...doc } = await document(id, {}, tile(seed))
  const { _rev, _revisions, ...rest } = written({ ...doc, _attachments: { tile: { content_type: 'image/png', data: bytes.toString('base64'), digest: digestOf(bytes) } } })
  return { ...rest, _rev, _revisions }
}

onEachStore('damaged bytes', backend => {
  /** @type {Store} */
  let store
  /** @type {Store} */
  let mirror
  const damaged = new Set()

  before(async () => {
    [store, mirror] = await Promise.all([0, 1].map(async () => Store.create(await backend.database(), { public: false })))
    const docs = await Promise.all([0, 1, 2, 3].flatMap(y => [document(`osm:3:1:${y}`, {}, tile(y)), y === 1 ? document(`osm:3:1:${y}@${T1}`, {}, tile(10 + y)) : moved(`osm:3:1:${y}@${T1}`, 10 + y)]))
    for (const one of [store, mirror]) {
      await one.defineLayer('osm', { minzoom: 3, maxzoom: 3 })
      await plant(one, structuredClone(docs))
    }
    // the mirror has another image of that one
    const other = await mirror.couch.get('osm:3:1:3')
    await mirror.couch.put({ ...await document('osm:3:1:3', {}, tile(77)), _rev: other._rev })
    for (const id of ['osm:3:1:0', 'osm:3:1:3', `osm:3:1:1@${T1}`, `osm:3:1:2@${T1}`]) damaged.add((await store.couch.get(id))._rev)
    // what the disk says of the damaged ones is read by everybody, until they are written anew
    store.couch.request = async request => {
      const answer = await Couch.prototype.request.call(store.couch, request)
      if (request.path === '_bulk_get' && Array.isArray(answer)) {
        for (const { doc } of answer) if (damaged.has(doc?._rev) && doc._attachments.tile.data) doc._attachments.tile.data = flipped(doc._attachments.tile.data, doc._attachments.tile.data.indexOf('IDAT') + 9)
      }
      return answer
    }
  })
  after(() => Promise.all([store.destroy(), mirror.destroy()]))

  const look = async options => {
    const found = []
    const report = await check(store, { layers: ['osm'], decode: false, onFinding: ({ code, where }) => found.push(`${code} ${where}`), ...options })
    return { found: found.filter(text => text.startsWith('wrong-digest')).sort(), report }
  }
  const all = ['osm:3:1:0', `osm:3:1:1@${T1}`, `osm:3:1:2@${T1}`, 'osm:3:1:3'].map(id => `wrong-digest ${id}`).sort()

  it('are found, and left if there is no mirror', async () => {
    assert.deepEqual((await look()).found, all)
    const { report } = await look({ fix: true })
    assert.deepEqual([report.repair?.repaired, report.repair?.remaining], [{}, { 'wrong-digest': 4 }])
    assert.deepEqual((await look()).found, all)
  })

  it('are replaced from a mirror whose bytes match the document, in heads and past versions', async () => {
    const { report } = await look({ fix: true, from: mirror })
    assert.deepEqual([report.repair?.repaired, report.repair?.remaining], [{ 'wrong-digest': 3 }, { 'wrong-digest': 1 }])
    assert.match(report.repair?.named[0].reason ?? '', /^its bytes are not at http.* either$/)
    assert.deepEqual((await look()).found, ['wrong-digest osm:3:1:3'])
    for (const [id, seed] of /** @type {const} */ ([['osm:3:1:0', 0], [`osm:3:1:1@${T1}`, 11], [`osm:3:1:2@${T1}`, 12]])) {
      const [{ doc }] = await store.couch.docs([id], { attachments: true })
      assert.ok((await tile(seed)).equals(doc._attachments.tile.data), id)
    }
  })
})
