// Mirrors write the same leaves as CouchDB's own replicator. These tests compare both, leaf by leaf.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { Store } from '../../loader/index.js'
import { startCouchDb, findCouchDb } from '../../bench/couchdb.js'
import { backends, json, post, put, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { skip } from '../support/tools.js'
import { openGateway } from '../support/gateway/stand.js'
import { leaf } from '../support/backups.js'
import { differences, theirs } from './compare.js'
import { startLink } from './link.js'
import { replication } from '../support/bad-lines.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T00:00:00Z']
const REVS = 30 // revisions of the most changed document

const image = (seed, type = 'image/png') => ({ content_type: type, data: png(seed).toString('base64') })
const text = words => ({ content_type: 'text/plain', data: Buffer.from(words.repeat(200)).toString('base64') })
const copy = (from, to, options) => replication(from, to, options).run()

/** Fills a store with every kind of document, also of other programs. */
async function fill (url) {
  const store = await Store.create(url)
  await store.defineLayer('osm', { name: 'Test', format: 'png' })
  await store.putEdition('osm', T1, { title: 'first' })
  const tiles = (time, seed, stateOf) => Array.from({ length: 40 }, (_, x) => (
    { layer: 'osm', z: 6, x, y: 1, time, ...(stateOf(x) === null ? { gone: true } : { bytes: png(seed + x) }) }
  )).filter(({ x }) => stateOf(x) !== undefined)
  await store.write(tiles(T1, 0, () => 1))
  const goneOrImage = x => x % 2 ? null : 1
  await store.write(tiles(T2, 100, x => x % 3 ? undefined : goneOrImage(x)))
  await store.write(tiles(T3, 200, x => x % 5 ? undefined : 1))
  await writeForeignDocuments(url)
}

async function writeForeignDocuments (url) {
  const revOf = async id => (await json(`${url}/${encodeURIComponent(id)}`))._rev
  const docs = [
    leaf('osm:9:1:1', ['b', 'a'], { n: 'ours', _attachments: { tile: image(1) } }), // two heads
    leaf('osm:9:1:1', ['c', 'x'], { n: 'theirs', _attachments: { tile: image(2) } }),
    leaf('osm:9:1:1', ['d', 'y'], { _deleted: true, why: 'a branch that was given up' }),
    leaf('buried', ['b', 'a'], { _deleted: true, why: 'a body of its own', by: { whom: 'us' } }),
    leaf('buried twice', ['b', 'a'], { _deleted: true }),
    leaf('buried twice', ['d', 'c', 'a'], { _deleted: true }),
    leaf('deep', Array.from({ length: 1200 }, (_, n) => `f${1200 - n}`), { n: 1200 }), // above the default _revs_limit
    leaf('ümläut/+%20 ?#&"\\ 🗺', ['a'],
      { _attachments: { 'ä/ö +%20"?#🗺': image(3), 'plain.txt': text('strange names ') } }),
    leaf('several', ['a'],
      {
        _attachments: { a: image(4), b: image(5, 'image/webp'), c: text('text '), d: {
          content_type: 'application/json', data: btoa('{"a":1}')
        }, empty: { content_type: 'image/png', data: '' } }
      }),
    leaf('none', ['a'], { _attachments: {} }),
    leaf('numbers', ['a'],
      {
        big: 9007199254740991, small: 1e-7, nothing: null, list: [1, [2, { three: '3' }]],
        text: 'a "quoted" \u2028 line\r\n--'
      })
  ]
  assert.deepEqual(await post(`${url}/_bulk_docs`, { new_edits: false, docs }), [])
  for (let n = 0, _rev; n < REVS; n++) ({ rev: _rev } = await put(`${url}/often`, { _rev, n }))
  const created = await put(`${url}/undeleted`, { n: 1, _attachments: { tile: image(6) } })
  const { rev: tombstoneRev } = await put(`${url}/undeleted`, { _rev: created.rev, _deleted: true })
  await put(`${url}/undeleted`, { _rev: tombstoneRev, n: 2, _attachments: { tile: image(7) } })
  await put(`${url}/osm%3A6%3A7%3A1`, { _rev: await revOf('osm:6:7:1'), _deleted: true })
  // compressed by the client, with other bytes than CouchDB would produce
  const { rev: packedRev } =
    await put(`${url}/packed`, { _attachments: { tile: image(8), note: text('packed by CouchDB ') } })
  const vector = { method: 'PUT', headers: {
    'content-type': 'application/vnd.mapbox-vector-tile', 'content-encoding': 'gzip'
  }, body: gzipSync('a vector tile '.repeat(99), { level: 1 }) }
  const answer = await request(`${url}/packed/vector?rev=${packedRev}`, vector)
  assert.ok([201, 405].includes(answer.status)) // the embedded store has no PUT of attachments
  await put(`${url}/_local/here`, { stays: true })
  await put(`${url}/_design/foreign`, { views: {} })
}

/** Changes a field of every head. No image changes. */
async function change (url) {
  const { rows } = await json(`${url}/_all_docs?startkey="osm:6:"&endkey="osm:6:~"&include_docs=true`)
  await post(`${url}/_bulk_docs`,
    { docs: rows.filter(({ id }) => !id.includes('@')).map(({ doc }) => ({ ...doc, expires: T3 })) })
}

const findBackend = name => backends.find(backend => backend.name === name)

describe('mirrors between real CouchDBs', function () {
  this.timeout(120000)
  const couches = []
  const [A, B, C] = [0, 1, 2].map(index => () => `${couches[index].url}/tiles`)

  before(async function () {
    if (!findCouchDb()) skip(this, 'needs three CouchDBs: set COUCHDB_BIN')
    couches.push(...await Promise.all([1, 2, 3].map(() => startCouchDb())))
    for (const url of [B(), C()]) await request(url, { method: 'PUT' })
    await fill(A())
  })
  after(() => Promise.all(couches.map(couch => couch.close())))

  it('write the same documents, revisions and attachments as CouchDB’s replicator', async () => {
    const status = await copy(A(), B())
    assert.deepEqual([status.missing, status.refused, status.absent], [status.docs, 0, 0])
    await theirs(couches[0].url, A(), C())
    assert.deepEqual(await differences(A(), B()), [])
    assert.deepEqual(await differences(B(), C()), [])
    assert.equal((await request(`${B()}/_local/here`)).status, 404)
    assert.equal((await request(`${B()}/_design/foreign`)).status, 404)
  })

  it('leave nothing to copy for CouchDB’s replicator, nor does it for them', async () => {
    const { missing_checked: checked, missing_found: missingCount } = await theirs(couches[0].url, A(), B())
    assert.ok(checked > 50)
    assert.equal(missingCount, 0)
    const { checked: checkedByTilecouch, missing } = await copy(A(), C())
    assert.ok(checkedByTilecouch > 50)
    assert.equal(missing, 0)
  })

  it('send no image again for a change of other fields', async () => {
    await change(A())
    const link = await startLink(A())
    try {
      const copiedBytes = (await copy(link.url, B())).bytes
      const changedCount = (await json(`${A()}/_all_docs?startkey="osm:6:"&endkey="osm:6:~"`)).rows.length
      assert.ok(copiedBytes < changedCount * 900,
        `${copiedBytes} bytes for ${changedCount} documents whose images are larger than 300 each`)
    } finally {
      await link.close()
    }
    assert.deepEqual(await differences(A(), B()), [])
    await theirs(couches[0].url, A(), C())
    assert.deepEqual(await differences(B(), C()), [])
  })

  it('in both directions make both stores equal, and keep every conflict', async () => {
    for (const [url, who] of [[A(), 'a'], [B(), 'b']]) {
      await put(`${url}/${encodeURIComponent('osm:6:2:1')}`,
        { ...await json(`${url}/${encodeURIComponent('osm:6:2:1')}`), who })
    }
    await copy(A(), B())
    await copy(B(), A())
    assert.deepEqual(await differences(A(), B()), [])
    assert.equal((await json(`${A()}/${encodeURIComponent('osm:6:2:1')}?conflicts=true`))._conflicts.length, 1)
  })
})

const PAIRS = [['embedded', 'embedded'], ['embedded', 'CouchDB'], ['CouchDB', 'embedded']]

describe('mirrors between stores of every kind', function () {
  this.timeout(120000)

  for (const [from, to] of PAIRS) {
    describe(`from ${from} to ${to}`, () => {
      let source
      let target

      before(async function () {
        if (!findBackend(from) || !findBackend(to)) skip(this, 'needs a CouchDB: set COUCHDB_BIN')
        source = await findBackend(from).database()
        target = await findBackend(to).database()
        await request(target, { method: 'PUT' })
        await fill(source)
      })

      it('copies all documents, revisions and attachments', async () => {
        const { docs, missing, refused, absent } = await copy(source, target)
        assert.deepEqual([missing, refused, absent], [docs, 0, 0])
        assert.deepEqual(await differences(source, target, { revpos: false }), [])
      })

      it('copies later changes without their images', async () => {
        const idleBytes = (await copy(source, target)).bytes
        assert.equal(idleBytes, 0)
        await change(source)
        const { bytes, docs } = await copy(source, target)
        assert.ok(bytes < docs * 900, `${bytes} bytes for ${docs} documents`)
        assert.deepEqual(await differences(source, target, { revpos: false }), [])
      })

      it('gives the same store when it is copied back', async () => {
        const copyBack = await findBackend(from).database()
        await request(copyBack, { method: 'PUT' })
        await copy(target, copyBack)
        assert.deepEqual(await differences(source, copyBack, { revpos: false }), [])
        assert.equal((await copy(target, source)).missing, 0)
      })

      it('copies from a gateway, with a checkpoint at the target only', async () => {
        const gateway = await openGateway(source)
        try {
          const gatewayCopy = `${target}_of_a_gateway`
          await request(gatewayCopy, { method: 'PUT' })
          const { docs } = await copy(`${gateway.url}/db`, gatewayCopy)
          assert.ok(docs > 50)
          assert.deepEqual(await differences(source, gatewayCopy, { revpos: false }), [])
          assert.equal((await copy(`${gateway.url}/db`, gatewayCopy)).changes, 0)
          await request(gatewayCopy, { method: 'DELETE' })
        } finally {
          await gateway.close()
        }
      })
    })
  }
})
