// Tests that none of the code of a hostile source gets into a mirror, a store, an edge or a device. Its documents look
// like valid ones. A mirror has design documents of this release, or copies of equal ones of its source.
import assert from 'node:assert/strict'
import { Store, compose, load, mirror, openSource, publish, push } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Mirror } from '../../client/mirror/index.js'
import { blobOf } from '../../client/offline/database-reader.js'
import { mirrorOptions } from '../../server/edge/options.js'
import { resolveOptions } from '../../server/gateway/config.js'
import { serve } from '../../server/serve.js'
import { until } from '../../bench/wait.js'
import { usePouches } from '../support/client/pouches.js'
import { backends, json, onEachPair, onEachStore, post, put, request } from '../support/backends.js'
import { startRelay } from '../support/relay.js'
import { png } from '../support/tiles.js'
import { theirs } from '../mirror/compare.js'
import { designsOf, origin } from '../mirror/pairs.js'

const T = '2021-01-01T00:00:00Z'
const HTML = Buffer.from('<script>alert(1)</script>')
const base64 = bytes => bytes.toString('base64')
const attachment = (type, bytes, name = 'tile') => ({ [name]: { content_type: type, data: base64(bytes) } })
const tile = (y, fields = {}) => ({
  _id: `osm:3:1:${y}`, type: 'tile', layer: 'osm', z: 3, x: 1, y, current: true, time: T, stored: T,
  _attachments: attachment('image/png', png(y)), ...fields
})
const SPITE = "(function () { throw ({ forbidden: 'mine' }) })"

const validDocs = [
  { _id: 'tilecouch', type: 'store', schema: 1, uuid: 'a'.repeat(32) },
  { _id: 'layer:osm', type: 'layer', layer: 'osm', name: 'OSM' },
  { _id: `edition:osm@${T}`, type: 'edition', layer: 'osm', time: T }, tile(0), tile(1)
]
const invalidDocs = [
  { _id: 'stray', validate_doc_update: SPITE }, { _id: '<img src=x onerror=alert(1)>', type: 'tile' },
  { _id: 'constructor', type: 'layer' },
  { ...tile(2), _id: 'osm:3:1:2\u0000' }, { ...tile(2), _id: 'osm:3:1:2/../../_design/tiles' },
  { ...tile(2), _id: `osm:3:1:2@${T}\n` },
  tile(3, { _attachments: attachment('text/html', HTML) }),
  tile(4, { _attachments: { ...attachment('image/png', png(1)), ...attachment('text/html', HTML, 'a.html') } }),
  tile(5, { note: 'x'.repeat(20000) }), tile(6, { time: '2021' }),
  tile(7, { z: 2 }), tile(2, { _attachments: attachment('image/svg+xml', HTML) }),
  { _id: 'layer:evil', type: 'layer', layer: 'evil', _attachments: attachment('text/html', HTML, 'a.html') },
  { _id: 'layer:worse', type: 'layer', layer: 'worse', ttl: 'never' },
  {
    _id: 'edition:osm@2022-01-01T00:00:00Z', type: 'edition', layer: 'osm',
    time: '2022-01-01T00:00:00Z', _attachments: attachment('text/html', HTML, 'a.html')
  }
]
const designs = [
  { _id: '_design/evil', language: 'javascript', validate_doc_update: SPITE, views: {
    a: { map: '(function (doc) { emit(doc._id) })' }
  } },
  {
    _id: '_design/tiles', language: 'javascript', validate_doc_update: '(function () {})',
    rewrites: SPITE, _attachments: attachment('text/html', HTML, 'index.html')
  },
  { _id: '_design/versions', language: 'javascript', views: {
    by_tile: { map: '(function (doc) { emit(doc._id, 1) })', reduce: '_count' }
  } }
]

/** @returns {Promise<string>} address of a hostile store without any validation function */
async function hostile () {
  const url = await backends[0].database()
  await request(url, { method: 'PUT' })
  await request(`${url}/_security`, { method: 'PUT', body: '{}' }) // everybody may read and write
  for (const { error, reason } of await post(`${url}/_bulk_docs`, { docs: [...validDocs, ...invalidDocs] })) {
    assert.equal(error, undefined, reason)
  }
  const { rev } =
    await json(`${url}/osm:3:2:2`, { method: 'PUT', body: JSON.stringify({ ...tile(2), _id: 'osm:3:2:2', x: 2 }) })
  await post(`${url}/_bulk_docs`,
    { docs: [{ _id: 'osm:3:2:2', _rev: rev, _deleted: true, _attachments: attachment('text/html', HTML, 'a.html') }] })
  for (const name of ['evil', 'tilecouch-filling', 'tilecouch-ending']) {
    await json(`${url}/_local/${name}`, { method: 'PUT', body: JSON.stringify({ filling: true, ids: ['osm:3:1:0'] }) })
  }
  await post(`${url}/_bulk_docs`, { docs: designs })
  return url
}

onEachStore('a hostile source', backend => {
  const pouch = usePouches()
  let from, to
  before(async () => { from = await hostile() })
  after(() => request(from, { method: 'DELETE' }))
  beforeEach(async () => { to = await backend.database() })
  afterEach(() => request(to, { method: 'DELETE' }))

  async function checkTarget () {
    const { rows } = await json(`${to}/_all_docs?include_docs=true`)
    const ids = rows.map(({ id }) => id)
    assert.deepEqual(ids.filter(id => !id.startsWith('_design/')).sort(), validDocs.map(({ _id }) => _id).sort())
    assert.deepEqual(ids.filter(id => id.startsWith('_design/')), ['_design/tiles', '_design/versions'])
    assert.doesNotMatch(JSON.stringify(
      rows.filter(({ id }) => id.startsWith('_design/')).map(({ doc: { _attachments, ...fields } }) => fields)
    ), /mine|emit\(doc\._id, 1\)|"\(function \(\) \{\}\)"/)
    const { results } = await json(`${to}/_changes?style=all_docs`)
    for (const { id, changes: [{ rev }] } of results.filter(({ deleted }) => deleted)) {
      assert.equal((await request(`${to}/${id}/a.html?rev=${rev}`)).status, 404, 'no tombstone carries a page')
    }
    const locals = await json(`${to}/_local_docs?include_docs=true`)
    assert.ok(!(locals.rows ?? []).some(({ id }) => /evil|ending|filling/.test(id)))
  }

  it('gets only valid documents into a mirror, in its first run and in the next', async () => {
    const refused = []
    const onRefused = ({ id }) => { refused.push(id) }
    const { ready } = await mirror(from, to, { onRefused })
    assert.deepEqual(refused.filter(id => id !== 'osm:3:2:2').sort(), invalidDocs.map(({ _id }) => _id).sort())
    assert.deepEqual(ready.designs.map(({ id, action }) => [id, action]).sort(),
      [['_design/tiles', 'new'], ['_design/versions', 'new']])
    await checkTarget()
    // a stranger resets the checkpoints: all documents are read again, and refused again
    const { rows } = await json(`${to}/_local_docs`)
    for (const { id } of rows ?? []) if (id.includes('mirror')) {
      await json(`${to}/${id}`, { method: 'PUT', body: '{"since":"99-x","history":"odd","session":{}}' })
    }
    await mirror(from, to, { onRefused })
    await checkTarget()
    await mirror(from, to, { layers: ['osm'], current: true })
    assert.deepEqual(Object.keys(await designsOf(to)).sort(), ['_design/tiles', '_design/versions'])
    const pending = (await push(new Couch(to), await compose(), { dryRun: true }))
      .filter(({ action }) => action !== 'unchanged')
    assert.deepEqual(pending, [], '`tilecouch push` has nothing to do')
  }).timeout(60000)

  it('gets only tiles with valid images through a load', async () => {
    const evil = await backends[0].database()
    const evilStore = await Store.create(evil, { public: false })
    try {
      await publish(evilStore)
      const stored = await evilStore.couch.get('_design/tiles')
      await evilStore.couch.put({ ...stored, validate_doc_update: undefined })
      await post(`${evil}/_bulk_docs`,
        { docs: [...validDocs.slice(1), tile(2, { _attachments: attachment('image/png', HTML) }),
          tile(3, { _attachments: attachment('text/html', HTML) }), tile(5, { note: 'x'.repeat(20000) })] })
      const target = await Store.create(to, { public: false })
      const source = await openSource(evil, { from: { layer: 'osm' }, layer: 'osm' })
      const { failed } = await load(target, source, { layer: 'osm', time: T })
      assert.equal(failed, 2)
      const { rows } = await json(`${to}/_all_docs?include_docs=true&startkey="osm:"&endkey="osm%3b"`)
      assert.deepEqual(rows.map(({ id, doc: { note } }) => [id, note]),
        [['osm:3:1:0', undefined], ['osm:3:1:1', undefined], ['osm:3:1:5', undefined]])
    } finally {
      await evilStore.destroy()
    }
  }).timeout(60000)

  // an edge is a mirror and a gateway: one kind of store is enough
  if (backend.name === 'embedded' || process.env.TILECOUCH_LONG) it('gets no code into an edge', async () => {
    const running = (await serve(
      resolveOptions({ table: mirrorOptions, flags: { from, db: to, port: 0, grace: 1, logLevel: 'silent' } })
    ))
    try {
      await until(() => running.mirror().state === 'following', { timeout: 50000, what: 'the edge to follow' })
      await checkTarget()
    } finally {
      await running.close()
    }
  }).timeout(60000)

  it('gets no code into a device', async function () {
    const db = pouch()
    await new Mirror(from, db).run()
    const { rows } = await db.allDocs()
    assert.ok(rows.length >= validDocs.length)
    assert.deepEqual(rows.filter(({ id }) => id.startsWith('_design/')), [])
    assert.equal(await db.get('_local/evil').catch(({ status }) => status), 404)
    const part = pouch()
    await new Mirror(from, part, { layers: ['osm'] }).run()
    assert.ok(
      (await part.allDocs()).rows.every(({ id }) => /^(tilecouch$|layer:osm$|edition:osm@|osm:\d+:\d+:\d+$)/.test(id))
    )
  })
})

describe('a tile on a device', () => {
  it('never has the type of a page or script, whatever its store says', () => {
    for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml',
      'text/javascript', '', 'constructor', undefined]) {
      assert.equal(blobOf(HTML, type).type, 'application/octet-stream', type)
      assert.equal(blobOf(new Blob([HTML], { type }), type).type, 'application/octet-stream', type)
    }
    for (const type of ['image/png', 'image/webp', 'application/vnd.mapbox-vector-tile']) {
      assert.equal(blobOf(png(1), type).type, type)
    }
  })
})

onEachPair('design documents of a source', (from, to) => {
  let url, target
  beforeEach(async () => {
    url = await from.database()
    target = await to.database()
    await origin(url, { side: 2 })
  })

  it('are copied with their revisions if they are equal to those of this release', async () => {
    const { ready } = await mirror(url, target)
    assert.ok(ready.designs.every(({ action }) => action === 'copied'))
    assert.deepEqual(await designsOf(target), await designsOf(url))
    if (!to.supports.users) return
    const { missing_found: missing, missing_checked: checked } =
      await theirs(await to.url(), url, target, { selector: undefined })
    assert.ok(checked > 8)
    assert.equal(missing, 0)
  })

  it('are not copied if they have the same signatures but other content', async () => {
    const { _attachments: files, couchapp, ...design } = await json(`${url}/_design/tiles`)
    const name = Object.keys(files).find(file => file.endsWith('.js'))
    files[name] = { content_type: files[name].content_type, data: base64(Buffer.from('alert(1)')) }
    await put(`${url}/_design/tiles`, { ...design, couchapp, _attachments: files })
    assert.deepEqual((await json(`${url}/_design/tiles`)).couchapp, couchapp, 'its signatures are those of ours')
    const { ready } = await mirror(url, target)
    assert.equal(ready.designs.find(({ id }) => id === '_design/tiles').action, 'new')
    assert.doesNotMatch(await (await request(`${target}/_design/tiles/${name}`)).text(), /^alert/)
  })
})

onEachStore('a source that sends documents that were not requested', backend => {
  let url, store, target, proxy
  beforeEach(async () => {
    url = await backends[0].database() // it answers in JSON, which is easy to change
    target = await backend.database()
    store = await origin(url, { side: 2 })
    proxy = await startRelay(url, {
      onRequest: ({ headers }) => { headers.accept = 'application/json' },
      onAnswer: addDocuments
    })
  })
  afterEach(() => proxy.close())

  function addDocuments (answer, { url: path }) {
    if (!path.includes('/_bulk_get')) return
    const { results } = JSON.parse(answer.body)
    const fields = { _rev: '9-aa', _revisions: { start: 9, ids: ['aa'] }, type: 'layer', validate_doc_update: SPITE }
    const evil = ['_design/evil', '_design/tiles', 'tilecouch-evil'].map(_id => ({ ok: { _id, ...fields } }))
    results[0].docs.push(...evil)
    answer.body = JSON.stringify({ results })
  }

  /** Checks that the target has no document that was not requested. */
  async function checkTarget () {
    const { rows } = await json(`${target}/_all_docs`)
    assert.deepEqual(rows.filter(({ id }) => /evil/.test(id)), [])
    const { validate_doc_update: validation, _conflicts: conflicts } =
      await json(`${target}/_design/tiles?conflicts=true`)
    assert.deepEqual([validation !== SPITE, conflicts], [true, undefined])
  }

  it('adds nothing to a new mirror', async () => {
    const { docs, refused, ready } = await mirror(proxy.url, target)
    assert.deepEqual([docs, refused, ready.created], [4 + 1 + 1 + 2 + 1, 0, true])
    await checkTarget()
  })

  it('adds nothing to a mirror with a validation function, which design documents bypass', async () => {
    await mirror(url, target)
    await store.defineLayer('relief')
    const { docs, refused } = await mirror(proxy.url, target, { layers: ['relief', 'osm'] })
    assert.deepEqual([docs, refused], [1, 0])
    await checkTarget()
  })
})
