// How a gateway ends, and how many it can serve until then.
import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import { until } from '../../bench/wait.js'
import { noiseTile } from '../../bench/tiles.js'
import { Listener } from '../../server/gateway/listener.js'
import { png } from '../support/tiles.js'
import { entryOf, openFront } from './support/front.js'
import { ask, closeConnections } from './support/wire.js'

/** @type {Awaited<ReturnType<typeof openFront>>} */
let front
const kept = { 'osm:1:0:0': entryOf() }
const open = async setup => { front = await openFront({ kept, ...setup }) }
const get = path => ask(front.url, path)

/** Something to wait for. */
function gate () {
  let pass
  const passed = new Promise(resolve => { pass = resolve })
  return { passed, pass: /** @type {any} */ (pass) }
}

describe('the end of a gateway', () => {
  afterEach(() => closeConnections())

  it('lets what is under way finish, takes nothing new, and may be called twice', async () => {
    const late = gate()
    await open({ get: async () => { await late.passed; return entryOf({ bytes: noiseTile(3, 500000) }) } })
    const slow = get('/osm/1/1/1.png')
    await until(() => Boolean(front.ctx), { what: 'a gateway' })
    await get('/osm/1/0/0.png')
    const [first, second] = [front.close(20000), front.close(0)]
    assert.equal(first, second)
    await assert.rejects(ask(front.url, '/osm/1/0/0.png', { agent: false }), { code: 'ECONNREFUSED' })
    late.pass()
    const { status, body, cut, headers } = await slow
    assert.deepEqual([status, body.length, cut, headers.connection], [200, noiseTile(3, 500000).length, false, 'close'])
    await first
    await front.close(0)
  })

  it('cuts off what is not done when its time is over', async () => {
    await open({ get: () => new Promise(() => {}) })
    const slow = get('/osm/1/1/1.png')
    const outcome = slow.then(() => 'answered', error => error.code)
    await until(async () => (await get('/osm/1/0/0.png')).status === 200, { what: 'a gateway' })
    const started = performance.now()
    await front.close(100)
    assert.equal(await outcome, 'ECONNRESET')
    assert.ok(performance.now() - started < 5000)
  })

  it('closes idle connections at once, and those just used when nothing more came', async () => {
    const listener = new Listener((req, res) => { res.end('x') }, { linger: 50 })
    const port = await listener.listen(0, '127.0.0.1')
    const sockets = await Promise.all(Array.from({ length: 20 }, () => new Promise(resolve => {
      const socket = net.connect(port, '127.0.0.1').on('error', () => {})
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      socket.once('data', () => resolve(socket))
    })))
    const ends = Promise.all(sockets.map(socket => new Promise(resolve => socket.once('close', resolve))))
    const started = performance.now()
    await listener.close(60000)
    await ends
    assert.ok(performance.now() - started < 5000, 'nobody waited for the clients')
  })

  it('cuts no request off, however many come', async function () {
    this.timeout(60000)
    await open({ get: async id => { await new Promise(resolve => setImmediate(resolve)); return entryOf({ bytes: png(id.length) }) } })
    const agent = new http.Agent({ keepAlive: true, maxSockets: 60 })
    const outcomes = { answered: 0, refused: 0 }
    const failures = []
    let closing = false
    async function client (number) {
      for (let round = 0; ; round++) {
        try {
          const { status, cut } = await ask(front.url, `/osm/5/${number % 32}/${round % 32}.png`, { agent })
          if (status !== 200 || cut) failures.push(status)
          outcomes.answered++
        } catch (error) {
          // a connection that could not be made is no request that was taken
          if (error.code !== 'ECONNREFUSED') failures.push(error.code)
          outcomes.refused++
          if (closing) return
        }
      }
    }
    const clients = Promise.all(Array.from({ length: 60 }, (_, number) => client(number)))
    await until(() => outcomes.answered > 3000, { timeout: 30000, what: 'load' })
    closing = true
    await front.close(20000)
    await clients
    agent.destroy()
    assert.deepEqual(failures, [])
    assert.ok(outcomes.refused >= 60)
  })
})

describe('a thousand clients that keep their connections', () => {
  it('are all answered, with the right tile, again and again', async function () {
    this.timeout(60000)
    await open({ kept: Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`osm:3:${at >> 3}:${at & 7}`, entryOf({ bytes: png(at) })])) })
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1000 })
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 1000 }, (_, at) => ask(front.url, `/osm/3/${(at & 63) >> 3}/${at & 7}.png`, { agent })))
      answers.forEach(({ status, body }, at) => {
        assert.equal(status, 200)
        assert.ok(body.equals(png(at & 63)))
      })
    }
    assert.equal(front.requests.length, 3000)
    agent.destroy()
    await front.close(0)
  })
})
