// Ten thousand hostile requests, the same ones every time. Each is answered with what is no fault of the gateway,
// nothing that is not of this store is ever shown, nothing is written, and afterwards all is well.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import net from 'node:net'
import pMap from 'p-map'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { json, onEachStore, request } from '../support/backends.js'
import { hostileDocuments, plant } from '../support/hostile-documents.js'
import { png, square } from '../support/tiles.js'
import { FORWARDED, UPSTREAM_SECRET, hostile, onTheWire, startHostileUpstreams } from '../support/gateway/hostile.js'
import { SECRET, secretDatabase } from '../support/gateway/private.js'
import { openGateway, useGateway } from '../support/gateway/stand.js'
import { ask, closeConnections, speak, statuses } from '../support/gateway/wire.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 4)
const REQUESTS = 10000
const TOGETHER = 24 // connections at a time
const PATIENCE = 20000 // milliseconds until a request counts as not answered
const T1 = '2021-06-01T00:00:00Z'
const T2 = '2022-06-01T00:00:00Z'

// what no answer may hold: other documents, the account, files of the package and of the machine, the inside of the
// process
const FORBIDDEN = [SECRET, UPSTREAM_SECRET, 'org.couchdb.user:',
  'derived_key', 'password_scheme', Buffer.from('admin:test').toString('base64'), '"_replicator"', 'root:x:0:0',
  '"devDependencies"', '"scripts":', 'node:internal', 'at file://', 'node_modules', 'Welcome', 'AuthSession=']

onEachStore('the gateway under hostile requests', backend => {
  let gateway, secrets, upstreams
  const stray = []
  const note = error => stray.push(error)

  const own = useGateway(backend, {
    options: null,
    async fill (made) {
      upstreams = await startHostileUpstreams()
      await made.defineLayer('osm', { name: 'Test', minzoom: 0, maxzoom: 5 })
      await made.write(square({ layer: 'osm', time: T1, z: 3, side: 4, seed: (x, y) => x * 4 + y }))
      await made.write(square({ layer: 'osm', time: T2, z: 3, side: 2, seed: (x, y) => 100 + x * 4 + y }))
      // a layer that could be fetched from somewhere: from nobody's requests may it come that something else is
      await made.defineLayer('far',
        { minzoom: 0, maxzoom: 5, upstream: { type: 'xyz', url: 'http://127.0.0.1:9/{z}/{x}/{y}.png', timeout: 1 } })
      for (const [layer, upstream] of Object.entries(upstreams.layers)) {
        await made.defineLayer(layer, { minzoom: 0, maxzoom: 5, upstream })
      }
    }
  })

  before(async () => {
    await plant(own.store, hostileDocuments(SEED, { kinds: ['layer'], count: 120 }))
    await plant(own.store,
      hostileDocuments(SEED, { kinds: ['edition', 'manifest', 'removed', 'block'], layer: 'osm', count: 200 }))
    const kinds = ['work', 'activity', 'token']
    await plant(own.store, kinds.map(kind => ({ _id: `${kind}:fuzz`, type: kind, text: SECRET })))
    const headers = { 'content-type': 'application/json' }
    await secretDatabase(backend)
    if (backend.supports.users) {
      secrets = `${await backend.url()}/_users/org.couchdb.user:fuzz_${process.pid}`
      await request(secrets, {
        method: 'PUT', headers,
        body: JSON.stringify({
          _id: `org.couchdb.user:fuzz_${process.pid}`, name: `fuzz_${process.pid}`,
          type: 'user', roles: [], password: 'x', text: SECRET
        })
      })
    }
    gateway = await openGateway(own.url, { upstreamNetworks: ['127.0.0.1:9', upstreams.network] })
    process.on('unhandledRejection', note).on('warning', note)
  })

  after(async () => {
    process.off('unhandledRejection', note).off('warning', note)
    closeConnections()
    await gateway?.close()
    await upstreams?.close()
    if (secrets) await request(`${secrets}?rev=${(await json(secrets))._rev}`, { method: 'DELETE' })
  })

  const everything = async () => {
    const { rows } = await json(`${own.url}/_all_docs`)
    return rows.map(({ id, value }) => [id, value.rev])
  }

  async function isWell () {
    const { status, body } = await ask(gateway.url, '/osm/3/1/1.png')
    assert.deepEqual([status, body.equals(png(105))], [200, true])
    assert.equal((await ask(gateway.url, '/health')).status, 200)
    assert.equal((await ask(gateway.url, '/db/layer:osm')).json.name, 'Test')
    assert.equal((await ask(gateway.url, '/')).status, 200)
    assert.deepEqual(stray.map(({ stack }) => stack), [])
  }

  it(`answers ${REQUESTS} requests without a server error, a leak or a write (seed ${SEED})`, async () => {
    const make = hostile(SEED)
    const before = await everything()
    const memory = process.memoryUsage().heapUsed
    const counts = {}
    const chains = []
    const wrong = []
    // some come several on one connection, before the first is answered
    for (let left = REQUESTS, turn = 0; left > 0; turn++) {
      const length = Math.min(left, turn % 5 === 0 ? 4 : 1)
      chains.push(Array.from({ length }, make))
      left -= length
    }
    async function attack (chain) {
      const wire = Buffer.concat(chain.map((one, index) => onTheWire(one, { last: index === chain.length - 1 })))
      const text = await speak(gateway.url, wire, { timeout: PATIENCE })
      const said = () => chain.map(
        ({ method, target, headers, body }) => JSON.stringify(
          { method, target: target.slice(0, 400), headers: headers.map(
            pair => pair.join(': ').slice(0, 100)
          ), body: body.slice(0, 200) }
        )
      ).join('\n') + `\n-> ${text.slice(0, 600)}`
      const found = statuses(text)
      if (!found.length) { // what is no HTTP ends its connection, and what came before it on the same is lost
        if (chain.length === 1 && isHttp(chain[0])) return wrong.push(`no answer: ${said()}`)
        if (chain.length > 1) for (const one of chain) await attack([one])
      }
      for (const status of found) {
        counts[status] = (counts[status] ?? 0) + 1
        // 501: WMTS says so of operations it does not have. 50x of layers whose upstream fails are true
        if (status >= 500 && status !== 501 &&
          !(/\b(far|cruel|inner)\b/.test(said()) && [502, 503, 504].includes(status))) wrong.push(said())
      }
      if (text.includes(FORWARDED)) wrong.push(`forwarded: ${said()}`)
      // a client may call the gateway what it likes, and no cache may tell others
      if (chain.length === 1 && chain[0].headers[0][1] === 'evil.example' && !chain[0].target.includes('evil')) {
        const [head, ...body] = text.split('\r\n\r\n')
        if (body.join().includes('evil.example') && !/^cache-control: (private|no-store)/im.test(head)) {
          wrong.push(`host: ${said()}`)
        }
      }
      // what a request said itself it may be told
      for (const word of FORBIDDEN) if (text.includes(word) && !wire.includes(word)) wrong.push(`${word}: ${said()}`)
    }
    await pMap(chains, attack, { concurrency: TOGETHER })
    assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} in all`)
    assert.deepEqual(await everything(), before, 'nothing was written')
    assert.ok(upstreams.asked.cruel > 30, 'upstreams were asked')
    assert.equal(upstreams.asked.inner, 0, 'those that nobody may ask were not')
    assert.ok(counts[200] > 800 && counts[400] > 1000 && counts[404] > 500 && counts[405] > 200, JSON.stringify(counts))
    assert.ok(process.memoryUsage().heapUsed - memory < 200e6, 'memory')
    await isWell()
  }).timeout(300000)

  it('shows no file of the package but those of the viewer', async () => {
    const { description } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    for (const name of ['package.json', 'server/bin.js', 'attachments/store.js', 'test/gateway/fuzz.test.js']) {
      for (const way of ['/', '/../', '/../../', '/%2e%2e/', '/..%2f', '/..%2f..%2f', '/x/../../', '/db/../',
        '/wmts/../', '/osm/../', '/osm@../../', '/tms/1.0.0/../../', '//', '/./', '/\\..\\', '/index.html/../../']) {
        const text = await speak(gateway.url, `GET ${way}${name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
        assert.match(text, /^HTTP\/1\.1 4\d\d/, way + name)
        assert.ok(!text.includes(description) && !text.includes('import assert'))
      }
    }
  })

  it('survives input that is not HTTP, without a server error or a leak', async () => {
    const huge = `X: ${'y'.repeat(100000)}`
    const wires = ['\r\n\r\n', 'GET\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'BREW / HTTP/1.1\r\nHost: ' +
      'x\r\n\r\n', '\0\0\0\0\r\n\r\n', '\x16\x03\x01\x02\x00\x01\x00\x01' +
      '\xfc\x03\x03', `GET / HTTP/1.1\r\nHost: x\r\n${huge}\r\n\r\n`,
      `GET /${'a'.repeat(100000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'GET / HTTP/1.1\r\n\r\n',
      'POST /db/_all_docs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: ' +
        'chunked\r\n\r\n0\r\n\r\nGET /db/_all_docs HTTP/1.1\r\nHost: x\r\n\r\n',
        'POST /db/_all_docs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: ' +
          'chunked\r\n\r\nzz\r\n',
          'POST /db/_all_docs HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
      'CONNECT 127.0.0.1:5984 HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n', 'GET / HTTP/1.1\nHost: x\n\n']
    for (const wire of wires) {
      const text = await speak(gateway.url, Buffer.from(wire, 'latin1'), { timeout: 500 })
      for (const status of statuses(text)) assert.ok(status < 500, `${wire.slice(0, 60)}: ${text.slice(0, 200)}`)
      for (const word of FORBIDDEN) assert.ok(!text.includes(word))
    }
    await isWell()
  })

  it('serves other clients while some send slowly and some leave', async () => {
    const { hostname, port } = new URL(gateway.url)
    closeConnections()
    const before = sockets()
    const slow = Array.from({ length: 60 }, (_, index) => {
      const socket = net.connect(+port, hostname)
      socket.on('error', () => {})
      socket.write(
        ['GET /osm/3/1/1.png HTTP/1.1\r\nHost: x\r\nX-Slow: ',
          'POST /db/_all_docs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ' +
            '1000000\r\n\r\n{', 'G'][index % 3]
      )
      return socket
    })
    const drip = setInterval(() => { for (const socket of slow) if (socket.writable) socket.write('x') }, 50)
    try {
      const started = performance.now()
      await pMap(Array.from({ length: 200 }), () => isWell(), { concurrency: 20 })
      assert.ok(performance.now() - started < 20000 * TIME_FACTOR)
      const paths = ['/osm/3/0/0.png', '/db/_all_docs?include_docs=true&attachments=true',
        '/db/_changes?feed=continuous&heartbeat=1000', '/db/_changes?feed=longpoll',
        '/wmts?SERVICE=WMTS&REQUEST=GetCapabilities', '/viewer.js']
      await pMap(Array.from({ length: 300 }), async (_, index) => {
        const socket = net.connect(+port, hostname)
        socket.on('error', () => {})
        await new Promise(resolve => socket.once('connect', resolve))
        await new Promise(
          resolve => socket.write(`GET ${paths[index % paths.length]} HTTP/1.1\r\nHost: x\r\n\r\n`, resolve)
        )
        if (index % 2) {
          await new Promise(resolve => socket.once('data', resolve).once('close', resolve)
            .setTimeout(2000, () => resolve(undefined)))
        }
        socket.destroy()
      }, { concurrency: 20 })
    } finally {
      clearInterval(drip)
      for (const socket of slow) socket.destroy()
    }
    await isWell()
    closeConnections()
    await until(() => sockets() <= before + 200, { what: 'connections of those that left to be closed, on both sides' })
  }).timeout(90000)
})

// the length of such a body cannot be told: the connection ends, also in the middle of an answer
const isHttp = ({ broken, headers }) => !broken && !headers.some(([name]) => name === 'Transfer-Encoding')

const sockets = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
