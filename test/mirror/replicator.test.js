// Mirrors that CouchDB makes by itself, between two servers of the test's own: documents in _replicator, how they go, how they end.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { until } from '../../bench/wait.js'
import { parseArea } from '../../core/index.js'
import { mirror } from '../../loader/mirror/index.js'
import { listMirrors } from '../../loader/mirror/list.js'
import { idsOf, mirrorByReplicator, replicate, stopReplicator, watchReplicator } from '../../loader/mirror/replicator.js'
import { sideOf } from '../../loader/mirror/scheduler.js'
import { Couch } from '../../loader/store/couch.js'
import { startGateway } from '../../server/gateway/index.js'
import { as, backends, json, request } from '../support/backends.js'
import { skip } from '../support/tools.js'
import { square } from '../support/tiles.js'
import { differences } from './compare.js'
import { origin, put } from './pairs.js'

const HASTE = '[replicator]\nstartup_jitter = 1\nretries_per_request = 1\ncheckpoint_interval = 1000\n'
const limits = { poll: 100, following: 100 }

describe('a mirror by CouchDB\'s replicator', function () {
  this.timeout(60000)
  let a, b, counter = 0
  /** @type {string} */
  let from
  /** @type {string} */
  let to
  /** @type {import('../../loader/index.js').Store} */
  let store
  before(async function () {
    if (!findCouchDb()) return skip(this, 'no couchdb executable: set COUCHDB_BIN')
    ;[a, b] = await Promise.all([startCouchDb(undefined, { settings: HASTE }), startCouchDb(undefined, { settings: HASTE })])
  })
  after(() => Promise.all([a?.close(), b?.close()]))
  beforeEach(async () => {
    counter++
    from = `${a.url}/from${counter}`
    to = `${b.url}/to${counter}`
    store = await origin(from)
  })

  const docsOf = async url => (await json(`${url}/_replicator/_all_docs?include_docs=true`)).rows.map(({ doc }) => doc)
  const deleteDoc = async (url, id) => request(`${url}/${id}?rev=${(await json(`${url}/${id}`))._rev}`, { method: 'DELETE' })

  it('has everything but foreign code, serves at once, and leaves nothing to do for ours', async () => {
    await put(`${from}/_design/foreign`, { language: 'javascript', views: {} })
    const states = []
    const { state, written, refused, ready, replicated } = await mirrorByReplicator(from, to, { limits, onState: status => states.push(status.state) })
    assert.deepEqual([state, written, refused, replicated.action, ready?.door], ['completed', 36 + 9 + 4, 0, 'new', 'opened'])
    assert.ok(states.every(one => ['initializing', 'running', 'completed'].includes(one)), states.join())
    assert.deepEqual(await differences(from, to), [])
    assert.equal((await request(`${to}/_design/foreign`)).status, 404)
    const tile = await fetch(`${as(to)}/_design/tiles/_rewrite/osm@2022/5/0/0.png`)
    assert.deepEqual([tile.status, tile.headers.get('content-type')], [200, 'image/png'])
    assert.equal((await mirror(from, to)).missing, 0)
  })

  it('validates what arrives from the first document on', async () => {
    await deleteDoc(from, '_design/tiles')
    await put(`${from}/osm:5:1:20`, { type: 'tile', layer: 'other', z: 5, x: 1, y: 20 })
    const { state, refused } = await mirrorByReplicator(from, to, { limits })
    assert.deepEqual([state, refused], ['completed', 1])
    assert.deepEqual(await differences(from, to), ['osm:5:1:20 is missing'])
  })

  it('is one, however often it is asked for, and another one for another selection', async () => {
    const options = { limits, layers: ['osm'], zooms: { min: 0, max: 5 } }
    const once = await mirrorByReplicator(from, to, options)
    await store.write(square({ layer: 'osm', time: '2024-01-01T00:00:00Z', side: 1, seed: () => 5000 }))
    const twice = await mirrorByReplicator(from, to, options)
    assert.deepEqual([twice.id, twice.state, twice.replicated.action], [once.id, 'completed', 'again'])
    assert.deepEqual(await differences(from, to), [])

    const live = await replicate(from, to, { ...options, live: true })
    assert.deepEqual([live.id, live.action, live.others], [`${once.id}-live`, 'new', []], 'a live one stands beside the single one')
    assert.equal((await replicate(from, to, { ...options, live: true })).action, 'unchanged')
    const other = await replicate(from, to, { limits, live: true, current: true })
    assert.deepEqual(other.others, [{ id: live.id, selection: { layers: ['osm'], zooms: { min: 0, max: 5 } }, stopped: false }])
    const last = await replicate(from, to, { limits, live: true, replace: true })
    assert.deepEqual(last.others.map(({ id, stopped }) => [id, stopped]).sort(), [[live.id, true], [other.id, true]].sort())
    const mine = (await docsOf(b.url)).filter(({ tilecouch }) => tilecouch?.from === new Couch(from).url)
    assert.deepEqual(mine.map(({ _id }) => _id).sort(), [last.id, once.id].sort())
    await stopReplicator(from, to, { id: last.id })
  })

  it('takes a part, and deletions of it, and no others', async () => {
    const bbox = '-180,66.51,-146.25,85.06' // columns 0 to 2, rows 0 to 7
    const options = { limits, area: parseArea({ bbox }), current: true, layers: ['osm'] }
    await mirrorByReplicator(from, to, options)
    const heads = async () => (await json(`${to}/_all_docs`)).rows.map(({ id }) => id).filter(id => id.startsWith('osm:'))
    const all = Array.from({ length: 18 }, (_, at) => `osm:5:${Math.floor(at / 6)}:${at % 6}`)
    assert.deepEqual(await heads(), all)
    for (const id of ['osm:5:1:1', 'osm:5:4:4', 'osm:5:1:1@2022-03-01T00:00:00Z']) await deleteDoc(from, id)
    await mirrorByReplicator(from, to, options)
    assert.deepEqual(await heads(), all.filter(id => id !== 'osm:5:1:1'))
    const { results } = await json(`${to}/_changes`)
    assert.deepEqual(results.filter(({ deleted }) => deleted).map(({ id }) => id), ['osm:5:1:1'])
  })

  it('leaves conflicts behind when told to', async () => {
    const { _rev, ...layer } = await json(`${from}/layer:osm`)
    const docs = ['a', 'b'].map(hash => ({ ...layer, _id: 'layer:two', layer: 'two', name: hash, _rev: `1-${hash}`, _revisions: { start: 1, ids: [hash] } }))
    await json(`${from}/_bulk_docs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ new_edits: false, docs }) })
    const both = `${b.url}/both${counter}`
    const [one, two] = [await mirrorByReplicator(from, to, { limits, winningRevsOnly: true }), await mirrorByReplicator(from, both, { limits })]
    assert.notEqual(one.id, two.id)
    const leaves = async url => (await json(`${url}/_changes?style=all_docs&doc_ids=["layer:two"]&filter=_doc_ids`)).results[0].changes.map(({ rev }) => rev)
    assert.deepEqual([await leaves(to), await leaves(both)], [['1-b'], ['1-b', '1-a']])
  })

  it('goes on at the server when nobody watches any more, and ends when it is told to', async () => {
    const stop = new AbortController()
    const seen = []
    const watching = mirrorByReplicator(from, to, { limits, live: true, signal: stop.signal, onState: status => seen.push(status), onReady: () => seen.push({ state: 'ready' }) })
    watching.catch(() => {})
    await until(() => seen.some(({ state }) => state === 'ready'), { timeout: 30000, what: 'the mirror to be ready' })
    assert.ok(seen.some(({ upToDate }) => upToDate))
    stop.abort()
    await assert.rejects(watching, { code: 'ABORTED' })

    await store.write(square({ layer: 'osm', time: '2024-01-01T00:00:00Z', side: 2, seed: x => 7000 + x }))
    await until(async () => (await differences(from, to)).length === 0, { timeout: 30000, what: 'the server to go on' })
    const [id] = idsOf(from, to, { live: true })
    const last = watchReplicator(new Couch(to), id, { live: true, limits })
    assert.equal(await stopReplicator(from, to, { id }), true)
    assert.equal((await last).state, 'stopped')
    assert.equal(await stopReplicator(from, to, { id }), false)
    await store.write(square({ layer: 'osm', time: '2024-02-01T00:00:00Z', side: 1, seed: () => 8000 }))
    assert.deepEqual((await listMirrors(to)).mirrors, [])
  })

  it('can be done by the server of the source', async () => {
    const { state, id, replicated } = await mirrorByReplicator(from, to, { limits, push: true })
    assert.deepEqual([state, replicated.url], ['completed', new URL(a.url).origin])
    assert.ok((await docsOf(a.url)).some(({ _id }) => _id === id))
    assert.deepEqual(await differences(from, to), [])
  })

  it('opens both sides with whatever a password holds, and shows none', async () => {
    const password = 'p@ss:w/ord%25"\''
    await put(`${b.url}/_node/_local/_config/admins/odd`, password)
    const odd = `${b.url.replace(/\/\/.*@/, `//odd:${encodeURIComponent(password)}@`)}/odd${counter}`
    // the server hashes it a moment later
    await until(() => new Couch(odd, { retries: 0 }).request({ path: '_session', server: true }).then(() => true, () => false), { what: 'the password to be known' })
    const { state, ...result } = await mirrorByReplicator(from, odd, { limits })
    assert.equal(state, 'completed')
    assert.doesNotMatch(JSON.stringify([result, await listMirrors(odd)]), /p@ss|p%40ss|admin|"test"|auth/)
    await assert.rejects(replicate(from, as(to, 'admin', 'wrong')), { code: 'UNAUTHORIZED' })
    await assert.rejects(replicate(from, as(to)), { code: 'FORBIDDEN' })
  })

  it('tells of what goes wrong, in words without passwords', async () => {
    const server = await startCouchDb(undefined, { settings: HASTE })
    const seen = []
    const stop = new AbortController()
    try {
      await origin(`${server.url}/gone`)
      const watching = mirrorByReplicator(`${server.url}/gone`, to, { limits, live: true, signal: stop.signal, onState: status => seen.push(status) })
      watching.catch(() => {})
      await until(() => seen.at(-1)?.upToDate, { timeout: 30000, what: 'the mirror to be up to date' })
      await server.kill()
      await until(() => seen.at(-1).state === 'crashing', { timeout: 40000, what: 'the replicator to notice' })
      assert.match(seen.at(-1).error, /http_request_failed|conn/)
      assert.doesNotMatch(JSON.stringify(seen), /admin|"test"/)
      const [listed] = (await listMirrors(to)).mirrors
      assert.deepEqual([listed.state, listed.pending, listed.lag], ['crashing', undefined, undefined])
      assert.ok(listed.error)
    } finally {
      stop.abort()
      await server.close()
    }
  })

  it('reads a gateway, which takes no notes of it', async () => {
    const gateway = await startGateway({ db: from, port: 0, logLevel: 'silent' })
    try {
      const { state, replicated } = await mirrorByReplicator(`${gateway.url}/db`, to, { limits })
      assert.deepEqual([state, replicated.doc.use_checkpoints], ['completed', false])
      assert.deepEqual(await differences(from, to), [])
      await assert.rejects(replicate(`${gateway.url}/db`, to, { layers: ['osm'] }), { code: 'REPLICATOR_CANNOT' })
      await assert.rejects(replicate(from, `${gateway.url}/db`), { code: 'NO_REPLICATOR' })
    } finally {
      await gateway.close()
    }
  })
})

describe('a replicator', () => {
  it('is missed at the embedded store, which says what to do', async () => {
    const [embedded] = backends
    const url = await embedded.database()
    await assert.rejects(replicate(url, await embedded.database()), error => {
      assert.equal(error.code, 'NO_REPLICATOR')
      assert.match(error.advice, /Leave out --replicator/)
      return true
    })
    assert.equal((await request(url)).status, 404, 'nothing was made')
  })

  it('is not asked of a server to which localhost is another one', async () => {
    const [here, elsewhere] = ['http://localhost:5984/a', 'http://admin:secret@db.example/b']
    for (const [from, to, push] of [[here, elsewhere, false], [elsewhere, here, true]]) {
      await assert.rejects(replicate(from, to, { push }), error => error.code === 'REPLICATOR_CANNOT' && /db\.example would do it, and localhost means itself there/.test(error.message))
    }
  })

  it('is given names and passwords as its version takes them', () => {
    const couch = new Couch('http://us%40er:p%3Aw%2Fd@db.example/tiles')
    const basic = { username: 'us@er', password: 'p:w/d' }
    for (const version of ['3.5.0', '3.3.0', '3.2.1', '4.0.0']) assert.deepEqual(sideOf(couch, version), { url: 'http://db.example/tiles', auth: { basic } })
    for (const version of ['3.1.2', '2.3.1']) assert.equal(sideOf(couch, version), 'http://us%40er:p%3Aw%2Fd@db.example/tiles')
    assert.deepEqual(sideOf(new Couch('http://db.example/tiles', { ambient: false }), '3.5.0'), { url: 'http://db.example/tiles' })
  })
})
