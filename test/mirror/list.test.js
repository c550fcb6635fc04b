// `tilecouch mirror --list`: mirrors by tilecouch on every store, by CouchDB's own replicator where there is a CouchDB.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { Mirror, mirror } from '../../loader/mirror/index.js'
import { forgetMirror, listMirrors } from '../../loader/mirror/list.js'
import { Couch } from '../../loader/store/couch.js'
import { startGateway } from '../../server/gateway/index.js'
import { as, json, onEachStore, put, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { square } from '../support/tiles.js'
import { useServer } from '../loader/helpers.js'
import { origin } from './pairs.js'

const shown = url => new Couch(url).url

const run = (...argv) => runCommand(argv)

onEachStore('the list of mirrors', backend => {
  const stranger = useServer()
  let from, to, store
  beforeEach(async () => {
    [from, to] = [await backend.database(), await backend.database()]
    store = await origin(from)
  })

  const listed = async (url, limits) => (await listMirrors(url, { limits })).mirrors
  const write = year => store.write(square({ layer: 'osm', time: `${year}-01-01T00:00:00Z`, side: 2, seed: x => year + x }))

  it('is empty where nothing is mirrored', async () => {
    const { mirrors, unseen } = await listMirrors(from)
    assert.deepEqual([mirrors, unseen], [[], []])
    assert.match((await run('mirror', '--list', '--db', from)).out, /: 0 mirrors\n$/)
  })

  it('has a mirror at both of its sides, with its figures', async () => {
    await mirror(from, to, { layers: ['osm'], zooms: { min: 0, max: 9 } })
    for (const [url, role] of [[to, 'target'], [from, 'source']]) {
      const [one, ...others] = await listed(url)
      assert.deepEqual(others, [])
      assert.match(one.id, /^tilecouch-mirror-[0-9a-f]{16}$/)
      assert.deepEqual([one.by, one.role, one.from, one.to, one.live, one.state, one.pending, one.docs], ['tilecouch', role, shown(from), shown(to), false, 'completed', 0, 49])
      assert.deepEqual(one.selection.layers, ['osm'])
      assert.ok(one.rate > 0 && Date.now() - Date.parse(one.success) < 60000 && one.error === undefined)
    }
    await write(2025)
    assert.equal((await listed(to))[0].pending, 8, 'four heads, four that have gone to the past')
    const { out } = await run('mirror', '--list', '--db', to)
    assert.match(out, /BY +FROM +TO +PART +STATE +LAG +PENDING +RATE +LAST SUCCESS +ID\ntilecouch +http\S+ +\(here\) +osm; z0-9 +completed +\S+ +8 +\d/)
    assert.doesNotMatch(out, /admin|:test@/)
    assert.equal(JSON.parse((await run('mirror', '--list', '--db', to, '--json')).out).mirrors.length, 1)
  })

  it('distinguishes a live mirror from a dead one', async () => {
    const stop = new AbortController()
    const live = new Mirror(from, to, { live: true, signal: stop.signal })
    const running = live.run()
    running.catch(() => {})
    await until(() => live.status().state === 'following', { timeout: 30000, what: 'the mirror to follow' })
    await write(2025) // or there might be nothing to note for a minute
    await until(async () => (await listed(to))[0]?.state === 'following', { timeout: 30000, what: 'it to be noted' })
    await until(async () => (await listed(to))[0].pending === 0, { timeout: 30000, what: 'everything to be noted' })
    const [one] = await listed(to)
    assert.deepEqual([one.live, one.state, one.lag], [true, 'following', 0])
    await assert.rejects(forgetMirror(to, one.id), /it is running/)
    stop.abort()
    await assert.rejects(running, { code: 'ABORTED' })

    // as one that was killed leaves it
    const path = `${to}/_local/${one.id}`
    const { state, error, reason, ...doc } = await json(path)
    await put(path, { ...doc, state: 'following', noted: '2024-01-01T00:00:00Z', up_to_date: '2024-01-01T00:00:00Z', history: doc.history.map(entry => ({ ...entry, end_time: '2024-01-01T00:00:00Z' })) })
    await write(2026)
    const [dead] = await listed(to)
    assert.deepEqual([dead.state, dead.pending, dead.seen], ['dead', 8, '2024-01-01T00:00:00Z'])
    assert.ok(dead.lag > 86400)
    const { out } = await run('mirror', '--list', '--db', to)
    assert.match(out, new RegExp(`${one.id}: no heartbeat since 2024-01-01T00:00:00Z. Start it again, or: tilecouch mirror --forget ${one.id}`))
    const { code, out: forgotten } = await run('mirror', '--db', to, '--forget', one.id)
    assert.deepEqual([code, /^Forgotten: /.test(forgotten), /did not answer/.test(forgotten)], [0, true, false])
    assert.deepEqual([await listed(to), await listed(from)], [[], []])
    const { missing } = await mirror(from, to)
    assert.equal(missing, 8, 'it compares everything anew, and carries what is missing')
  })

  it('ignores documents that anybody may have written', async () => {
    const trap = `http://127.0.0.1:9/${'x'.repeat(20)}`
    const bad = [
      { session_id: 'a', from: 1, to: {} }, { session_id: 'a', from: trap, to: shown(to), history: 'none' }, { session_id: 'a', from: trap, to: shown(to), history: [null] },
      { from: trap, to: shown(to) }, { session_id: 'a', from: `${trap}\u001b[2J`, to: shown(to), state: '\u001b]0;gone\u0007', source_last_seq: {}, noted: 'never' }, { session_id: 'a', from: 'file:///etc/passwd', to: shown(to) }
    ]
    await request(to, { method: 'PUT' })
    for (const [index, doc] of bad.entries()) await put(`${to}/_local/tilecouch-mirror-${index}`, doc)
    const { code, out } = await run('mirror', '--list', '--db', to)
    assert.equal(code, 0)
    assert.match(out, /: 2 mirrors\n/)
    assert.doesNotMatch(out.replace(/\n/g, ''), /\p{Cc}/u)
    await assert.rejects(forgetMirror(to, 'tilecouch'), { code: 'BAD_OPTION' })
    await assert.rejects(forgetMirror(to, '../tilecouch'), { code: 'BAD_OPTION' })
  })

  it('sends no name or password to an address from a document', async () => {
    await request(to, { method: 'PUT' })
    stranger.answers = [[200, { results: [], last_seq: 9, pending: 0 }]]
    const names = { TILECOUCH_FROM_USER: 'me', TILECOUCH_FROM_PASSWORD: 'secret', COUCHDB_USER: 'me', COUCHDB_PASSWORD: 'secret' }
    const before = Object.fromEntries(Object.keys(names).map(name => [name, process.env[name]]))
    await put(`${to}/_local/tilecouch-mirror-0`, { session_id: 'a', from: shown(stranger.url), to: shown(to), source_last_seq: 3, live: true, state: 'following', noted: new Date().toISOString() })
    // the embedded store takes nobody for anybody else
    const own = backend.supports.users ? names : { TILECOUCH_FROM_USER: 'me', TILECOUCH_FROM_PASSWORD: 'secret' }
    Object.assign(process.env, own)
    try {
      assert.deepEqual((await listed(to)).map(({ pending }) => pending), [0])
    } finally {
      for (const [name, value] of Object.entries(before)) value === undefined ? delete process.env[name] : process.env[name] = value
    }
    assert.ok(stranger.requests.length > 0)
    assert.ok(stranger.requests.every(({ authorization }) => authorization === undefined))
  })

  it('reports what a gateway does not show', async () => {
    const gateway = await startGateway({ db: from, port: 0, logLevel: 'silent' })
    try {
      const { mirrors, unseen } = await listMirrors(`${gateway.url}/db`)
      assert.deepEqual([mirrors, unseen.map(({ by }) => by)], [[], ['tilecouch']])
    } finally {
      await gateway.close()
    }
  })

  if (!backend.supports.users) return

  it('has CouchDB’s own replications, and says who may see them', async () => {
    const server = await backend.url()
    await put(`${server}/_node/_local/_config/replicator/startup_jitter`, '1') // milliseconds, instead of seconds
    const id = `list-${process.pid}-${Date.now()}`
    await request(to, { method: 'PUT' })
    await put(`${to}/_security`, { members: { roles: [] } }) // everybody may read it
    await put(`${server}/_replicator/${id}`, { source: `${from}/`, target: { url: to }, continuous: true, doc_ids: ['layer:osm'] })
    try {
      await until(async () => (await listed(from))[0]?.state === 'running', { timeout: 40000, what: 'the replication to run' })
      for (const [url, role] of [[to, 'target'], [from, 'source']]) {
        const [one] = await listed(url)
        assert.deepEqual([one.by, one.id, one.role, one.from, one.to, one.live], ['couchdb', id, role, shown(from), shown(to), true])
      }
      const { out: table } = await run('mirror', '--list', '--db', to)
      assert.match(table, /couchdb +http\S+ +\(here\) +\? +running, live /)
      assert.doesNotMatch(table, /admin|:test@/)
      const { out: anonymous } = await run('mirror', '--list', '--db', as(to))
      assert.match(anonymous, /0 mirrors\nMirrors by CouchDB's replicator are not listed: the server shows its replications to its admins only\.\n/)
    } finally {
      await request(`${server}/_node/_local/_config/replicator/startup_jitter`, { method: 'DELETE' })
      const { _rev } = await json(`${server}/_replicator/${id}`)
      await request(`${server}/_replicator/${id}?rev=${_rev}`, { method: 'DELETE' })
    }
  })
})
