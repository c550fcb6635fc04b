// What a stranger may ask for at once: documents in a question, requests on a connection, feeds of an address.
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
import { openFront, entryOf } from '../support/gateway/front.js'
import { fill } from '../support/gateway/private.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask, closeConnections, post, speak } from '../support/gateway/wire.js'

onEachStore('questions to /db', backend => {
  const own = useGateway(backend, { fill })
  /** @param {string} path below /db */
  const put = (path, body, options) => post(own.gateway.url, `/db/${path}`, body, options)
  const ids = (count, make = id => id) => Array.from({ length: count }, (_, at) => make(`open:9:0:${at}`))

  it('name so many documents, rows and ranges, and no more', async () => {
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

  it('may be so large, have so many values and levels, and are refused before they are parsed', async () => {
    const bodies = [
      `{"keys":[${'0,'.repeat(50001)}0]}`, `{"keys":[${'[],'.repeat(30000)}0]}`, `{"keys":["${'x'.repeat(1048577)}"]}`,
      `{"keys":${'['.repeat(60000)}${']'.repeat(60000)}}`, `{${Array.from({ length: 60000 }, (_, at) => `"k${at}":0`)}}`
    ]
    for (const path of ['_all_docs', '_design/versions/_view/by_tile', '_bulk_get', '_changes?filter=_doc_ids']) {
      for (const body of bodies) assert.equal((await put(path, body)).status, 413, `${path} ${body.slice(0, 30)}`)
      assert.equal((await put(path, `{"keys":[${'['.repeat(40)}${']'.repeat(40)}]}`)).status, 400)
    }
    const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const head =
      'POST /db/_all_docs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    for (let count = 0; count < 5; count++) {
      assert.match(await speak(own.gateway.url, head + piece.repeat(40)), /^HTTP\/1\.1 413 [^]*connection: close/i)
    }
    assert.equal((await own.ask('/health')).status, 200, 'of its length nobody knew before')
  })

  it('have no way round the limit on images: it is held against what the store does, not against fields that it ' +
    'passes over', async () => {
    const images = 'include_docs=true&attachments=true'
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
    for (
      const path of [`${view}?reduce=false&${images}&key=["open",3,0,0]`,
        `_changes?${images}&doc_ids=["open:3:0:0"]`, `_all_docs?${images}&limit=1;limit=5`,
        `_all_docs?${images}&l%69mit=100000`, `_all_docs?include_docs=true&attac%68ments=true`]
    ) assert.equal((await own.ask(`/db/${path}`)).status, 400, path)
    for (
      const [path, body] of /** @type {[string, any][]} */ (
        [[`_all_docs?${images}`, { limit: 5 }],
          [`_all_docs/queries?${images}`, { queries: [{ limit: 5 }, { keys: ['open:3:0:0'] }] }],
          [`_changes?${images}&filter=_doc_ids`, { doc_ids: ['open:3:0:0'] }],
          ['_bulk_get?attachments=true', { docs: [{ id: 'open:3:0:0' }] }]]
      )
    ) {
      const { status, text } = await put(path, body, { headers: { accept: 'application/json' } })
      assert.equal(status, 200, path)
      assert.match(text, /"data":/, path)
    }
  })

  it('have no images of rows without a limit', async () => {
    for (
      const path of ['_all_docs?include_docs=true&attachments=true',
        '_changes?include_docs=true&attachments=true', '_all_docs?include_docs=true&attachments=true&limit=2001']
    ) assert.equal((await own.ask(`/db/${path}`)).status, 400, path)
    for (
      const path of ['_all_docs?include_docs=true&attachments=true&limit=5',
        'open:3:0:0?attachments=true', '_all_docs?include_docs=true&attachments=true&keys=[%22open:3:0:0%22]']
    ) assert.equal((await own.ask(`/db/${path}`)).status, 200, path)
  })
})

describe('a connection', () => {
  it('has so many requests waiting for their answers, and is closed when it sends more', async () => {
    let asked = 0
    const front = await openFront(
      { kept: { 'osm:1:0:0': entryOf() }, limits: { pipelined: 8 }, get: (id, signal) => new Promise(
        (resolve, reject) => { asked++; signal.addEventListener('abort', () => reject(new Error('left'))) }
      ) }
    )
    try {
      const tile = path => `GET /osm/${path}.png HTTP/1.1\r\nHost: x\r\n\r\n`
      assert.equal(await speak(front.url, tile('1/1/1').repeat(50)), '', 'closed, without half an answer')
      assert.equal(asked, 8)
      const many = await speak(front.url, tile('1/0/0').repeat(200), { timeout: 500 })
      assert.equal(many.match(/HTTP\/1\.1 200/g)?.length, 200, 'what is answered at once does not wait')
    } finally {
      await front.close(0)
    }
  })

  it('tells every answer that the client has left, also those that wait for another one', async () => {
    const began = []
    const left = []
    const listener = new Listener((req, res) => {
      began.push(req.url)
      return once(res, 'close').then(() => { left.push(req.url) })
    })
    const port = await listener.listen(0, '127.0.0.1')
    try {
      const socket = net.connect(port, '127.0.0.1').on('error', () => {})
      for (const path of ['/1', '/2', '/3']) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      await until(() => began.length === 3, { what: 'three requests of one connection' })
      socket.destroy()
      await until(() => left.length === 3, { what: 'three answers that hear that their client has left' })
    } finally {
      await listener.close(0)
    }
  })

  it('is closed when nothing moves on it', async () => {
    const front = await openFront({ limits: { idle: 100 }, get: () => new Promise(() => {}) })
    try {
      const started = Date.now()
      assert.equal(await speak(front.url, 'GET /osm/1/1/1.png HTTP/1.1\r\nHost: x\r\n\r\n', { timeout: 5000 }), '')
      assert.ok(Date.now() - started < 4000 * TIME_FACTOR)
    } finally {
      await front.close(0)
    }
  })
})

describe('connections', () => {
  it('are so many for each address, and others still get theirs', async () => {
    let peer = /** @type {string | null} */ ('a')
    const listener = new Listener((req, res) => { res.end('here') }, { connectionsEach: 2, addressOf: () => peer })
    const port = await listener.listen(0, '127.0.0.1')
    const sockets = []
    const open = async whose => {
      peer = whose
      const socket = net.connect(port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      const first = await Promise.race(
        [once(socket, 'data').then(([data]) => /here/.test(`${data}`)), once(socket, 'close').then(() => false)]
      )
      return first
    }
    try {
      const seen = []
      for (const whose of ['a', 'a', 'a', 'b', null, null, null]) seen.push(await open(whose))
      assert.deepEqual(seen, [true, true, false, true, true, true, true])
      sockets[0].destroy()
      await until(() => open('a'), { what: 'room for another' })
    } finally {
      for (const socket of sockets) socket.destroy()
      await listener.close(0)
    }
  })
})

describe('feeds of /db', () => {
  it('are so many for each address, and others still get theirs', async () => {
    const store =
      await startServer((req, res) => { res.writeHead(200, { 'Content-Type': 'application/json' }).write('\n') })
    const proxy = new DatabaseProxy(new Couch(`${store.url}/tiles`), { feedsEach: 2, trustProxy: true })
    const gate = await startServer((req, res) => proxy.forward(parseDbRequest('GET', '/_changes', 'feed=continuous'),
      undefined, req, res).catch(error => { res.writeHead(error.status).end() }))
    const leaving = new AbortController()
    const feed = async from => (
      await fetch(gate.url, { headers: from ? { 'x-forwarded-for': `9.9.9.9, ${from}` } : {}, signal: leaving.signal })
    ).status
    try {
      const seen = []
      for (const from of ['1.1.1.1', '1.1.1.1', '1.1.1.1', '2.2.2.2',
        '2001:db8::1', '2001:db8::2', '2001:db8:0:0:9::3', undefined, undefined, undefined]) seen.push(await feed(from))
      assert.deepEqual(seen, [200, 200, 429, 200, 200, 200, 429, 200, 200, 200])
      leaving.abort()
      const again = async () => (await fetch(gate.url, { headers: { 'x-forwarded-for': '1.1.1.1' } })).status === 200
      await until(again, { what: 'room for another' })
    } finally {
      for (const server of [gate, store]) await server.close()
      await proxy.close()
    }
  })

  it('are so many as other questions are for each address, and others still get their answers', async () => {
    const waiting = new Set()
    const store = await startServer((req, res) => { waiting.add(res) })
    const proxy = new DatabaseProxy(new Couch(`${store.url}/tiles`), { readsEach: 2, trustProxy: true })
    const gate = await startServer((req, res) => {
      const asked = parseDbRequest('GET', '/_all_docs', '')
      proxy.forward(asked, undefined, req, res).catch(error => { res.writeHead(error.status).end() })
    })
    const statusFor = from => fetch(gate.url, { headers: { 'x-forwarded-for': from } }).then(({ status }) => status)
    try {
      const first = [statusFor('1.1.1.1'), statusFor('1.1.1.1')]
      await until(() => waiting.size === 2, { what: 'two questions of one address' })
      assert.equal(await statusFor('1.1.1.1'), 429)
      first.push(statusFor('2.2.2.2'))
      await until(() => waiting.size === 3, { what: 'the question of another' })
      for (const res of waiting) res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
      assert.deepEqual(await Promise.all(first), [200, 200, 200])
    } finally {
      for (const server of [gate, store]) await server.close()
      await proxy.close()
    }
  })

  it('are apart from large answers, of which there are so many at once, and so many for each address', async () => {
    const open = new Set()
    let asked = 0
    const store = await startServer((req, res) => {
      if (!/attachments/.test(req.url ?? '')) {
        return void res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
      }
      open.add(res)
      res.on('close', () => open.delete(res)).writeHead(200, { 'Content-Type': 'application/json' })
        .write('{"rows":[\n')
    })
    const proxy =
      new DatabaseProxy(new Couch(`${store.url}/tiles`), { images: 2, imagesEach: 3, trustProxy: true, longest: 1000 })
    const gate = await startServer((req, res) => {
      const [, search = ''] = (req.url ?? '').split('?')
      const reading = parseDbRequest('GET', '/_all_docs', search)
      reading.isLarge = checkLimits(reading)
      asked++
      proxy.forward(reading, undefined, req, res).catch(error => { res.writeHead(error.status).end() })
    })
    const large =
      from => fetch(`${gate.url}?include_docs=true&attachments=true&limit=5`, { headers: { 'x-forwarded-for': from } })
    try {
      const first = await Promise.all([large('1.1.1.1'), large('1.1.1.1')])
      const third = large('1.1.1.1')
      await until(() => asked === 3, { what: 'the third question' })
      assert.equal((await large('1.1.1.1')).status, 429, 'one address has enough')
      assert.equal(open.size, 2, 'the third waits')
      assert.equal((await fetch(gate.url)).status, 200, 'small ones do not wait for it')
      for (const response of first) await assert.rejects(response.text(), 'it may not last for ever')
      assert.equal((await third).status, 200)
      await (await third).body?.cancel()
    } finally {
      for (const server of [gate, store]) await server.close()
      await proxy.close()
    }
  })

  it('know who asks: the address, the network of IPv6, what a trusted proxy says, and nobody behind a proxy of ' +
    'this machine', () => {
    const peer = (remoteAddress, forwarded, trust = false) => clientAddress(/** @type {any} */ (
      { headers: forwarded ? { 'x-forwarded-for': forwarded } : {}, socket: { remoteAddress } }
    ), trust)
    assert.deepEqual([peer('1.2.3.4'), peer('::ffff:1.2.3.4'), peer('127.0.0.1'), peer('::1'), peer(undefined)],
      ['1.2.3.4', '1.2.3.4', null, null, null])
    assert.deepEqual([peer('2001:db8:1:2:3:4:5:6'), peer('2001:db8:1:2::9'),
      peer('2001:db8::1'), peer('2001:DB8:0:0:7::')], ['2001:db8:1:2', '2001:db8:1:2', '2001:db8:0:0', '2001:db8:0:0'])
    assert.deepEqual([peer('127.0.0.1', '6.6.6.6, 7.7.7.7', true),
      peer('5.5.5.5', '6.6.6.6'), peer('5.5.5.5', ' ', true)], ['7.7.7.7', '5.5.5.5', '5.5.5.5'])
    for (const [written, address] of Object.entries({
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
    })) assert.equal(peer('5.5.5.5', written, true), address, written)
  })
})

describe('the embedded store', () => {
  it('answers under the names of this machine alone: no page can have it under a name of its own', async () => {
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
