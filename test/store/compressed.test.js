// A CouchDB that compresses images, and a CouchDB with compressed images that another one stored. The digests of such
// attachments belong to the compressed bytes.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { peerOf } from '../../loader/store/peer.js'
import { Store } from '../../loader/store/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { readBytesOf } from '../../loader/store/fetch.js'
import { backends } from '../support/backends.js'
import { png } from '../support/tiles.js'

const couchDb = backends.find(({ name }) => name === 'CouchDB')
const [T1, T2, T3] = ['2022', '2023', '2024'].map(year => `${year}-01-01T00:00:00Z`)
const ID = 'osm:3:1:2'
const version = (time, seed) => ({ layer: 'osm', z: 3, x: 1, y: 2, time, bytes: png(seed) })

describe('a CouchDB that compresses tiles', function () {
  this.timeout(60000)
  /** @type {Store} */
  let store
  before(function () { if (!couchDb) this.skip() })
  beforeEach(
    async () => { store = await Store.create(await /** @type {any} */ (couchDb).database(), { public: true }) }
  )
  afterEach(() => store?.destroy())

  const docOf = (id, time, rev, tile) => ({
    _id: id, _rev: rev, _revisions: { start: 1, ids: [rev.slice(2)] }, type: 'tile', layer: 'osm', z: 3, x: 1, y: 2,
    current: !id.includes('@'), time, stored: time, _attachments: { tile: { content_type: 'image/png', ...tile } }
  })
  /** Stores a head as a CouchDB that compresses does. */
  async function storePacked (time, bytes) {
    const data = gzipSync(bytes)
    const fields = { encoding: 'gzip', length: bytes.length, encoded_length: data.length, digest: digestOf(data) }
    const refused = await peerOf(store.couch)
      .write([docOf(ID, time, '1-00000000000000000000000000000001', { ...fields, data })])
    assert.deepEqual(refused, [])
  }

  it('is refused with TILES_COMPRESSED until its setting is corrected', async () => {
    const path = '_node/_local/_config/attachments/compressible_types'
    const request = (method, value) => store.couch.request(
      { method, path, server: true, raw: true, ...(value !== undefined && { body: JSON.stringify(value) }) }
    )
    // undefined if the ini files do not set it
    const oldSetting = await request('GET').then(bytes => JSON.parse(String(bytes)), () => undefined)
    const assertRefused = db => assert.rejects(db.write([version(T1, 1)]), { code: 'TILES_COMPRESSED' })
    await request('PUT', `${oldSetting ?? 'text/*'}, image/*`)
    try {
      await assertRefused(store)
      assert.equal(await store.couch.get(ID), undefined)
      const stranger =
        await Store.open(store.couch.access.headers.authorization ? withName(await createWriter()) : store.url)
      await assertRefused(stranger)
    } finally {
      await (oldSetting === undefined ? request('DELETE') : request('PUT', oldSetting))
    }
    assert.equal((await store.write([version(T2, 1)])).failed, 0, 'when the setting was put right')

    async function createWriter () {
      const name = `w${randomUUID()}`
      const user = { _id: `org.couchdb.user:${name}`, name, password: 'pw', type: 'user', roles: [] }
      await fetch(new URL(`/_users/${encodeURIComponent(user._id)}`, store.url), {
        method: 'PUT', headers: { ...store.couch.access.headers, 'content-type': 'application/json' },
        body: JSON.stringify(user)
      }).then(answer => assert.equal(answer.ok, true))
      return name
    }
    function withName (name) {
      const url = new URL(store.url)
      Object.assign(url, { username: name, password: 'pw' })
      return String(url)
    }
  })

  it('returns the original bytes of its tiles, also after they moved to the past', async () => {
    await storePacked(T1, png(1))
    assert.deepEqual((await store.at('osm', 3, 1, 2, '2022')).bytes, png(1))
    const [listedTile] =
      await readBytesOf(store.couch, [/** @type {any} */ ({ id: ID, layer: 'osm', z: 3, x: 1, y: 2, time: T1 })])
    assert.deepEqual(listedTile?.bytes, png(1))
    assert.deepEqual((await store.write([version(T3, 3), version(T2, 2)])).failures, [])
    for (const [time, seed] of /** @type {[string, number][]} */ ([['2022', 1], ['2023', 2], ['2024', 3]])) {
      assert.deepEqual((await store.at('osm', 3, 1, 2, time)).bytes, png(seed), time)
    }
    const { rows } =
      /** @type {any} */ (await store.couch.request({ path: '_all_docs', qs: { startkey: ID, endkey: `${ID}@~` } }))
    assert.equal(rows.length, 3, 'no other documents')
  })

  it('fails for an attachment with a wrong length, but returns the other tiles', async () => {
    await store.write([{ ...version(T1, 1), x: 4 }])
    const data = gzipSync(png(2))
    const packed = { encoding: 'gzip', length: 5, encoded_length: data.length, digest: digestOf(data), data }
    assert.deepEqual(await peerOf(store.couch).write([docOf(ID, T1, '1-00000000000000000000000000000002', packed)]), [])
    const { leaves, failed } =
      await store.couch.tryLeaves([ID, 'osm:3:4:2'], { attachments: true, limits: { tries: 1 } })
    assert.deepEqual([[...failed.keys()], [...leaves.keys()]], [[ID], ['osm:3:4:2']])
    assert.match(failed.get(ID)?.reason ?? '', /length/)
  })

  it('lists no style with a file that is longer than its stated length', async () => {
    const data = Buffer.alloc(4_194_305)
    const about = { content_type: 'image/png', encoding: 'identity', length: 5, encoded_length: data.length, data }
    const style = {
      _id: `style:osm@${T1}`, _rev: '1-00000000000000000000000000000003',
      _revisions: { start: 1, ids: ['00000000000000000000000000000003'] },
      type: 'style', layer: 'osm', time: T1, style: { version: 8, sources: {}, layers: [] },
      _attachments: { 'sprite.png': { ...about, digest: digestOf(data) } }
    }
    assert.deepEqual(await peerOf(store.couch).write([style]), [])
    assert.deepEqual(await store.styles('osm'), [])
    await assert.rejects(store.style('osm'), { code: 'BAD_DOCUMENT' })
  })
})
