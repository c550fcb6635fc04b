// How a gateway starts: also before its store does, and not at all when something is wrong that will not pass.
import assert from 'node:assert/strict'
import { Agent, createServer } from 'node:http'
import path from 'node:path'
import { freePort, until } from '../../bench/wait.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { onEachStore, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png, square } from '../support/tiles.js'
import { openGateway, openStore } from './support/stand.js'
import { ask, closeConnections } from './support/wire.js'

onEachStore('a gateway', backend => {
  let url
  let store
  before(async () => {
    url = await backend.database()
    store = await openStore(url, made => made.defineLayer('osm', {}))
  })
  after(async () => {
    closeConnections()
    await store.destroy()
  })

  it('does not start on what is no store of ours, and says so', async () => {
    const foreign = await backend.database()
    await request(foreign, { method: 'PUT' })
    await request(`${foreign}/invoice`, { method: 'PUT', body: '{}', headers: { 'content-type': 'application/json' } })
    const wrong = [
      [{ db: foreign }, 'NOT_A_STORE'], [{ db: await backend.database() }, 'DATABASE_NOT_FOUND'], [{ db: 'no/such:environment' }, 'BAD_DATABASE'], [{}, 'BAD_OPTION'],
      [{ db: url, cors: 'everybody' }, 'BAD_OPTION'], [{ db: url, port: 99999 }, 'BAD_OPTION'], [{ db: url, host: '203.0.113.1' }, 'BAD_OPTION'], [{ db: url, colour: 'red' }, 'BAD_OPTION']
    ]
    for (const [options, code] of wrong) await assert.rejects(startGateway({ port: 0, logLevel: 'silent', ...options }), { code }, JSON.stringify(options))
  })

  it('does not start on a port that is taken, and leaves nothing behind then', async () => {
    const taken = createServer()
    const port = await new Promise(resolve => taken.listen(0, '127.0.0.1', () => resolve(/** @type {any} */ (taken.address()).port)))
    await assert.rejects(openGateway(url, { port }), { code: 'PORT_IN_USE' })
    const free = await freePort()
    await assert.rejects(openGateway(url, { port: free, opsPort: port }), { code: 'PORT_IN_USE' })
    await new Promise(resolve => taken.close(resolve))
    const gateway = await openGateway(url, { port: free, opsPort: port })
    assert.deepEqual([gateway.url, gateway.opsUrl], [`http://127.0.0.1:${free}`, `http://127.0.0.1:${port}`])
    await Promise.all([gateway.close(), gateway.close()])
    await gateway.close()
  })

  it('ends feeds at once and answers everything else, when it ends under load', async function () {
    this.timeout(60000)
    const side = 8
    await store.write(square({ layer: 'osm', time: '2024-03-01T00:00:00Z', z: 5, side, seed: (x, y) => x * side + y }))
    const gateway = await openGateway(url, { memory: 20000 }) // so that most must come from the store
    const feed = ask(gateway.url, '/db/_changes?feed=continuous&heartbeat=5000&since=now', { agent: false }).catch(() => {}) // it may end before a word
    const agent = new Agent({ keepAlive: true, maxSockets: 40 })
    const seen = { answers: 0, failures: /** @type {any[]} */ ([]) }
    async function client (number) {
      for (let round = number; ; round++) {
        const [x, y] = [round % side, (round * 3) % side]
        try {
          const { status, body, cut } = await ask(gateway.url, `/osm/5/${x}/${y}.png`, { agent })
          if (cut || status !== 200 || !body.equals(png(x * side + y))) seen.failures.push(status)
          seen.answers++
        } catch (error) {
          if (error.code !== 'ECONNREFUSED') seen.failures.push(error.code)
          return
        }
      }
    }
    const clients = Promise.all(Array.from({ length: 40 }, (_, number) => client(number)))
    await until(() => seen.answers > 1000, { what: 'load', timeout: 30000 })
    const started = performance.now()
    await gateway.close()
    assert.ok(performance.now() - started < 8000, 'it did not wait for the feed')
    await Promise.all([clients, feed])
    agent.destroy()
    assert.deepEqual(seen.failures, [])
  })
})

describe('a gateway that starts before its store', () => {
  const folder = useFolder()
  afterEach(() => closeConnections())

  it('says that it cannot serve yet, and serves as soon as the store is there', async () => {
    const port = await freePort()
    const db = `http://127.0.0.1:${port}/tiles`
    const start = () => startEmbedded({ dir: path.join(folder.dir, 'data'), port, admins: 'everybody' })
    const first = await start()
    await openStore(db, async made => {
      await made.defineLayer('osm', {})
      await made.write([{ layer: 'osm', z: 1, x: 0, y: 0, time: '2024-03-01T00:00:00Z', bytes: png(3) }])
    })
    await first.close()
    const gateway = await openGateway(db)
    let second
    try {
      const away = await ask(gateway.url, '/osm/1/0/0.png')
      assert.deepEqual([away.status, away.json.error, away.headers['retry-after'], away.headers['cache-control']], [503, 'UNREACHABLE', '5', 'no-store'])
      assert.ok(!away.text.includes(`${port}`), 'nobody learns where the store is')
      for (const address of ['/health', '/osm@2024/1/0/0.png', '/osm.json', '/osm/1/0/0.json', '/osm/times.json', '/db', '/db/osm:1:0:0/tile', '/wmts/1.0.0/WMTSCapabilities.xml', '/wmts/osm/default/GoogleMapsCompatible/1/0/0.png']) {
        const { status, text, headers } = await ask(gateway.url, address)
        assert.deepEqual([status, headers['cache-control']], [503, 'no-store'], `${address}: ${text}`)
        assert.ok(!text.includes(`${port}`), `${address}: ${text}`)
      }
      assert.equal((await ask(gateway.url, '/Osm/1/0/0.png')).status, 400, 'what is wrong is wrong without a store')
      second = await start()
      await until(async () => (await ask(gateway.url, '/health')).status === 200, { what: 'a green /health', timeout: 20000 })
      await until(async () => (await ask(gateway.url, '/osm/1/0/0.png')).body.equals(png(3)), { what: 'the tile', timeout: 20000 })
    } finally {
      await gateway.close()
      await second?.close()
    }
  })
})
