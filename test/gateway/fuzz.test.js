// Tests of the gateway with ten thousand hostile requests from a fixed seed. No request may cause a server error, a
// write, or an answer with data from outside the store. Afterwards the gateway must still serve tiles.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import net from 'node:net'
import pMap from 'p-map'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { json, onEachStore, put, request } from '../support/backends.js'
import { hostileDocuments, plant } from '../support/hostile-documents.js'
import { png, square } from '../support/tiles.js'
import { FORWARDED, UPSTREAM_SECRET, hostile, onTheWire, startHostileUpstreams } from '../support/gateway/hostile.js'
import { SECRET, secretDatabase } from '../support/gateway/private.js'
import { openGateway, useGateway } from '../support/gateway/stand.js'
import { ask, closeConnections, speak, statuses } from '../support/gateway/wire.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 4)
const REQUESTS = 10000
const CONCURRENCY = 24 // connections at a time
const TIMEOUT = 20000 // milliseconds to wait for an answer
const T1 = '2021-06-01T00:00:00Z'
const T2 = '2022-06-01T00:00:00Z'

// no answer may contain these: parts of other documents, of the account, of files of the package and the machine, and
// of stack traces
const FORBIDDEN = [SECRET, UPSTREAM_SECRET, 'org.couchdb.user:',
  'derived_key', 'password_scheme', Buffer.from('admin:test').toString('base64'), '"_replicator"', 'root:x:0:0',
  '"devDependencies"', '"scripts":', 'node:internal', 'at file://', 'node_modules', 'Welcome', 'AuthSession=']

/** A request with a Host header, as bytes on the wire. @param {string} line @param {string[]} headers */
const wireOf = (line, ...headers) => [`${line} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n')

onEachStore('the gateway under hostile requests', backend => {
  let gateway, userUrl, upstreams
  const strayErrors = []
  const noteError = error => strayErrors.push(error)

  const fixture = useGateway(backend, {
    options: null,
    async fill (store) {
      upstreams = await startHostileUpstreams()
      await store.defineLayer('osm', { name: 'Test', minzoom: 0, maxzoom: 5 })
      await store.write(square({ layer: 'osm', time: T1, z: 3, side: 4, seed: (x, y) => x * 4 + y }))
      await store.write(square({ layer: 'osm', time: T2, z: 3, side: 2, seed: (x, y) => 100 + x * 4 + y }))
      // a layer with an upstream: no request may make the gateway fetch from another address
      await store.defineLayer('far',
        { minzoom: 0, maxzoom: 5, upstream: { type: 'xyz', url: 'http://127.0.0.1:9/{z}/{x}/{y}.png', timeout: 1 } })
      for (const [layer, upstream] of Object.entries(upstreams.layers)) {
        await store.defineLayer(layer, { minzoom: 0, maxzoom: 5, upstream })
      }
    }
  })

  before(async () => {
    await plant(fixture.store, hostileDocuments(SEED, { kinds: ['layer'], count: 120 }))
    await plant(fixture.store,
      hostileDocuments(SEED, { kinds: ['edition', 'manifest', 'removed', 'block'], layer: 'osm', count: 200 }))
    const kinds = ['work', 'activity', 'token']
    await plant(fixture.store, kinds.map(kind => ({ _id: `${kind}:fuzz`, type: kind, text: SECRET })))
    await secretDatabase(backend)
    if (backend.supports.users) {
      userUrl = `${await backend.url()}/_users/org.couchdb.user:fuzz_${process.pid}`
      await put(userUrl, { name: `fuzz_${process.pid}`, type: 'user', roles: [], password: 'x', text: SECRET })
    }
    gateway = await openGateway(fixture.url, { upstreamNetworks: ['127.0.0.1:9', upstreams.network] })
    process.on('unhandledRejection', noteError).on('warning', noteError)
  })

  after(async () => {
    process.off('unhandledRejection', noteError).off('warning', noteError)
    closeConnections()
    await gateway?.close()
    await upstreams?.close()
    if (userUrl) await request(`${userUrl}?rev=${(await json(userUrl))._rev}`, { method: 'DELETE' })
  })

  const allRevisions = async () => {
    const { rows } = await json(`${fixture.url}/_all_docs`)
    return rows.map(({ id, value }) => [id, value.rev])
  }

  async function assertHealthy () {
    const { status, body } = await ask(gateway.url, '/osm/3/1/1.png')
    assert.deepEqual([status, body.equals(png(105))], [200, true])
    assert.equal((await ask(gateway.url, '/health')).status, 200)
    assert.equal((await ask(gateway.url, '/db/layer:osm')).json.name, 'Test')
    assert.equal((await ask(gateway.url, '/')).status, 200)
    assert.deepEqual(strayErrors.map(({ stack }) => stack), [])
  }

  it(`answers ${REQUESTS} requests without a server error, a leak or a write (seed ${SEED})`, async () => {
    const make = hostile(SEED)
    const revisionsBefore = await allRevisions()
    const memory = process.memoryUsage().heapUsed
    const counts = {}
    const chains = []
    const problems = []
    // every fifth connection sends four requests without waiting for answers
    for (let remaining = REQUESTS, turn = 0; remaining > 0; turn++) {
      const length = Math.min(remaining, turn % 5 === 0 ? 4 : 1)
      chains.push(Array.from({ length }, make))
      remaining -= length
    }
    async function attack (chain) {
      const wire = Buffer.concat(chain.map((input, index) => onTheWire(input, { last: index === chain.length - 1 })))
      const text = await speak(gateway.url, wire, { timeout: TIMEOUT })
      const summarize = () => [...chain.map(summaryOf), `-> ${text.slice(0, 600)}`].join('\n')
      const statusCodes = statuses(text)
      if (!statusCodes.length) { // invalid HTTP ends its connection, and earlier answers are lost
        if (chain.length === 1 && isHttp(chain[0])) return problems.push(`no answer: ${summarize()}`)
        if (chain.length > 1) for (const input of chain) await attack([input])
      }
      for (const status of statusCodes) {
        counts[status] = (counts[status] ?? 0) + 1
        // WMTS answers 501 to operations that it lacks. Layers with a failing upstream answer 502, 503 or 504
        if (status >= 500 && status !== 501 &&
          !(/\b(far|cruel|inner)\b/.test(summarize()) && [502, 503, 504].includes(status))) problems.push(summarize())
      }
      if (text.includes(FORWARDED)) problems.push(`forwarded: ${summarize()}`)
      // any Host header is allowed, but no shared cache may keep an answer that links to it
      if (chain.length === 1 && chain[0].headers[0][1] === 'evil.example' && !chain[0].target.includes('evil')) {
        const [head, ...body] = text.split('\r\n\r\n')
        if (body.join().includes('evil.example') && !/^cache-control: (private|no-store)/im.test(head)) {
          problems.push(`host: ${summarize()}`)
        }
      }
      // an answer may repeat words of its request
      for (const word of FORBIDDEN) {
        if (text.includes(word) && !wire.includes(word)) problems.push(`${word}: ${summarize()}`)
      }
    }
    await pMap(chains, attack, { concurrency: CONCURRENCY })
    assert.deepEqual(problems.slice(0, 10), [], `${problems.length} in all`)
    assert.deepEqual(await allRevisions(), revisionsBefore, 'nothing was written')
    assert.ok(upstreams.asked.cruel > 30, 'upstreams were asked')
    assert.equal(upstreams.asked.inner, 0, 'those that nobody may ask were not')
    assert.ok(counts[200] > 800 && counts[400] > 1000 && counts[404] > 500 && counts[405] > 200, JSON.stringify(counts))
    assert.ok(process.memoryUsage().heapUsed - memory < 200e6, 'memory')
    await assertHealthy()
  }).timeout(300000)

  it('shows no file of the package but those of the viewer', async () => {
    const { description } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    for (const name of ['package.json', 'server/bin.js', 'attachments/store.js', 'test/gateway/fuzz.test.js']) {
      for (const way of ['/', '/../', '/../../', '/%2e%2e/', '/..%2f', '/..%2f..%2f', '/x/../../', '/db/../',
        '/wmts/../', '/osm/../', '/osm@../../', '/tms/1.0.0/../../', '//', '/./', '/\\..\\', '/index.html/../../']) {
        const text = await speak(gateway.url, wireOf(`GET ${way}${name}`, 'Connection: close'))
        assert.match(text, /^HTTP\/1\.1 4\d\d/, way + name)
        assert.ok(!text.includes(description) && !text.includes('import assert'))
      }
    }
  })

  it('survives input that is not HTTP, without a server error or a leak', async () => {
    const wires = ['\r\n\r\n', 'GET\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', wireOf('BREW /'), '\0\0\0\0\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', wireOf('GET /', `X: ${'y'.repeat(100000)}`),
      wireOf(`GET /${'a'.repeat(100000)}`), 'GET / HTTP/1.1\r\n\r\n',
      wireOf('POST /db/_all_docs', 'Content-Length: 5', 'Transfer-Encoding: chunked') + '0\r\n\r\n' +
        wireOf('GET /db/_all_docs'),
      wireOf('POST /db/_all_docs', 'Content-Type: application/json', 'Transfer-Encoding: chunked') + 'zz\r\n',
      wireOf('POST /db/_all_docs', 'Content-Length: 3', 'Content-Length: 4') + 'abcd', wireOf('CONNECT 127.0.0.1:5984'),
      wireOf('GET /', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'),
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
      wireOf('GET /', 'X: a\rb'), 'GET / HTTP/1.1\nHost: x\n\n']
    for (const wire of wires) {
      const text = await speak(gateway.url, Buffer.from(wire, 'latin1'), { timeout: 500 })
      for (const status of statuses(text)) assert.ok(status < 500, `${wire.slice(0, 60)}: ${text.slice(0, 200)}`)
      for (const word of FORBIDDEN) assert.ok(!text.includes(word))
    }
    await assertHealthy()
  })

  it('serves other clients while some send slowly and some leave', async () => {
    const { hostname, port } = new URL(gateway.url)
    closeConnections()
    const socketsBefore = sockets()
    const beginnings = ['GET /osm/3/1/1.png HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'G',
      wireOf('POST /db/_all_docs', 'Content-Type: application/json', 'Content-Length: 1000000') + '{']
    const slowSockets = Array.from({ length: 60 }, (_, index) => {
      const socket = net.connect(+port, hostname)
      socket.on('error', () => {})
      socket.write(beginnings[index % beginnings.length])
      return socket
    })
    const drip = setInterval(() => { for (const socket of slowSockets) if (socket.writable) socket.write('x') }, 50)
    try {
      const started = performance.now()
      await pMap(Array.from({ length: 200 }), () => assertHealthy(), { concurrency: 20 })
      assert.ok(performance.now() - started < 20000 * TIME_FACTOR)
      const paths = ['/osm/3/0/0.png', '/db/_all_docs?include_docs=true&attachments=true',
        '/db/_changes?feed=continuous&heartbeat=1000', '/db/_changes?feed=longpoll',
        '/wmts?SERVICE=WMTS&REQUEST=GetCapabilities', '/viewer.js']
      await pMap(Array.from({ length: 300 }), async (_, index) => {
        const socket = net.connect(+port, hostname)
        socket.on('error', () => {})
        await new Promise(resolve => socket.once('connect', resolve))
        await new Promise(resolve => socket.write(wireOf(`GET ${paths[index % paths.length]}`), resolve))
        if (index % 2) {
          await new Promise(resolve => socket.once('data', resolve).once('close', resolve)
            .setTimeout(2000, () => resolve(undefined)))
        }
        socket.destroy()
      }, { concurrency: 20 })
    } finally {
      clearInterval(drip)
      for (const socket of slowSockets) socket.destroy()
    }
    await assertHealthy()
    closeConnections()
    await until(() => sockets() <= socketsBefore + 200,
      { what: 'connections of those that left to be closed, on both sides' })
  }).timeout(90000)
})

const summaryOf = ({ method, target, headers, body }) => JSON.stringify({
  method, target: target.slice(0, 400), headers: headers.map(pair => pair.join(': ').slice(0, 100)),
  body: body.slice(0, 200)
})

// a hostile Transfer-Encoding hides where the body ends: the gateway closes the connection, perhaps in mid-answer
const isHttp = ({ broken, headers }) => !broken && !headers.some(([name]) => name === 'Transfer-Encoding')

const sockets = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
