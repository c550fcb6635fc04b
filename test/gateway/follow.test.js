// Tests of the follower, which reads the change feed of a store: through proxies, replaced databases and faulty feeds.
import assert from 'node:assert/strict'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { Follower } from '../../loader/store/follow.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { startFront } from '../support/client/front.js'
import { onEachStore } from '../support/backends.js'
import { startServer } from '../support/server.js'
import { png } from '../support/tiles.js'

const quickLimits = { heartbeat: 50, silence: 1000, firstDelay: 10, longestDelay: 50, poll: 300 }
const tile = (x, time = '2021-01-01T00:00:00Z') => ({ layer: 'osm', z: 5, x, y: 0, time, bytes: png(x) })

/** Creates a follower, and collects the changes and resets that it reports. */
function follow (couch, limits) {
  const told = { ids: [], changes: [], resets: 0, events: [] }
  const follower = new Follower({ couch }, {
    limits: { ...quickLimits, ...limits },
    onChange (change) {
      told.ids.push(change.id)
      told.changes.push(change)
      told.events.push(change.id)
    },
    onReset () {
      told.resets++
      told.events.push(`reset, ${follower.isAnchored ? 'anchored' : 'adrift'}`)
    }
  })
  return { follower, told }
}

onEachStore('the follower of a store', backend => {
  let url, store, front, follower, told
  const open = async limits => {
    ({ follower, told } = follow(new Couch(front.accountUrl), limits))
    await follower.start()
    await until(() => follower.state.up)
  }
  const waitForChange = id => until(() => told.ids.includes(id), { what: `${id} to be told of` })

  beforeEach(async () => {
    url = await backend.database()
    store = await Store.create(url)
    front = await startFront(url)
  })
  afterEach(async () => {
    await follower.close()
    await front.close().catch(() => {})
    await store.destroy().catch(() => {})
  })

  it('loses no change when it renews its connection, and reports no error', async () => {
    await open({ renew: 100 })
    for (let x = 0; x < 20; x++) await store.write([tile(x)])
    await waitForChange('osm:5:19:0')
    await until(() => follower.state.connections > 4)
    const heads = told.ids.filter(id => /^osm:5:\d+:0$/.test(id))
    assert.deepEqual([heads.length, new Set(heads).size, told.resets, follower.state.error], [20, 20, 1, undefined])
  })

  it('reports every change after its start within a second, and none before', async () => {
    await store.write([tile(1)])
    await open()
    assert.deepEqual(told.events, ['reset, anchored'], 'what was being read before is not trusted')
    const { rows } = await store.couch.request({ path: '_all_docs' })
    assert.ok(rows.some(({ id }) => id === 'osm:5:1:0'))
    const started = performance.now()
    await store.write([tile(2)])
    await waitForChange('osm:5:2:0')
    assert.ok(performance.now() - started < 1000 * TIME_FACTOR)
    const doc = await store.couch.get('osm:5:2:0')
    assert.deepEqual(told.changes, [{ id: 'osm:5:2:0', rev: doc._rev, deleted: false }])
    const { rev } = await store.couch.request({ method: 'DELETE', path: 'osm:5:2:0', qs: { rev: doc._rev } })
    await until(() => told.changes.length === 2)
    assert.deepEqual(told.changes[1], { id: 'osm:5:2:0', rev, deleted: true })
    assert.equal(follower.state.resets, 0)
  })

  it('notices that a database was replaced by a larger one', async () => {
    await store.write([tile(1)])
    await open()
    await store.destroy()
    store = await Store.create(url)
    await store.write([1, 2, 3, 4, 5, 6, 7, 8].map(x => tile(x)))
    await until(() => told.resets >= 2 && follower.state.up, { what: 'the other database to be noticed' })
    await store.write([tile(9)])
    await waitForChange('osm:5:9:0')
  })

  it('polls when a proxy buffers the continuous feed', async () => {
    front.rule(async ({ kind, path }) => {
      if (kind === 'changes' && path.includes('continuous')) await new Promise(resolve => { setTimeout(resolve, 2000) })
    });
    ({ follower, told } = follow(new Couch(front.accountUrl), { silence: 150 }))
    await follower.start()
    await until(() => follower.state.up)
    assert.equal(follower.state.feed, 'longpoll')
    for (const x of [1, 2, 3]) {
      await store.write([tile(x)])
      await waitForChange(`osm:5:${x}:0`)
    }
    assert.equal(told.ids.length, 3)
    const countBefore = front.requests('changes').length
    await until(() => front.requests('changes').length >= countBefore + 2,
      { what: 'a poll without a change to end, and the next' })
    assert.ok(follower.state.up)
    assert.equal(told.resets, 1)
  })
})

describe('a feed that misbehaves', () => {
  let closing
  beforeEach(() => { closing = [] })
  afterEach(async () => { for (const close of closing) await close() })

  /** Starts a follower of a scripted server, which answers like CouchDB and sends the given feed. */
  async function serve (feed, { silence = 200 } = {}) {
    const info = { update_seq: '5-x', instance_start_time: '1' }
    const queries = []
    const server = await startServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
      if (!pathname.endsWith('/_changes')) {
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(info))
      }
      queries.push(Object.fromEntries(searchParams))
      feed(response, queries.length)
    })
    const { follower, told } = follow(new Couch(`${server.url}/db`), { silence })
    closing.push(async () => {
      await follower.close()
      await server.close()
    })
    return { asked: queries, info, told, follower }
  }
  const line = (seq, id = `osm:0:0:${seq}`) => JSON.stringify({ seq: `${seq}-x`, id, changes: [{ rev: `1-${seq}` }] }) +
    '\n'

  it('is reopened from its last sequence when it falls silent', async () => {
    const stand = await serve((response, time) => response.write(line(5 + time)))
    await stand.follower.start()
    stand.info.update_seq = '99-x'
    await until(() => stand.asked.length >= 3, { what: 'two new connections' })
    assert.deepEqual(stand.asked.slice(0, 3).map(({ since }) => since), ['5-x', '6-x', '7-x'])
    assert.equal(stand.told.resets, 1)
    assert.equal(stand.follower.state.feed, 'continuous', 'a feed that has brought something is no collected one')
  })

  it('is read as whole changes when it arrives byte by byte, with any characters', async () => {
    const text = Buffer.from(line(6, 'größe:日本') + '\n' + line(7))
    const stand = await serve((response, time) => {
      if (time > 1) return
      let offset = 0
      const next = () => offset < text.length
        ? response.write(text.subarray(offset, ++offset), () => setImmediate(next))
        : response.write('\n')
      next()
    }, { silence: 30000 })
    await stand.follower.start()
    await until(() => stand.told.ids.length === 2)
    assert.deepEqual(stand.told.ids, ['größe:日本', 'osm:0:0:7'])
  })

  it('causes a reset when its sequences begin again', async () => {
    const stand = await serve((response, time) => response.write(line(time === 1 ? 2 : 9)))
    await stand.follower.start()
    await until(() => stand.told.ids.length === 1)
    assert.deepEqual(stand.told.events.slice(0, 4),
      ['reset, anchored', 'reset, adrift', 'reset, anchored', 'osm:0:0:9'])
  })

  it('is opened again with a reset when the store refuses its sequence', async () => {
    const stand = await serve((response, time) => time === 1
      ? response.writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":"bad_request","reason":"Malformed sequence supplied in \'since\' parameter."}')
      : response.write(line(6)))
    await stand.follower.start()
    await until(() => stand.told.ids.length === 1)
    assert.equal(stand.follower.state.resets, 1)
  })

  it('is requested with pauses when it is refused, ends at once or is invalid', async () => {
    for (const feed of [
      response => response.writeHead(403, { 'content-type': 'application/json' })
        .end('{"error":"forbidden","reason":"no"}'),
      response => response.end('{"last_seq":"5-x","pending":0}\n'),
      response => response.end('<html>\n'),
      response => response.destroy(),
      response => response.end('{"error":"timeout","reason":"x"}\n')
    ]) {
      const stand = await serve(feed)
      const started = performance.now()
      await stand.follower.start()
      await until(() => stand.asked.length >= 4)
      // three pauses take at least 30 ms, but timers may fire early; without pauses it takes 1 or 2 ms
      assert.ok(performance.now() - started > 15, String(feed))
      assert.equal(stand.told.ids.length, 0)
    }
  })

  it('is closed within half a second while it waits for changes', async () => {
    const stand = await serve(response => response.write('\n'))
    await stand.follower.start()
    await until(() => stand.follower.state.up)
    const started = performance.now()
    await stand.follower.close()
    assert.ok(performance.now() - started < 500 * TIME_FACTOR)
    assert.equal(stand.follower.state.state, 'closed')
    assert.equal(stand.follower.state.up, false)
  })
})
