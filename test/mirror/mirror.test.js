// A store and its mirror: the first fill, design documents and access rights, and later runs.
import assert from 'node:assert/strict'
import { PRIVATE_SECURITY, PUBLIC_SECURITY, Store } from '../../loader/index.js'
import { Mirror, mirror } from '../../loader/maintain/mirror/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { until } from '../../bench/wait.js'
import { as, json, onEachPair, onEachStore, put, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { differences } from './compare.js'
import { startLink } from './link.js'
import { T2, anonymously, designsOf, isThere, notesOf, origin, pendingOf, securityOf } from './pairs.js'

onEachPair('a mirror', (from, to) => {
  let url, store, target
  beforeEach(async () => {
    url = await from.database()
    target = await to.database()
    store = await origin(url)
  })

  it('has all documents and an index, serves tiles, and is as public as its source', async () => {
    const { docs, refused, upToDate, ready } = await mirror(url, target)
    assert.deepEqual([docs, refused, ready.created, ready.access], [36 + 9 + 4, 0, true, 'opened'])
    assert.ok(upToDate)
    assert.deepEqual(await differences(url, target, { design: true }), [])
    const pending = await pendingOf(target)
    assert.ok(pending.length === 1 && pending.every(count => count <= 2), `no reader waits for an index: ${pending}`)
    assert.deepEqual(await securityOf(target), PUBLIC_SECURITY)
    for (const [address, seed] of [['osm/5/0/0.png', 1000], ['osm@2022/5/0/0.png', 0], ['osm/5/5/5.png', 35]]) {
      const answer = await request(`${target}/_design/tiles/_rewrite/${address}`)
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(png(seed)), address)
    }
  })

  it('writes nothing in a second run when nothing changed', async () => {
    await mirror(url, target)
    const { update_seq: seqBefore } = await json(target)
    const { changes, missing, docs, ready } = await mirror(url, target)
    assert.deepEqual([changes, missing, docs, ready.created, ready.access], [0, 0, 0, false, 'kept'])
    assert.ok(ready.designs.every(({ action }) => action === 'unchanged'))
    assert.equal(Number.parseInt((await json(target)).update_seq), Number.parseInt(seqBefore))
  })

  it('is for admins only and has no validation while it is filled, and opens in the run after a stop', async () => {
    const stop = new AbortController()
    const onProgress = ({ docs }) => { if (docs) stop.abort() }
    await assert.rejects(mirror(url, target,
      { signal: stop.signal, onProgress, limits: { page: 5, pages: 1, batch: 5 } }), { code: 'ABORTED' })
    assert.deepEqual([await securityOf(target), await designsOf(target)], [PRIVATE_SECURITY, {}])
    assert.ok((await json(target)).doc_count < 49)
    const { ready } = await mirror(url, target)
    assert.deepEqual([ready.created, ready.access], [true, 'opened'])
    assert.deepEqual(await differences(url, target, { design: true }), [])
  })

  it('is measured by a dry run, which counts the missing documents and writes nothing', async () => {
    const [{ update_seq: seqBefore }, notes] = [await json(url), await notesOf(url)]
    const { missing, docs, lacked } = await mirror(url, target, { dryRun: true })
    assert.deepEqual([missing, docs, lacked], [49, 0, { marker: 1, layers: 1, editions: 2, heads: 36, past: 9 }])
    assert.equal((await mirror(url, null, { dryRun: true })).missing, 49)
    assert.deepEqual([await isThere(target), (await json(url)).update_seq.split('-')[0], await notesOf(url)],
      [false, seqBefore.split('-')[0], notes])
    await mirror(url, target, { layers: ['osm'], current: true })
    const targetNotes = await notesOf(target)
    assert.equal((await mirror(url, target, { dryRun: true })).missing, 9, 'the past')
    assert.equal(await notesOf(target), targetNotes)
  })

  it('keeps the security and a design document that the target’s operator set', async () => {
    const security = { admins: { names: ['operator'], roles: ['_admin'] }, members: { names: ['guest'], roles: [] } }
    const targetStore = await Store.create(target, { public: false })
    await targetStore.secure(security)
    await put(`${target}/_design/tiles`,
      { language: 'javascript', mine: true, validate_doc_update: '(function () {})' })
    const { ready } = await mirror(url, target)
    assert.deepEqual([ready.created, ready.access, await securityOf(target)], [false, 'kept', security])
    assert.deepEqual(ready.designs.map(({ id, action }) => [id, action]).sort(),
      [['_design/tiles', 'differs'], ['_design/versions', 'copied']])
    assert.equal((await json(`${target}/_design/tiles`)).mine, true)
  })

  it('completes in both runs when it is started twice at the same time', async () => {
    const statuses = await Promise.all([mirror(url, target), mirror(url, target)])
    assert.ok(statuses.every(({ upToDate, lacking }) => upToDate && !lacking))
    assert.deepEqual(await differences(url, target, { design: true }), [])
    assert.equal(await json(`${target}/_local/tilecouch-filling`).then(({ error }) => error), 'not_found')
  })

  it('treats an empty closed database as a new one', async () => {
    await request(target, { method: 'PUT' })
    await put(`${target}/_security`, PRIVATE_SECURITY)
    assert.deepEqual((({ created, access }) => [created, access])((await mirror(url, target)).ready), [true, 'opened'])
  })

  it('waits, when live, for a source that is not running yet, and then follows it', async () => {
    const link = await startLink(url)
    await link.cut()
    const stop = new AbortController()
    const states = []
    const live = new Mirror(link.url, target,
      { live: true, signal: stop.signal, onState: ({ state, error }) => states.push(`${state} ${error ?? ''}`.trim()) })
    assert.equal(live.status().lag, undefined)
    const ended = assert.rejects(live.run(), { code: 'ABORTED' })
    try {
      await until(() => live.status().state === 'away')
      assert.equal(live.status().error, 'UNREACHABLE')
      assert.ok(!await isThere(target), 'nothing is made before the source is known')
      await link.restore()
      await until(() => live.status().state === 'following')
      assert.deepEqual([live.status().error, live.status().ready.access], [undefined, 'opened'])
      await store.write([{ layer: 'osm', z: 5, x: 9, y: 9, time: T2, bytes: png(7) }])
      await until(() => isThere(`${target}/osm:5:9:9`))
      assert.deepEqual([states[0], states.at(-1)], ['away UNREACHABLE', 'following'])
    } finally {
      stop.abort()
      await ended
      await link.close()
    }
  })
})

onEachStore('the sources and targets of a mirror', backend => {
  let url, target
  before(async () => {
    url = await backend.database()
    await origin(url, { side: 2 })
  })
  beforeEach(async () => { target = await backend.database() })

  it('cannot be the same store, even at another port, but can be copies of its files', async () => {
    const link = await startLink(url)
    try {
      for (const options of [{}, { live: true }, { dryRun: true }]) {
        await assert.rejects(mirror(url, url, options), { code: 'SAME_DATABASE' })
      }
      await assert.rejects(mirror(link.url, url), { code: 'SAME_DATABASE' })
      await assert.rejects(mirror(url, link.url), { code: 'SAME_DATABASE' })
    } finally {
      await link.close()
    }
    const { uuid } = await json(`${url}/_local/tilecouch`)
    await Store.create(target)
    await put(`${target}/_local/tilecouch`, { uuid })
    assert.ok((await mirror(url, target)).docs >= 7)
    assert.equal((await json(`${url}/_local/tilecouch`)).uuid, uuid)
    assert.notEqual((await json(`${target}/_local/tilecouch`)).uuid, uuid)
  })

  it('have to be stores, and the source has to exist', async () => {
    const foreign = await backend.database()
    await request(foreign, { method: 'PUT' })
    await put(`${foreign}/blog`, { post: 1 })
    await assert.rejects(mirror(url, foreign), { code: 'NOT_A_STORE' })
    await assert.rejects(mirror(foreign, target),
      ({ code, message }) => code === 'SOURCE_UNREADABLE' && message.includes('blog'))
    await assert.rejects(mirror(`${url}_not_there`, target), { code: 'SOURCE_NOT_FOUND' })
    await assert.rejects(mirror(`${url}_not_there`, target, { live: true }), { code: 'SOURCE_NOT_FOUND' })
    assert.ok(!await isThere(target))
  })

  it('can include a gateway as source, but not as target', async () => {
    const { url: gateway, close } = await startGateway({ db: url, port: 0, logLevel: 'silent', dbAccess: true })
    const gatewayDb = `${gateway.replace(/\/$/, '')}/db`
    try {
      for (const dryRun of [false, true]) {
        await assert.rejects(mirror(url, gatewayDb, { dryRun }),
          ({ code, message }) => code === 'READ_ONLY' && message.includes('gateway'))
      }
      await assert.rejects(mirror(gateway.replace(/\/$/, '') + '/tiles', target),
        ({ code, message }) => code === 'SOURCE_UNREADABLE' && message.includes('/db'))
      await assert.rejects(mirror(gatewayDb, url), { code: 'SAME_DATABASE' })
      const { ready } = await mirror(gatewayDb, target)
      assert.deepEqual([ready.created, ready.access], [true, 'opened'])
      assert.deepEqual(await differences(url, target, { design: true }), [])
      assert.equal((await mirror(gatewayDb, target)).changes, 0, 'the target remembers alone')
    } finally {
      await close()
    }
    if (backend.supports.users) assert.equal(await anonymously(as(target)), 200)
  })

  it('share only the layers that exist; missing layers are reported', async () => {
    const { unknown, docs } = await mirror(url, target, { layers: ['osm', 'nothing'] })
    assert.deepEqual([unknown, docs], [['nothing'], 4 + 1 + 4])
  })
})
