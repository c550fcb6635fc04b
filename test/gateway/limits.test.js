// Limits: documents in a question to /db, requests on a connection, connections and feeds of an address.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { Couch } from '../../loader/store/couch.js'
import { DatabaseProxy } from '../../server/gateway/db/proxy.js'
import { checkLimits, parseDbRequest } from '../../server/gateway/db/request.js'
import { Listener } from '../../server/http/listener.js'
import { clientAddress } from '../../server/http/addresses.js'
import { startThrowAwayEmbedded, onEachStore } from '../support/backends.js'
import { startServer } from '../support/server.js'
import { entryOf, openFront, useGateway } from '../support/gateway/stand.js'
import { fill } from '../support/gateway/private.js'
import { ask, closeConnections, post, speak } from '../support/gateway/wire.js'

onEachStore('queries of /db', backend => {
  const own = useGateway(backend, { fill })
  /** @param {string} path below /db */
  const put = (path, body, options) => post(own.gateway.url, `/db/${path}`, body, options)
  const images = 'include_docs=true&attachments=true'
  const ids = (count, make = id => id) => Array.from({ length: count }, (_, at) => make(`open:9:0:${at}`))

  it('are refused when they name too many documents, rows or ranges', async () => {
    for (const [path, make, most] of /** @type {[string, (count: number) => any, number][]} */ ([
      ['_all_docs', count => ({ keys: ids(count) }), 10000],
      ['_all_docs?include_docs=true', count => ({ keys: ids(count) }), 2000],
      ['_all_docs/queries', count => (
        { queries: [{ keys: ids(count >> 1), include_docs: true }, { keys: ids(count - (count >> 1)) }] }
      ), 2000],
      ['_bulk_get', count => ({ docs: ids(count, id => ({ id })) }), 2000],
      ['_design/versions/_view/by_tile/queries', count => ({ queries: ids(count, () => ({ limit: 0 })) }), 1000]
    ])) {
      assert.equal((await put(path, make(most + 1))).status, 413, path)
      assert.equal((await put(path, make(Math.min(most, 500)))).status, 200, path)
    }
    assert.equal((await put('_changes?filter=_doc_ids', { doc_ids: ids(10001) })).status, 413)
  })

  it('are refused when they ask for images without a limit, even with extra fields', async () => {
    const many = ids(2001)
    const view = '_design/versions/_view/by_tile'
    for (const [path, body] of /** @type {[string, any][]} */ ([
      [`_all_docs?${images}`, { doc_ids: ['open:3:0:0'] }], [`_all_docs?${images}`, {}],
      [`_all_docs?${images}`, { docs: [], queries: [], key_: 1 }],
      ['_all_docs', { include_docs: true, attachments: true, doc_ids: ['x'] }],
      [`_all_docs?${images}&limit=5`, { limit: 100000 }], [`_all_docs?${images}`, { limit: 100000 }],
      [`_all_docs?${images}`, { limit: '5' }], [`_all_docs?${images}`, { limit: [5] }],
      [`_all_docs?${images}`, '{"limit":1,"limit":100000}'], [`_all_docs?${images}`, '{"limit":100000,"limit":-1}'],
      [`_all_docs?${images}`, { startkey: 'open:', endkey: 'open;', keys: undefined }],
      ['_all_docs', { include_docs: true, attachments: 'true' }],
      ['_all_docs', { include_docs: true, attachments: true, keys: null }],
      [`_all_docs/queries?${images}`, { queries: [{}] }],
      ['_all_docs/queries', { queries: [{ include_docs: true, attachments: true }], limit: 5 }],
      ['_all_docs/queries?limit=5', { queries: [{ include_docs: true, attachments: true, limit: 100000 }] }],
      ['_all_docs/queries', {
        queries: Array.from({ length: 3 }, () => ({ include_docs: true, attachments: true, limit: 1000 }))
      }], ['_all_docs/queries', { queries: [{ keys: ['a'] }, { include_docs: true, attachments: true }] }],
      [`${view}?reduce=false&${images}`, { key: ['open', 3, 0, 0] }],
      [`${view}?reduce=false&${images}`, { keys: [['open', 3, 0, 0]] }],
      [`${view}?reduce=false&${images}`, { doc_ids: ['a'] }],
      [`${view}/queries`, { queries: [{ reduce: false, include_docs: true, attachments: true, keys: [1] }] }],
      [`_changes?${images}`, { doc_ids: ['open:3:0:0'] }],
      [`_changes?${images}&filter=_selector`, { doc_ids: ['a'], selector: {} }],
      [`_changes?${images}`, { limit: 5 }], [`_changes?${images}&filter=_design&doc_ids=["a"]`, {}],
      [`_changes?${images}&feed=longpoll&filter=_selector`, { selector: {}, keys: ['a'] }],
      [`_all_docs?${images}`, { keys: many }], ['_bulk_get?attachments=true', { docs: many.map(id => ({ id })) }],
      [`_changes?${images}&filter=_doc_ids`, { doc_ids: many }]
    ])) {
      const { status } = await put(path, body)
      assert.ok(status === 400 || status === 413, `${path} ${JSON.stringify(body).slice(0, 120)}: ${status}`)
    }
    const unlimited = [
      `_all_docs?${images}`, `_changes?${images}`, `_all_docs?${images}&limit=2001`,
      `${view}?reduce=false&${images}&key=["open",3,0,0]`, `_changes?${images}&doc_ids=["open:3:0:0"]`,
      `_all_docs?${images}&limit=1;limit=5`, `_all_docs?${images}&l%69mit=100000`,
      `_all_docs?include_docs=true&attac%68ments=true`
    ]
    for (const path of unlimited) assert.equal((await own.ask(`/db/${path}`)).status, 400, path)
  })

  it('get images with a limit, with keys, or of one document', async () => {
    const headers = { accept: 'application/json' }
    for (const [path, body] of /** @type {[string, any][]} */ ([
      [`_all_docs?${images}`, { limit: 5 }],
      [`_all_docs/queries?${images}`, { queries: [{ limit: 5 }, { keys: ['open:3:0:0'] }] }],
      [`_changes?${images}&filter=_doc_ids`, { doc_ids: ['open:3:0:0'] }],
      ['_bulk_get?attachments=true', { docs: [{ id: 'open:3:0:0' }] }]
    ])) {
      const { status, text } = await put(path, body, { headers })
      assert.equal(status, 200, path)
      assert.match(text, /"data":/, path)
    }
    for (const path of [`_all_docs?${images}&limit=5`, 'open:3:0:0?attachments=true',
      `_all_docs?${images}&keys=[%22open:3:0:0%22]`]) {
      assert.equal((await own.ask(`/db/${path}`, { headers })).status, 200, path)
    }
  })
})

describe('the connections of clients', () => {
  /** @type {(() => Promise<any>)[]} */
  const closing = []
  afterEach(async () => { for (const close of closing.splice(0)) await close() })

  async function openLimitedFront (setup) {
    const front = await openFront(setup)
    closing.push(() => front.close(0))
    return front
  }

  async function openListener (handler, limits) {
    const listener = new Listener(handler, limits)
    closing.push(() => listener.close(0))
    return listener.listen(0, '127.0.0.1')
  }

  it('are closed when too many requests wait on one connection', async () => {
    let asked = 0
    const get = (id, signal) => new Promise((resolve, reject) => {
      asked++
      signal.addEventListener('abort', () => reject(new Error('left')))
    })
    const front = await openLimitedFront({ kept: { 'osm:1:0:0': entryOf() }, limits: { pipelined: 8 }, get })
    const tile = path => `GET /osm/${path}.png HTTP/1.1\r\nHost: x\r\n\r\n`
    assert.equal(await speak(front.url, tile('1/1/1').repeat(50)), '', 'closed, without half an answer')
    assert.equal(asked, 8)
    const many = await speak(front.url, tile('1/0/0').repeat(200), { timeout: 500 })
    assert.equal(many.match(/HTTP\/1\.1 200/g)?.length, 200, 'what is answered at once does not wait')
  })

  it('close every waiting response when the client leaves', async () => {
    const [began, left] = [[], []]
    const port = await openListener((req, res) => {
      began.push(req.url)
      return once(res, 'close').then(() => { left.push(req.url) })
    })
    const socket = net.connect(port, '127.0.0.1').on('error', () => {})
    for (const path of ['/1', '/2', '/3']) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await until(() => began.length === 3, { what: 'three requests of one connection' })
    socket.destroy()
    await until(() => left.length === 3, { what: 'three answers that hear that their client has left' })
  })

  it('are closed after an idle time', async () => {
    const front = await openLimitedFront({ limits: { idle: 100 }, get: () => new Promise(() => {}) })
    const started = Date.now()
    assert.equal(await speak(front.url, 'GET /osm/1/1/1.png HTTP/1.1\r\nHost: x\r\n\r\n', { timeout: 5000 }), '')
    assert.ok(Date.now() - started < 4000 * TIME_FACTOR)
  })

  it('are limited for each address, but not for proxies on this machine', async () => {
    let peer = /** @type {string | null} */ ('a')
    const port =
      await openListener((req, res) => { res.end('here') }, { connectionsEach: 2, addressOf: () => peer })
    const sockets = []
    closing.push(async () => { for (const socket of sockets) socket.destroy() })
    const open = async address => {
      peer = address
      const socket = net.connect(port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      return Promise.race(
        [once(socket, 'data').then(([data]) => /here/.test(`${data}`)), once(socket, 'close').then(() => false)]
      )
    }
    const answered = []
    for (const address of ['a', 'a', 'a', 'b', null, null, null]) answered.push(await open(address))
    assert.deepEqual(answered, [true, true, false, true, true, true, true])
    sockets[0].destroy()
    await until(() => open('a'), { what: 'room for another' })
  })
})

describe('the limits of one address at /db', () => {
  /** @type {(() => Promise<any>)[]} */
  const closing = []
  afterEach(async () => { for (const close of closing.splice(0)) await close() })

  /** A proxy before a store of the test. Returns a function that asks it from an address. */
  async function openProxy (answer, limits) {
    const store = await startServer(answer)
    const proxy = new DatabaseProxy(new Couch(`${store.url}/tiles`), { trustProxy: true, ...limits })
    const gateway = await startServer((req, res) => {
      const [path, search = ''] = (req.url ?? '').split('?')
      const asked = parseDbRequest('GET', path, search)
      asked.isLarge = checkLimits(asked)
      proxy.forward(asked, undefined, req, res).catch(error => { res.writeHead(error.status).end() })
    })
    closing.push(gateway.close, store.close, () => proxy.close())
    return (from, path, signal) =>
      fetch(`${gateway.url}${path}`, { headers: from ? { 'x-forwarded-for': `9.9.9.9, ${from}` } : {}, signal })
  }
  const JSON_TYPE = { 'Content-Type': 'application/json' }

  it('allow a number of feeds, and another one when one ends', async () => {
    const askFrom = await openProxy((req, res) => { res.writeHead(200, JSON_TYPE).write('\n') }, { feedsEach: 2 })
    const leaving = new AbortController()
    const statuses = []
    for (const from of ['1.1.1.1', '1.1.1.1', '1.1.1.1', '2.2.2.2',
      '2001:db8::1', '2001:db8::2', '2001:db8:0:0:9::3', undefined, undefined, undefined]) {
      statuses.push((await askFrom(from, '/_changes?feed=continuous', leaving.signal)).status)
    }
    assert.deepEqual(statuses, [200, 200, 429, 200, 200, 200, 429, 200, 200, 200])
    leaving.abort()
    const hasRoom = async () => (await askFrom('1.1.1.1', '/_changes?feed=continuous')).status === 200
    await until(hasRoom, { what: 'room for another' })
  })

  it('allow a number of other requests at the same time', async () => {
    const waiting = new Set()
    const askFrom = await openProxy((req, res) => { waiting.add(res) }, { readsEach: 2 })
    const statusFor = from => askFrom(from, '/_all_docs').then(({ status }) => status)
    const first = [statusFor('1.1.1.1'), statusFor('1.1.1.1')]
    await until(() => waiting.size === 2, { what: 'two questions of one address' })
    assert.equal(await statusFor('1.1.1.1'), 429)
    first.push(statusFor('2.2.2.2'))
    await until(() => waiting.size === 3, { what: 'the askFrom of another' })
    for (const res of waiting) res.writeHead(200, JSON_TYPE).end('{}')
    assert.deepEqual(await Promise.all(first), [200, 200, 200])
  })

  it('allow a number of large answers, which queue, time out and leave small ones alone', async () => {
    const open = new Set()
    const askFrom = await openProxy((req, res) => {
      if (!/attachments/.test(req.url ?? '')) return void res.writeHead(200, JSON_TYPE).end('{}')
      open.add(res)
      res.on('close', () => open.delete(res)).writeHead(200, JSON_TYPE).write('{"rows":[\n')
    }, { images: 2, imagesEach: 3, longest: 1000 })
    const large = () => askFrom('1.1.1.1', '/_all_docs?include_docs=true&attachments=true&limit=5')
    const first = await Promise.all([large(), large()])
    const later = [large(), large()]
    assert.equal((await Promise.race(later)).status, 429, 'one address has enough')
    assert.equal(open.size, 2, 'the third waits')
    assert.equal((await askFrom('1.1.1.1', '/_all_docs')).status, 200, 'small ones do not wait for it')
    for (const response of first) await assert.rejects(response.text(), 'it may not last for ever')
    const answers = await Promise.all(later)
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 429])
    for (const { body } of answers) await body?.cancel()
  })
})

describe('clientAddress', () => {
  const addressOf = (remoteAddress, forwarded, trust = false) => clientAddress(/** @type {any} */ (
    { headers: forwarded ? { 'x-forwarded-for': forwarded } : {}, socket: { remoteAddress } }
  ), trust)

  it('is the address of the connection, an IPv6 network, or null for this machine', () => {
    for (const [peer, address] of /** @type {[string | undefined, string | null][]} */ ([
      ['1.2.3.4', '1.2.3.4'], ['::ffff:1.2.3.4', '1.2.3.4'], ['127.0.0.1', null], ['::1', null], [undefined, null],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'], ['2001:db8:1:2::9', '2001:db8:1:2'],
      ['2001:db8::1', '2001:db8:0:0'], ['2001:DB8:0:0:7::', '2001:db8:0:0']
    ])) assert.equal(addressOf(peer), address, peer)
    assert.equal(addressOf('5.5.5.5', '6.6.6.6'), '5.5.5.5', 'no proxy is trusted')
  })

  it('is the last address that a trusted proxy names, or the connection if that is invalid', () => {
    for (const [written, address] of Object.entries({
      '6.6.6.6, 7.7.7.7': '7.7.7.7',
      ' ': '5.5.5.5',
      '1.2.3.4:5678': '1.2.3.4',
      '9.9.9.9:1, 1.2.3.4:65535': '1.2.3.4',
      '[2001:db8:1:2::9]:80': '2001:db8:1:2',
      '[2001:db8:1:2::9]': '2001:db8:1:2',
      '2001:db8:1:2::9': '2001:db8:1:2',
      '[::ffff:1.2.3.4]:80': '1.2.3.4',
      '[::1]:80': null,
      '127.0.0.1:80': null,
      '1.2.3.4:5678:9': '5.5.5.5',
      '[1.2.3.4:80': '5.5.5.5',
      'unknown:80': '5.5.5.5'
    })) assert.equal(addressOf('5.5.5.5', written, true), address, written)
  })
})

describe('the embedded store', () => {
  it('answers only to local host names and IP addresses', async () => {
    const server = await startThrowAwayEmbedded()
    const as = (host, method = 'GET', path = '/') => ask(server.url, path, { method, headers: { host } })
    try {
      for (const host of ['evil.example', 'evil.example:5984', '127.0.0.1.evil.example',
        'localhost.evil.example', 'localhost@evil.example', 'a b']) {
        assert.ok([400, 403].includes((await as(host)).status), host)
        assert.ok([400, 403].includes((await as(host, 'PUT', '/made')).status), `PUT ${host}`)
      }
      for (
        const host of ['localhost', 'localhost:5984', '127.0.0.1:1', '[::1]:5984', 'tiles.localhost', '192.168.1.2']
      ) {
        assert.equal((await as(host)).status, 200, host)
      }
      assert.equal((await as('localhost', 'GET', '/made')).status, 404, 'nothing was made')
    } finally {
      closeConnections()
      await server.close()
    }
  })
})
