// Tests of the gateway as an HTTP server: methods, errors, CORS, slow and invalid clients, and the address of a client.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { TilecouchError } from '../../core/index.js'
import { until } from '../../bench/wait.js'
import { Cors } from '../../server/gateway/cors.js'
import { clientAddress } from '../../server/http/addresses.js'
import { Listener } from '../../server/http/listener.js'
import { createGate } from '../support/client/front.js'
import { png } from '../support/tiles.js'
import { entryOf } from '../support/gateway/stand.js'
import { speak, statuses } from '../support/gateway/wire.js'
import { useFront } from './use-front.js'

describe('the gateway over HTTP', () => {
  const front = useFront()
  const { open, get } = front

  it('answers every error with its code and reason, as JSON that is not cached', async () => {
    const routes = {
      versions: async () => { throw new TypeError('secret detail') },
      times: () => {
        throw new TilecouchError('COUCHDB_ERROR', { url: 'http://inside:5984/tiles', status: 500, reason: 'boom' })
      }
    }
    await open({ routes })
    const table = [
      ['/Osm/1/0/0.png', 400, 'BAD_LAYER'], ['/osm@x/1/0/0.png', 400, 'BAD_TIME'],
      ['/osm/1/2/0.png', 400, 'BAD_TILE'], ['/quadkey/osm/9.png', 400, 'BAD_QUADKEY'], ['/%ff', 400, 'BAD_ADDRESS'],
      ['/osm/times.json?z=99', 400, 'BAD_ZOOM'], ['/osm/times.json?z=1&bbox=1', 400, 'BAD_BBOX'],
      ['/osm/1', 404, 'NOT_FOUND'], ['/other/1/0/0.png', 404, 'LAYER_NOT_FOUND'],
      ['/other.json', 404, 'LAYER_NOT_FOUND'],
      ['/metrics', 404, 'NOT_FOUND'], ['/osm/1/0/0.json', 500, 'INTERNAL'], ['/osm/times.json', 502, 'COUCHDB_ERROR']
    ]
    for (const [path, expected, code] of table) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, body } = await get(path, {}, method)
        assert.equal(status, expected, path)
        assert.deepEqual([headers['content-type'], headers['cache-control'], headers['x-content-type-options'],
          headers['access-control-allow-origin']], ['application/json', 'no-store', 'nosniff', '*'], path)
        if (method === 'HEAD') assert.deepEqual([body.length, +headers['content-length'] > 10], [0, true])
        else {
          const { error, reason, ...otherFields } = JSON.parse(`${body}`)
          assert.equal(error, code, path)
          assert.ok(reason && Object.keys(otherFields).every(key => key === 'advice'))
          assert.ok(!/inside|secret|boom|node:|\.js/.test(`${body}`), `${body}`)
        }
      }
    }
    const logged = front.lines.map(({ code }) => code)
    assert.deepEqual(logged, ['INTERNAL', 'COUCHDB_ERROR'],
      'what is the gateway\'s or the store\'s fault is in the log, once a second')
  })

  it('allows only GET, HEAD and OPTIONS', async () => {
    await open({})
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'TRACE']) {
      const { status, headers, json } = await get('/osm/1/0/0.png', {}, method)
      assert.deepEqual([status, headers.allow, json.error], [405, 'GET, HEAD, OPTIONS', 'READ_ONLY'], method)
    }
    const options = await get('/osm/1/0/0.png', {}, 'OPTIONS')
    assert.deepEqual([options.status, options.headers.allow, options.body.length], [204, 'GET, HEAD, OPTIONS', 0])
    assert.equal((await get('*', {}, 'OPTIONS')).status, 204)
  })

  it('answers requests with a needless body without waiting for the body', async () => {
    await open({})
    const small = await get('/osm/1/0/0.png', { 'content-length': '5' }, 'GET', 'hello')
    assert.deepEqual([small.status, small.headers.connection], [200, 'close'])
    await Promise.all([
      ['GET', 'Content-Length: 99999999999', 200], ['POST', 'Content-Length: 99999999999', 405],
      ['GET', 'Transfer-Encoding: chunked', 200], ['POST', 'Transfer-Encoding: chunked', 405],
      ['PUT', 'Expect: 100-continue\r\nContent-Length: 9', 405]
    ].map(async ([method, head, expected]) => {
      const text = await speak(front.url, `${method} /osm/1/0/0.png HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
      assert.deepEqual(statuses(text), [expected], `${method} ${head}`)
    }))
  })

  it('answers Expect: 100-continue only when the body is read, for every method', async () => {
    const listener = new Listener(async (req, res) => {
      const parts = []
      if (req.url === '/read') for await (const part of req) parts.push(part)
      res.writeHead(parts.length ? 200 : 403, { connection: 'close' }).end(Buffer.concat(parts))
    })
    const url = `http://127.0.0.1:${await listener.listen(0, '127.0.0.1')}`
    const send = (method, path) => speak(url,
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello`)
    try {
      await Promise.all(['POST', 'PUT', 'DELETE', 'PATCH', 'GET'].map(async method => {
        assert.deepEqual(statuses(await send(method, '/read')), [100, 200], method)
        assert.deepEqual(statuses(await send(method, '/refused')), [403], method)
      }))
    } finally {
      await listener.close(0)
    }
  })

  it('answers input that is not HTTP with the reason, and ends the connection', async () => {
    await open({})
    const invalidInputs = {
      400: ['hello\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
        `GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n`, 'GET / HTTP/1.1\r\n\r\n',
        Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])],
      431: [`GET /${'a'.repeat(20000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20000)}\r\n\r\n`]
    }
    await Promise.all(Object.entries(invalidInputs).flatMap(([status, texts]) => texts.map(async text => {
      assert.deepEqual(statuses(await speak(front.url, text)), [+status], `${text.slice(0, 60)}`)
    })))
    assert.match(await speak(front.url, invalidInputs[431][0]), /no-store[\s\S]*"BAD_REQUEST"/)
    assert.match(await speak(front.url, 'HEAD osm HTTP/1.1\r\nHost: x\r\n\r\n'),
      /^HTTP\/1\.1 400 [\s\S]*\r\n\r\n$/, 'and no body follows a HEAD')
    assert.equal((await get('/osm/1/0/0.png')).status, 200, 'others are served')
  })

  it('answers 408 to a client that sends too slowly, and limits the number of connections', async () => {
    const limits = { headersTimeout: 100, requestTimeout: 200, checking: 50, maxConnections: 2 }
    await open({ limits })
    const slow = await speak(front.url, 'GET /osm/1/0/0.png HTTP/1.1\r\nHost: x\r\nX-Slow: ', { timeout: 20000 })
    assert.deepEqual(statuses(slow), [408])
    assert.match(slow, /Connection: close[\s\S]*too slowly/)
    await front.close(0)
    await open({ limits: { ...limits, linger: 200 } })
    const halfOpen = net.connect({ port: front.port, host: '127.0.0.1', allowHalfOpen: true })
    halfOpen.on('error', () => {}).resume().write('GET /osm/1/0/0.png HTTP/1.1\r\nHost: x\r\n')
    await once(halfOpen, 'end') // the client keeps its side open
    const dripping = setInterval(() => { if (halfOpen.writable) halfOpen.write('x') }, 20)
    await new Promise(resolve => halfOpen.once('close', resolve))
    clearInterval(dripping)
    const talks = await Promise.all(Array.from({ length: 6 },
      () => speak(front.url, 'GET /osm/1/0/0.png HTTP/1.1\r\nHost: x\r\n\r\n')))
    const answeredCount = talks.filter(text => text.includes('HTTP/1.1 200')).length
    assert.ok(answeredCount > 0 && answeredCount <= 2, `${answeredCount} of 6`)
  })

  it('answers several requests sent at once in their order', async () => {
    const answerGate = createGate()
    await open({ get: async () => { await answerGate.opened; return entryOf({ bytes: png(7) }) } })
    const request = (path, header = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`
    const talk = speak(front.url, request('/osm/1/1/1.png') + request('/osm/1/0/0.png') + request('/osm/9/9') +
      request('/osm.json', 'Connection: close\r\n'))
    await until(() => front.requests.length === 3, { what: 'the quick ones' })
    answerGate.open()
    const text = await talk
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200'])
    assert.match(text, /X-Tilecouch-Cache: miss[\s\S]*X-Tilecouch-Cache: hit[\s\S]*NOT_FOUND[\s\S]*tilejson/)
  })

  it('gives up on a store that does not answer, and on clients that leave', async () => {
    const signals = []
    await open({ get: (id, signal) => new Promise((resolve, reject) => {
      signals.push(signal)
      signal.addEventListener('abort', () => reject(new TilecouchError('ABORTED')))
    }) })
    front.ctx.tileTimeout = 50
    const { status, json } = await get('/osm/1/1/1.png')
    assert.deepEqual([status, json.error], [503, 'UNREACHABLE'])
    front.ctx.tileTimeout = 60000
    const socket = net.connect(front.port, '127.0.0.1').on('error', () => {})
    socket.write('GET /osm/1/1/0.png HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => signals.length === 2, { what: 'the question' })
    assert.equal(signals[1].aborted, false)
    socket.destroy()
    await until(() => signals[1].aborted && front.requests.length === 2, { what: 'the end of the question' })
    assert.equal(front.requests[1].status, 499)
    assert.deepEqual(front.lines.map(({ code }) => code), ['UNREACHABLE'], 'who leaves is no failure')
  })

  it('counts every request once, with its outcome, status and bytes', async () => {
    await open({ options: { accessLog: true } })
    await get('/osm/1/0/0.png')
    await get('/osm/1/0/0.png', { 'if-none-match': '*' })
    await get('/osm/1/0/0.png', {}, 'HEAD')
    await get('/osm/1/1/1.png')
    await get('/other/1/1/1.png')
    await get('/%')
    await get('/osm.json')
    const size = entryOf().bytes.length
    const document = front.requests.pop()
    assert.deepEqual([document.kind, document.status, document.bytes > 100], ['tilejson', 200, true])
    const summaries =
      front.requests.map(({ kind, layer, outcome, status, bytes }) => [kind, layer, outcome, status, bytes])
    assert.deepEqual(summaries, [
      ['tile', 'osm', 'hit', 200, size], ['tile', 'osm', 'hit', 304, 0], ['tile', 'osm', 'hit', 200, 0],
      ['tile', 'osm', 'missing', 404, 0], ['tile', 'other', undefined, 404, 0], ['other', undefined, undefined, 400, 0]
    ])
    assert.ok(front.requests.every(({ seconds }) => seconds >= 0 && seconds < 5))
    assert.deepEqual(front.lines.map(({ status }) => status), [200, 304, 200, 404, 404, 400, 200])
  })

  it('is healthy only when the store has answered within two seconds, and asks it once a second', async () => {
    let requestCount = 0
    /** Uses a new store for each call, because the gateway reuses the answer of a store for a second. */
    const healthOf = async answer => {
      front.ctx.store = { couch: { request: options => { requestCount++; return answer(options) } } }
      return get('/health')
    }
    await open({})
    const hanging = healthOf(({ signal }) =>
      new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(new TilecouchError('ABORTED')))))
    await until(() => requestCount === 2, { what: 'the database and the server to be asked' })
    let documents = 7
    const answerHealthy = async ({ server }) => server ? { version: '3.5.0' } : { doc_count: documents }
    const first = await Promise.all([healthOf(answerHealthy), ...Array.from({ length: 50 }, () => get('/health'))])
    assert.ok(first.every(({ status, json }) => status === 200 &&
      json.status === 'ok' && json.couchdb.version === '3.5.0' && json.couchdb.documents === 7))
    assert.equal(requestCount, 4, 'once for all')
    documents = 8
    await until(async () => (await get('/health')).json.couchdb.documents === 8, { what: 'a newer answer' })
    const refused = await healthOf(() => {
      throw new TilecouchError('UNREACHABLE', { url: 'http://inside:5984', why: 'refused' })
    })
    for (const { status, json, text } of [refused, await hanging]) {
      assert.deepEqual([status, json.couchdb, json.error, /inside/.test(text)], [503, null, 'UNREACHABLE', false])
    }
    assert.equal((await healthOf(answerHealthy)).status, 200, 'green again')
    front.stopping.abort()
    const { status, json } = await get('/health')
    assert.deepEqual([status, json.status], [503, 'stopping'])
  })

  it('links to its public URL or to a valid Host header, and refuses invalid ones', async () => {
    const base = async headers => (await get('/osm@2024.json', headers))
      .json.tiles[0].replace(/osm@2024\/\{z}\/\{x}\/\{y}\.png$/, '')
    const forwarded =
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'maps.example:8443, inner', 'x-forwarded-prefix': '/tiles/' }
    await open({})
    assert.equal(await base({ host: 'a.example:81' }), 'http://a.example:81/')
    assert.equal(await base({ host: 'a.example', ...forwarded }), 'http://a.example/')
    assert.equal(await base({ host: '' }), `${front.url}/`)
    const invalidHosts = ['a"b', 'a/b', 'a b', '<a>', 'user:pass@a', 'a:b',
      '-', 'x:99999', '[::::]', '[::1]:99999', '1.2.3.999', 'a..b:0x']
    for (const host of invalidHosts) {
      const { status, json } = await get('/osm@2024.json', { host })
      assert.deepEqual([status, json.error], [400, 'BAD_REQUEST'], host)
    }
    await front.close(0)
    await open({ options: { publicUrl: 'https://maps.example/t/' } })
    assert.equal(await base({ host: 'a.example', ...forwarded }), 'https://maps.example/t/')
  })

  it('lets no shared cache keep links from a Host header', async () => {
    const cacheControl = async headers => (await get('/osm.json', headers)).headers['cache-control']
    await open({})
    assert.match(await cacheControl({ host: 'evil.example' }), /^private, max-age=60/)
    await front.close(0)
    await open({ options: { publicUrl: 'https://maps.example/t/' } })
    assert.match(await cacheControl({ host: 'evil.example' }), /^public, max-age=60/)
  })
})

describe('pages of other origins', () => {
  const { open, get } = useFront()
  const [A, B, C] = ['https://a.example', 'http://b.example:8080', 'https://c.example']
  const preflight = async (path, origin, method = 'GET') => {
    const { status, headers } = await get(path, { origin, 'access-control-request-method': method }, 'OPTIONS')
    assert.equal(status, 204)
    return headers
  }
  const PATHS = ['/osm/1/0/0.png', '/osm/1/1/1.png', '/osm.json', '/Osm.json', '/osm/9', '/health', '/x.js']
  const store = { couch: { request: async () => ({ version: '3', doc_count: 1 }) } }
  const routes = { file: async (ctx, request, req, res) => res.writeHead(200, { Vary: 'Accept-Encoding' }).end() }

  /** @type {[string, string, [origin: string | undefined, allowed: string | undefined][], string | undefined][]} */
  const settings = [
    ['may read everything by default', '*', [[A, '*'], [B, '*'], [undefined, '*']], undefined],
    ['may read when they are listed, and every answer varies with them', `${A} , ${B}`,
      [[A, A], [B, B], [C, undefined], ['null', undefined], ['__proto__', undefined], [undefined, undefined]],
      'Origin'],
    ['may read nothing when there are none', 'none', [[A, undefined], [undefined, undefined]], undefined]
  ]
  for (const [title, cors, origins, varies] of settings) {
    it(title, async () => {
      await open({ store, options: { cors }, routes })
      for (const path of PATHS) {
        const vary = [path === '/x.js' && 'Accept-Encoding', varies].filter(Boolean).join(', ') || undefined
        for (const [origin, allowed] of origins) {
          const { headers } = await get(path, origin ? { origin } : {})
          assert.deepEqual([headers['access-control-allow-origin'], headers.vary], [allowed, vary], `${path} ${origin}`)
        }
      }
      for (const [origin = '', allowed] of origins.filter(([name]) => name)) {
        const headers = await preflight('/osm.json', origin)
        assert.equal(headers['access-control-allow-methods'], allowed && 'GET, HEAD', origin)
      }
    })
  }

  it('may send and see the headers of tiles, and POST to the store', async () => {
    await open({ store })
    const headers = await preflight('/osm/1/0/0.png', A)
    for (const name of ['Range', 'If-Range', 'If-None-Match', 'X-Requested-With']) {
      assert.match(headers['access-control-allow-headers'], new RegExp(`\\b${name}\\b`), name)
    }
    const { 'access-control-expose-headers': exposed } = (await get('/osm/1/0/0.png')).headers
    for (const name of ['ETag', 'X-Tilecouch-Time', 'Accept-Ranges', 'Content-Range']) {
      assert.match(exposed, new RegExp(`\\b${name}\\b`), name)
    }
    assert.equal((await preflight('/db/_all_docs', A, 'POST'))['access-control-allow-methods'], 'GET, HEAD, POST')
    assert.equal((await preflight('/dbx', A, 'POST'))['access-control-allow-methods'], 'GET, HEAD')
  })

  it('may not read the store where there are private layers, unless they are on the list', () => {
    const headersOf = (cors, url) => cors.headers('https://a.example', url)[1]
    const anyOrigin = new Cors('*', { hasPrivate: true })
    for (const url of ['/db', '/db/', '/db?x', '/db/_all_docs', '//db/osm:1:0:0', 'http://h/db/x']) {
      assert.equal(headersOf(anyOrigin, url), undefined, url)
      assert.equal(headersOf(new Cors('*'), url), '*')
      assert.equal(headersOf(new Cors('https://a.example', { hasPrivate: true }), url), 'https://a.example')
    }
    for (const url of ['/osm/1/0/0.png', '/osm.json', '/dbs.json', '/']) {
      assert.equal(headersOf(anyOrigin, url), '*', url)
    }
  })

  it('must be listed as browsers name origins, or the option is refused', async () => {
    await open({})
    for (const origins of ['example.org', 'https://a.example/path',
      'https://user@a.example', 'ftp://', 'https://a.example, x', '*, https://a.example', '']) {
      assert.throws(() => new Cors(origins), error => error.code === 'BAD_OPTION', origins)
    }
    assert.deepEqual([...new Cors('https://A.example/').headers('https://a.example')].slice(0, 2),
      ['Access-Control-Allow-Origin', 'https://a.example'])
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
