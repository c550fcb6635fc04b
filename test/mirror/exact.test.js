// What a mirror leaves behind is what CouchDB's own replicator leaves behind: held against it leaf by leaf.
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
const REVS = 30 // of the document that was changed most

const image = (seed, type = 'image/png') => ({ content_type: type, data: png(seed).toString('base64') })
const text = words => ({ content_type: 'text/plain', data: Buffer.from(words.repeat(200)).toString('base64') })
const copy = (from, to, options) => replication(from, to, options).run()

/** A store with everything a store may hold, and what others may have put beside it. */
async function fill (url) {
  const store = await Store.create(url)
  await store.defineLayer('osm', { name: 'Test', format: 'png' })
  await store.putEdition('osm', T1, { title: 'first' })
  const tiles = (time, seed, which) => Array.from({ length: 40 }, (_, x) => (
    { layer: 'osm', z: 6, x, y: 1, time, ...(which(x) === null ? { gone: true } : { bytes: png(seed + x) }) }
  )).filter(({ x }) => which(x) !== undefined)
  await store.write(tiles(T1, 0, () => 1))
  await store.write(tiles(T2, 100, x => x % 3 ? undefined : x % 2 ? null : 1))
  await store.write(tiles(T3, 200, x => x % 5 ? undefined : 1))
  await others(url)
}

async function others (url) {
  const rev = async id => (await json(`${url}/${encodeURIComponent(id)}`))._rev
  const docs = [
    leaf('osm:9:1:1', ['b', 'a'], { n: 'ours', _attachments: { tile: image(1) } }), // two heads
    leaf('osm:9:1:1', ['c', 'x'], { n: 'theirs', _attachments: { tile: image(2) } }),
    leaf('osm:9:1:1', ['d', 'y'], { _deleted: true, why: 'a branch that was given up' }),
    leaf('buried', ['b', 'a'], { _deleted: true, why: 'a body of its own', by: { whom: 'us' } }),
    leaf('buried twice', ['b', 'a'], { _deleted: true }),
    leaf('buried twice', ['d', 'c', 'a'], { _deleted: true }),
    leaf('deep', Array.from({ length: 1200 }, (_, at) => `f${1200 - at}`), { n: 1200 }), // more than a tree remembers
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
  const gone = await put(`${url}/undeleted`, { n: 1, _attachments: { tile: image(6) } })
  const { rev: dead } = await put(`${url}/undeleted`, { _rev: gone.rev, _deleted: true })
  await put(`${url}/undeleted`, { _rev: dead, n: 2, _attachments: { tile: image(7) } })
  await put(`${url}/osm%3A6%3A7%3A1`, { _rev: await rev('osm:6:7:1'), _deleted: true })
  // compressed by whoever sent it, and not as CouchDB would
  const { rev: packed } =
    await put(`${url}/packed`, { _attachments: { tile: image(8), note: text('packed by CouchDB ') } })
  const vector = { method: 'PUT', headers: {
    'content-type': 'application/vnd.mapbox-vector-tile', 'content-encoding': 'gzip'
  }, body: gzipSync('a vector tile '.repeat(99), { level: 1 }) }
  const sent = await request(`${url}/packed/vector?rev=${packed}`, vector)
  assert.ok([201, 405].includes(sent.status)) // the embedded store takes none
  await put(`${url}/_local/here`, { stays: true })
  await put(`${url}/_design/foreign`, { views: {} })
}

/** What changes after the first mirror: nothing of it needs the image again. */
async function change (url) {
  const { rows } = await json(`${url}/_all_docs?startkey="osm:6:"&endkey="osm:6:~"&include_docs=true`)
  await post(`${url}/_bulk_docs`,
    { docs: rows.filter(({ id }) => !id.includes('@')).map(({ doc }) => ({ ...doc, expires: T3 })) })
}

const server = name => backends.find(backend => backend.name === name)

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
    const { missing_checked: checked, missing_found: found } = await theirs(couches[0].url, A(), B())
    assert.ok(checked > 50)
    assert.equal(found, 0)
    const { checked: ours, missing } = await copy(A(), C())
    assert.ok(ours > 50)
    assert.equal(missing, 0)
  })

  it('send no image again for a change of other fields', async () => {
    await change(A())
    const link = await startLink(A())
    try {
      const before = (await copy(link.url, B())).bytes
      const changed = (await json(`${A()}/_all_docs?startkey="osm:6:"&endkey="osm:6:~"`)).rows.length
      assert.ok(before < changed * 900,
        `${before} bytes for ${changed} documents whose images are larger than 300 each`)
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
        if (!server(from) || !server(to)) skip(this, 'needs a CouchDB: set COUCHDB_BIN')
        source = await server(from).database()
        target = await server(to).database()
        await request(target, { method: 'PUT' })
        await fill(source)
      })

      it('copies all documents, revisions and attachments', async () => {
        const { docs, missing, refused, absent } = await copy(source, target)
        assert.deepEqual([missing, refused, absent], [docs, 0, 0])
        assert.deepEqual(await differences(source, target, { revpos: false }), [])
      })

      it('copies later changes without their images', async () => {
        const whole = (await copy(source, target)).bytes
        assert.equal(whole, 0)
        await change(source)
        const { bytes, docs } = await copy(source, target)
        assert.ok(bytes < docs * 900, `${bytes} bytes for ${docs} documents`)
        assert.deepEqual(await differences(source, target, { revpos: false }), [])
      })

      it('gives the same store when it is copied back', async () => {
        const again = await server(from).database()
        await request(again, { method: 'PUT' })
        await copy(target, again)
        assert.deepEqual(await differences(source, again, { revpos: false }), [])
        assert.equal((await copy(target, source)).missing, 0)
      })

      it('copies from a gateway, with a checkpoint at the target only', async () => {
        const gateway = await openGateway(source)
        try {
          const copied = `${target}_of_a_gateway`
          await request(copied, { method: 'PUT' })
          const { docs } = await copy(`${gateway.url}/db`, copied)
          assert.ok(docs > 50)
          assert.deepEqual(await differences(source, copied, { revpos: false }), [])
          assert.equal((await copy(`${gateway.url}/db`, copied)).changes, 0)
          await request(copied, { method: 'DELETE' })
        } finally {
          await gateway.close()
        }
      })
    })
  }
})
