// Tests of how a gateway starts, also without its store, and how it stops. After an outage of the store, no failure may
// stay in memory. Also tests limits of client connections.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { Store, load } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { noiseTile } from '../../bench/tiles.js'
import { TIME_FACTOR, freePort, until } from '../../bench/wait.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { Listener } from '../../server/http/listener.js'
import { createGate, startFront } from '../support/client/front.js'
import { onEachStore, put, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { memorySource } from '../support/memory-source.js'
import { startServer } from '../support/server.js'
import { png, square } from '../support/tiles.js'
import { entryOf, openGateway, openStore, useGateway } from '../support/gateway/stand.js'
import { ask, closeConnections, speak } from '../support/gateway/wire.js'
import { useFront } from './use-front.js'

const VIEW = { bbox: [-180, -85, 180, 85], z: 3 }
const PATHS = ['/osm/3/1/1.json', '/osm/times.json?bbox=-180,-85,180,85&z=3', '/osm.json', '/osm@2021/3/1/1.png']

onEachStore('a gateway', backend => {
  const fixture = useGateway(backend, {
    options: null,
    async fill (store) {
      for (const time of ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z']) {
        await load(store, memorySource({ '3/1/1': 1, '3/1/2': 2 }), { layer: 'osm', time })
      }
    }
  })

  it('refuses to start with a database that is not a store, or with a wrong option', async () => {
    const foreignDatabase = await backend.database()
    await request(foreignDatabase, { method: 'PUT' })
    await put(`${foreignDatabase}/invoice`, {})
    const invalidOptions = [
      [{ db: foreignDatabase }, 'NOT_A_STORE'], [{ db: await backend.database() }, 'DATABASE_NOT_FOUND'],
      [{ db: 'no/such:environment' }, 'BAD_DATABASE'], [{}, 'BAD_OPTION'],
      [{ db: fixture.url, cors: 'everybody' }, 'BAD_OPTION'], [{ db: fixture.url, port: 99999 }, 'BAD_OPTION'],
      [{ db: fixture.url, host: '203.0.113.1' }, 'BAD_OPTION'], [{ db: fixture.url, colour: 'red' }, 'BAD_OPTION']
    ]
    for (const [options, code] of invalidOptions) {
      await assert.rejects(startGateway({ port: 0, logLevel: 'silent', ...options }), { code }, JSON.stringify(options))
    }
  })

  it('refuses to start on a port in use, and leaves no other port open', async () => {
    const { port, close } = await startServer(() => {})
    await assert.rejects(openGateway(fixture.url, { port }), { code: 'PORT_IN_USE' })
    const unusedPort = await freePort()
    await assert.rejects(openGateway(fixture.url, { port: unusedPort, opsPort: port }), { code: 'PORT_IN_USE' })
    await close()
    const gateway = await openGateway(fixture.url, { port: unusedPort, opsPort: port })
    assert.deepEqual([gateway.url, gateway.opsUrl], [`http://127.0.0.1:${unusedPort}`, `http://127.0.0.1:${port}`])
    await Promise.all([gateway.close(), gateway.close()])
    await gateway.close()
  })

  it('ends feeds at once and answers all other requests when it closes under load', async () => {
    const side = 8
    await fixture.store.write(
      square({ layer: 'osm', time: '2024-03-01T00:00:00Z', z: 5, side, seed: (x, y) => x * side + y })
    )
    const gateway = await openGateway(fixture.url, { memory: 20000 }) // bytes: most tiles come from the store
    // it may end before the first byte
    const feed = ask(gateway.url, '/db/_changes?feed=continuous&heartbeat=5000&since=now', { agent: false })
      .catch(() => {})
    const agent = new Agent({ keepAlive: true, maxSockets: 40 })
    const results = { answers: 0, failures: [] }
    async function client (number) {
      for (let round = number; ; round++) {
        const [x, y] = [round % side, (round * 3) % side]
        try {
          const { status, body, cut } = await ask(gateway.url, `/osm/5/${x}/${y}.png`, { agent })
          if (cut || status !== 200 || !body.equals(png(x * side + y))) results.failures.push(status)
          results.answers++
        } catch (error) {
          if (error.code !== 'ECONNREFUSED') results.failures.push(error.code)
          return
        }
      }
    }
    const clients = Promise.all(Array.from({ length: 40 }, (_, number) => client(number)))
    await until(() => results.answers > 1000, { what: 'load', timeout: 30000 })
    const started = performance.now()
    await gateway.close()
    assert.ok(performance.now() - started < 8000 * TIME_FACTOR, 'it did not wait for the feed')
    await Promise.all([clients, feed])
    agent.destroy()
    assert.deepEqual(results.failures, [])
  }).timeout(60000)

  describe('after an outage of its store', () => {
    let front
    let frontUrl // the address of the store behind the front, which can be stopped
    before(async () => {
      front = await startFront(fixture.url)
      frontUrl = front.accountUrl
    })
    after(() => front.close().catch(() => {}))

    /** Reads while the store fails after some allowed requests, then reads again and returns the result. */
    async function failThen (read, allowed) {
      let requests = 0
      const release =
        front.rule(() => ++requests > allowed ? { status: 503, body: '{"error":"away","reason":"away"}' } : undefined)
      await assert.rejects(read(), { code: 'COUCHDB_ERROR' })
      release()
      await read().catch(() => {}) // this read may share a request of the first one, which fails late
      return read()
    }

    for (const [name, read] of [
      ['versions of a tile', store => store.versions('osm', 3, 1, 1)],
      ['times at which editions read the view', store => store.timesLooked('osm', VIEW)],
      ['the last check of a tile', store => store.shownSince('osm', 3, 1, 1)]
    ]) {
      it(`leaves no failure behind for ${name}, whichever request failed`, async () => {
        const expected = await read(fixture.store)
        front.forget()
        await read(new Store(new Couch(frontUrl)))
        const count = front.requests().length
        for (let allowed = 0; allowed < count; allowed++) {
          const store = new Store(new Couch(frontUrl, { retries: 0 }))
          const result = await failThen(() => read(store), allowed)
          assert.deepEqual(result, expected, `after ${allowed} of ${count} requests`)
        }
      })
    }

    it('leaves no failure behind at any address of a running gateway', async () => {
      const gateway = await openGateway(frontUrl)
      try {
        await front.stop()
        const statuses = async () => (await Promise.all(PATHS.map(path => ask(gateway.url, path))))
          .map(({ status }) => status)
        assert.deepEqual(await statuses(), PATHS.map(() => 503))
        await front.restart()
        assert.deepEqual(await statuses(), PATHS.map(() => 200))
      } finally {
        await gateway.close()
      }
    }).timeout(60000)
  })
})

describe('a gateway that starts before its store', () => {
  const folder = useFolder()
  afterEach(() => closeConnections())

  it('answers 503 until the store can be reached, and serves afterwards', async () => {
    const port = await freePort()
    const db = `http://127.0.0.1:${port}/tiles`
    const start = () => startEmbedded({ dir: join(folder.dir, 'data'), port, admins: 'everybody' })
    const first = await start()
    await openStore(db, async store => {
      await store.defineLayer('osm', {})
      await store.write([{ layer: 'osm', z: 1, x: 0, y: 0, time: '2024-03-01T00:00:00Z', bytes: png(3) }])
    })
    await first.close()
    const gateway = await openGateway(db)
    let second
    try {
      const unavailable = await ask(gateway.url, '/osm/1/0/0.png')
      assert.deepEqual([unavailable.status, unavailable.json.error,
        unavailable.headers['retry-after'], unavailable.headers['cache-control']],
      [503, 'UNREACHABLE', '5', 'no-store'])
      assert.ok(!unavailable.text.includes(`${port}`), 'nobody learns where the store is')
      for (const address of ['/health', '/osm@2024/1/0/0.png', '/osm.json', '/osm/1/0/0.json', '/osm/times.json', '/db',
        '/db/osm:1:0:0/tile', '/wmts/1.0.0/WMTSCapabilities.xml', '/wmts/osm/default/GoogleMapsCompatible/1/0/0.png']) {
        const { status, text, headers } = await ask(gateway.url, address)
        assert.deepEqual([status, headers['cache-control']], [503, 'no-store'], `${address}: ${text}`)
        assert.ok(!text.includes(`${port}`), `${address}: ${text}`)
      }
      assert.equal((await ask(gateway.url, '/Osm/1/0/0.png')).status, 400, 'what is wrong is wrong without a store')
      second = await start()
      await until(async () => (await ask(gateway.url, '/health')).status === 200,
        { what: 'a green /health', timeout: 20000 })
      await until(async () => (await ask(gateway.url, '/osm/1/0/0.png')).body.equals(png(3)),
        { what: 'the tile', timeout: 20000 })
    } finally {
      await gateway.close()
      await second?.close()
    }
  })
})

describe('the end of a gateway', () => {
  const front = useFront()
  const { open, get } = front

  it('finishes running requests, accepts no new ones, and may be called twice', async () => {
    const answerGate = createGate()
    await open({ get: async () => { await answerGate.opened; return entryOf({ bytes: noiseTile(3, 500000) }) } })
    const slow = get('/osm/1/1/1.png')
    await until(() => Boolean(front.ctx), { what: 'a gateway' })
    await get('/osm/1/0/0.png')
    const [first, second] = [front.close(20000), front.close(0)]
    assert.equal(first, second)
    await assert.rejects(ask(front.url, '/osm/1/0/0.png', { agent: false }), { code: 'ECONNREFUSED' })
    answerGate.open()
    const { status, body, cut, headers } = await slow
    assert.deepEqual([status, body.length, cut, headers.connection], [200, noiseTile(3, 500000).length, false, 'close'])
    await first
    await front.close(0)
  })

  it('cuts off unfinished requests after the grace period', async () => {
    await open({ get: () => new Promise(() => {}) })
    const slow = get('/osm/1/1/1.png')
    const outcome = slow.then(() => 'answered', error => error.code)
    await until(async () => (await get('/osm/1/0/0.png')).status === 200, { what: 'a gateway' })
    const started = performance.now()
    await front.close(100)
    assert.equal(await outcome, 'ECONNRESET')
    assert.ok(performance.now() - started < 5000 * TIME_FACTOR)
  })
})

describe('the connections of clients', () => {
  const front = useFront()
  const { open } = front
  const closing = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  async function openListener (handler, limits) {
    const listener = new Listener(handler, limits)
    closing.push(() => listener.close(0))
    return { listener, port: await listener.listen(0, '127.0.0.1') }
  }

  it('are closed when too many requests wait on one connection', async () => {
    let requestCount = 0
    await open({ limits: { pipelined: 8 }, get: (id, signal) => new Promise((resolve, reject) => {
      requestCount++
      signal.addEventListener('abort', () => reject(new Error('left')))
    }) })
    const tile = (path, headerLines = '') => `GET /osm/${path}.png HTTP/1.1\r\nHost: x\r\n${headerLines}\r\n`
    assert.equal(await speak(front.url, tile('1/1/1').repeat(50)), '', 'closed, without half an answer')
    assert.equal(requestCount, 8)
    const answers = await speak(front.url, tile('1/0/0').repeat(199) + tile('1/0/0', 'Connection: close\r\n'))
    assert.equal(answers.match(/HTTP\/1\.1 200/g)?.length, 200, 'what is answered at once does not wait')
  })

  it('close every waiting response when the client leaves', async () => {
    const [startedUrls, closedUrls] = [[], []]
    const { port } = await openListener((req, res) => {
      startedUrls.push(req.url)
      return once(res, 'close').then(() => { closedUrls.push(req.url) })
    })
    const socket = net.connect(port, '127.0.0.1').on('error', () => {})
    for (const path of ['/1', '/2', '/3']) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await until(() => startedUrls.length === 3, { what: 'three requests of one connection' })
    socket.destroy()
    await until(() => closedUrls.length === 3, { what: 'three answers that hear that their client has left' })
  })

  it('are closed after an idle time', async () => {
    await open({ limits: { idle: 100 }, get: () => new Promise(() => {}) })
    const started = Date.now()
    assert.equal(await speak(front.url, 'GET /osm/1/1/1.png HTTP/1.1\r\nHost: x\r\n\r\n', { timeout: 5000 }), '')
    assert.ok(Date.now() - started < 4000 * TIME_FACTOR)
  })

  it('are limited for each address, but not for proxies on this machine', async () => {
    let peer = 'a'
    const { port } =
      await openListener((req, res) => { res.end('here') }, { connectionsEach: 2, addressOf: () => peer })
    const sockets = []
    closing.push(async () => { for (const socket of sockets) socket.destroy() })
    const connect = async address => {
      peer = address
      const socket = net.connect(port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      return Promise.race(
        [once(socket, 'data').then(([data]) => /here/.test(`${data}`)), once(socket, 'close').then(() => false)]
      )
    }
    const outcomes = []
    for (const address of ['a', 'a', 'a', 'b', null, null, null]) outcomes.push(await connect(address))
    assert.deepEqual(outcomes, [true, true, false, true, true, true, true])
    sockets[0].destroy()
    await until(() => connect('a'), { what: 'room for another' })
  })

  it('are closed soon at the end, without waiting for clients that keep them', async () => {
    const { port, listener } = await openListener((req, res) => { res.end('x') }, { linger: 50 })
    const sockets = await Promise.all(Array.from({ length: 20 }, () => new Promise(resolve => {
      const socket = net.connect(port, '127.0.0.1').on('error', () => {})
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      socket.once('data', () => resolve(socket))
    })))
    const ends = Promise.all(sockets.map(socket => new Promise(resolve => socket.once('close', resolve))))
    const started = performance.now()
    await listener.close(60000)
    await ends
    assert.ok(performance.now() - started < 5000 * TIME_FACTOR, 'nobody waited for the clients')
  })
})
