// Tests of the proxy at /db: requests and answers that it passes on, and its limits. The store is a scripted server.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { Couch } from '../../loader/store/couch.js'
import { DatabaseProxy } from '../../server/gateway/db/proxy.js'
import { checkLimits, parseDbRequest } from '../../server/gateway/db/request.js'
import { db } from '../../server/gateway/db/index.js'
import { startServer } from '../support/server.js'
import { ask, closeConnections, post, speak } from '../support/gateway/wire.js'

describe('the proxy of /db', () => {
  let store, proxyServer, base, ctx, couch, answer, requests
  const cleanups = []

  beforeEach(async () => {
    requests = []
    answer = (req, res) => res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}')
    store = await startServer((req, res) => {
      const parts = []
      req.on('data', part => parts.push(part))
      req.on('end', () => {
        requests.push({ method: req.method, url: req.url, headers: req.headers, body: Buffer.concat(parts).toString() })
        answer(req, res)
      })
    })
    couch = new Couch(`${store.url.replace('//', '//reader:p%40ss@')}/couch/tiles`)
    ctx = { options: { dbAccess: true }, proxy: new DatabaseProxy(couch) }
    proxyServer = await startServer((req, res) => {
      const [path, query = ''] = req.url.slice(3).split(/\?(.*)/s)
      db(ctx, { path, query }, req, res).catch(error => res.destroy(error))
    })
    base = proxyServer.url
  })

  afterEach(async () => {
    for (const cleanUp of cleanups.splice(0)) await cleanUp()
    closeConnections()
    await proxyServer.close()
    await ctx.proxy.close()
    await store.close()
  })

  it('sends its own credentials, and only the necessary headers of the client', async () => {
    await ask(base, '/db/layer:osm?rev=1-a', {
      headers: {
        accept: 'application/json', 'if-none-match': '"x"', range: 'bytes=0-99', 'accept-encoding': 'br, gzip',
        authorization: 'Basic eDp5', cookie: 'AuthSession=x', host: 'elsewhere', 'x-forwarded-for': '1.2.3.4',
        'x-auth-couchdb-roles': '_admin', 'x-http-method-override': 'DELETE',
        te: 'trailers', upgrade: 'h2c', 'keep-alive': '5', 'proxy-connection': 'close',
        connection: 'keep-alive, x-secret', 'x-secret': '1', origin: 'http://page', referer: 'http://page'
      }
    })
    const [{ method, url, headers }] = requests
    assert.deepEqual([method, url], ['GET', '/couch/tiles/layer%3Aosm?rev=1-a'])
    assert.equal(headers.authorization, `Basic ${btoa('reader:p@ss')}`)
    const { host, connection, ...otherHeaders } = headers
    assert.deepEqual(otherHeaders, {
      accept: 'application/json', 'if-none-match': '"x"', 'accept-encoding': 'gzip',
      authorization: headers.authorization
    })
    assert.equal(host, new URL(couch.url).host)
    await ask(base, '/db/a/b', { headers: { range: 'bytes=0-1,5-9', 'accept-encoding': 'br, gzip;q=0' } })
    assert.deepEqual([requests[1].headers.range, requests[1].headers['accept-encoding']], [undefined, undefined])
  })

  it('sends the parsed body to the store, not the bytes of the client', async () => {
    await post(base, '/db/_all_docs?limit=%35', '{"keys": ["a"],\n "keys": ["b"]}',
      { headers: { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'identity' } })
    assert.equal(requests[0].body, '{"keys":["b"]}')
    assert.equal(requests[0].headers['content-type'], 'application/json')
    assert.equal((await post(base, '/db/_changes', '', { headers: { 'content-type': 'text/plain' } })).status, 200)
    assert.equal(requests[1].body, '{}')
  })

  it('refuses a body that is not a JSON object, or has too many bytes, values or levels', async () => {
    const status = async (body, headers, path = '_all_docs') =>
      (await post(base, `/db/${path}`, body, { headers })).status
    for (const body of ['{', '[]', 'null', '[['.repeat(20000)]) assert.equal(await status(body), 400, body.slice(0, 9))
    assert.equal(await status('{"keys":[]}', { 'content-type': 'text/plain' }), 415)
    assert.equal(await status('{"keys":[]}', { 'content-encoding': 'gzip' }), 415)

    const tooLarge = [
      `{"keys":[${'0,'.repeat(50001)}0]}`, `{"keys":[${'[],'.repeat(30000)}0]}`, `{"keys":["${'x'.repeat(1048577)}"]}`,
      `{"keys":${'['.repeat(60000)}${']'.repeat(60000)}}`, '[['.repeat(200000),
      `{${Array.from({ length: 60000 }, (_, index) => `"k${index}":0`)}}`
    ]
    for (const path of ['_all_docs', '_design/versions/_view/by_tile', '_bulk_get', '_changes?filter=_doc_ids']) {
      for (const body of tooLarge) assert.equal(await status(body, {}, path), 413, `${path} ${body.slice(0, 30)}`)
      assert.equal(await status(`{"keys":[${'['.repeat(40)}${']'.repeat(40)}]}`, {}, path), 400, path)
    }
    const head = 'Host: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    const chunks = `80000\r\n${'x'.repeat(0x80000)}\r\n`.repeat(6)
    const chunked = await speak(base, `POST /db/_all_docs HTTP/1.1\r\n${head}${chunks}`)
    assert.match(chunked, /^HTTP\/1\.1 413 [^]*connection: close/i)
    assert.equal(requests.length, 0)
  })

  it('passes on the headers of an answer, but no cookie and no name of a server', async () => {
    answer = (req, res) => res.writeHead(200, {
      'Content-Type': 'text/html', 'Content-Length': 2, ETag: '"e"',
      'Cache-Control': 'must-revalidate', 'Set-Cookie': 'AuthSession=admin',
      Server: 'CouchDB/3.5.0', 'X-Couch-Request-ID': 'abc', Location: 'http://inside:5984/x',
      'Access-Control-Allow-Origin': 'http://x', 'Content-Security-Policy': 'none',
      'WWW-Authenticate': 'Basic', 'X-CouchDB-Body-Time': '0'
    }).end('ok')
    const { status, headers, text } = await ask(base, '/db/a/b')
    const { date, connection, 'keep-alive': keep, ...otherHeaders } = headers
    assert.deepEqual([status, text], [200, 'ok'])
    assert.deepEqual(otherHeaders, {
      'accept-ranges': 'bytes', 'content-type': 'text/html', 'content-length': '2', etag: '"e"',
      'cache-control': 'must-revalidate', 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff'
    })
  })

  it('hides error messages and redirects of the store', async () => {
    const details = '{"error":"x","reason":"at http://reader:p%40ss@inside/ in /opt/couchdb"}'
    const expectedByStatus = { 401: 502, 403: 502, 301: 404, 302: 404, 500: 502, 503: 503, 504: 502 }
    for (const [status, expected] of Object.entries(expectedByStatus)) {
      answer = (req, res) => res.writeHead(+status,
        { 'Content-Type': 'application/json', Location: 'http://inside/', 'WWW-Authenticate': 'Basic' }).end(details)
      const { status: answerStatus, text, headers } = await ask(base, '/db/a')
      assert.equal(answerStatus, expected)
      assert.ok(!/inside|p%40ss|couchdb/.test(text + JSON.stringify(headers)), text)
      assert.equal(headers['www-authenticate'], undefined)
      assert.deepEqual(Object.keys(JSON.parse(text)), ['error', 'reason'])
    }
  })

  it('asks again when a connection was closed meanwhile, and answers 503 when the store is away', async () => {
    let cut = true
    answer = (req, res) => {
      if (!cut) return res.end('{}')
      cut = false
      req.socket.destroy()
    }
    assert.equal((await post(base, '/db/_all_docs', { keys: [] })).status, 200)
    assert.equal(requests.length, 2)
    answer = req => req.socket.destroy()
    const lost = await ask(base, '/db/a')
    assert.deepEqual([lost.status, lost.headers['retry-after'], lost.json.error], [503, '2', 'service_unavailable'])
    await store.close()
    const { status, headers } = await ask(base, '/db/a')
    assert.deepEqual([status, headers['cache-control'], headers['retry-after']], [503, 'no-store', '2'])
    await new Promise(resolve => { store.server.listen(store.port, '127.0.0.1', () => resolve(undefined)) })
    answer = (req, res) => res.end('{}')
    assert.equal((await ask(base, '/db/a')).status, 200)
  })

  it('cuts an answer off when the store closes the connection in the middle', async () => {
    answer = (req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' })
      res.write('{"rows":[', () => req.socket.destroy())
    }
    const { status, cut } = await ask(base, '/db/_all_docs')
    assert.deepEqual([status, cut], [200, true])
  })

  it('ends its request to the store when the client leaves', async () => {
    let closed = 0
    answer = (req, res) => {
      res.once('close', () => closed++)
      if (/a$/.test(req.url)) return // never answers
      res.writeHead(200, { 'Content-Type': 'application/json' })
      res.write('{"results":[\n')
    }
    for (const path of ['/db/a', '/db/_all_docs', '/db/_changes?feed=continuous', '/db/_changes?feed=longpoll']) {
      const client = new AbortController()
      const countBefore = requests.length
      const outcome = fetch(base + path, { signal: client.signal })
        .then(response => response.text()).catch(() => 'left')
      await until(() => requests.length > countBefore, { what: `the question ${path}` })
      client.abort()
      assert.equal(await outcome, 'left')
    }
    await until(() => closed === 4, { what: 'the store to be left alone' })
  })

  let sent
  /** Sends an answer that never ends. */
  function endless (req, res) {
    const piece = Buffer.alloc(65536, 'x')
    sent = 0
    res.writeHead(200, { 'Content-Type': 'application/octet-stream' })
    const sendMore = () => {
      while (!res.destroyed) {
        sent += piece.length
        if (!res.write(piece)) break
      }
      res.once('drain', sendMore)
    }
    sendMore()
  }

  /** Starts a proxy with the given limits. Returns a function that sends it requests, as from a client address. */
  async function openLimited ({ endings, ...limits }) {
    const proxy = new DatabaseProxy(couch, { trustProxy: true, ...limits })
    const limitedServer = await startServer((req, res) => {
      const [path, search = ''] = req.url.split('?')
      const request = parseDbRequest('GET', path, search)
      request.isLarge = checkLimits(request)
      proxy.forward(request, undefined, req, res, { endings })
        .catch(error => res.writeHead(error.status, error.headers).end())
    })
    cleanups.push(limitedServer.close, () => proxy.close())
    return (path, { from = '', ...options } = {}) => fetch(`${limitedServer.url}${path}`,
      { headers: from ? { 'x-forwarded-for': `9.9.9.9, ${from}` } : {}, ...options })
  }

  it('cuts off an answer that its client does not read while another client waits', async () => {
    answer = (req, res) => /b$/.test(req.url) ? endless(req, res) : res.end('{}')
    const get = await openLimited({ connections: 1, stall: 400 })
    const response = await get('/a/b')
    assert.equal((await get('/a')).status, 200)
    await assert.rejects(response.arrayBuffer())
  })

  it('reads no more from the store than a slow client takes', async () => {
    answer = endless
    const client = new AbortController()
    const response = await fetch(`${base}/db/a/b`, { signal: client.signal })
    let sentBefore = -1
    await until(() => {
      const hasStopped = sent === sentBefore
      sentBefore = sent
      return hasStopped
    }, { every: 200, what: 'the stream to stand still' })
    assert.ok(sent < 50e6, `${sent} bytes, of which nobody has read any`)
    client.abort()
    await response.body?.cancel().catch(() => {})
  })

  /** Starts the answer to a feed, and leaves it open. */
  const feed = (req, res) => res.writeHead(200, { 'Content-Type': 'application/json' }).write('\n')
  const FEED = '/_changes?feed=continuous'

  it('limits the number of feeds, and serves other reads beside them', async () => {
    answer = (req, res) => /_changes/.test(req.url) ? feed(req, res) : res.end('{}')
    const ended = new AbortController()
    const get = await openLimited({ feeds: 3, connections: 1, signal: ended.signal })
    const client = new AbortController()
    await Promise.all([1, 2, 3].map(() => get(FEED, { signal: client.signal })))
    const fourth = await get('/_changes?feed=longpoll')
    assert.deepEqual([fourth.status, fourth.headers.get('retry-after')], [429, '2'])
    assert.equal((await get('/a')).status, 200)
    client.abort()
    await until(async () => {
      const other = new AbortController()
      const { status } = await get('/_changes?feed=longpoll', { signal: other.signal })
      other.abort()
      return status === 200
    }, { what: 'room for another' })
    const last = await get(FEED)
    ended.abort()
    await assert.rejects(last.text(), 'the gateway ends, and with it the feed')
  })

  it('answers 503 to a feed that still waits when the gateway ends, and begins none that has ended', async () => {
    answer = () => {} // CouchDB sends the head with the first change
    const ended = new AbortController()
    const get = await openLimited({ signal: ended.signal })
    const waitingFeed = get(FEED)
    await until(() => requests.length === 1, { what: 'the store to be asked' })
    ended.abort()
    const getWithToken = await openLimited({ endings: [ended.signal] })
    const answers = await Promise.all([waitingFeed, get(FEED), getWithToken(FEED)])
    assert.deepEqual([answers.map(({ status }) => status), requests.length], [[503, 503, 503], 1])
  })

  it('limits the number of feeds of one address', async () => {
    answer = feed
    const get = await openLimited({ feedsEach: 2 })
    const client = new AbortController()
    const statuses = []
    for (const from of ['1.1.1.1', '1.1.1.1', '1.1.1.1', '2.2.2.2',
      '2001:db8::1', '2001:db8::2', '2001:db8:0:0:9::3', undefined, undefined, undefined]) {
      statuses.push((await get(FEED, { from, signal: client.signal })).status)
    }
    assert.deepEqual(statuses, [200, 200, 429, 200, 200, 200, 429, 200, 200, 200])
    client.abort()
    await until(async () => (await get(FEED, { from: '1.1.1.1' })).status === 200, { what: 'room for another' })
  })

  it('limits the number of other requests of one address at the same time', async () => {
    const waitingResponses = new Set()
    answer = (req, res) => { waitingResponses.add(res) }
    const get = await openLimited({ readsEach: 2 })
    const statusFor = from => get('/_all_docs', { from }).then(({ status }) => status)
    const first = [statusFor('1.1.1.1'), statusFor('1.1.1.1')]
    await until(() => waitingResponses.size === 2, { what: 'two questions of one address' })
    assert.equal(await statusFor('1.1.1.1'), 429)
    first.push(statusFor('2.2.2.2'))
    await until(() => waitingResponses.size === 3, { what: 'the question of another' })
    for (const res of waitingResponses) res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
    assert.deepEqual(await Promise.all(first), [200, 200, 200])
  })

  it('limits the number of large answers, which queue, time out and leave small ones alone', async () => {
    const open = new Set()
    answer = (req, res) => {
      if (!/attachments/.test(req.url)) return res.end('{}')
      open.add(res)
      res.on('close', () => open.delete(res)).writeHead(200, { 'Content-Type': 'application/json' })
      res.write('{"rows":[\n')
    }
    const get = await openLimited({ images: 2, imagesEach: 3, longest: 1000 })
    const from = '1.1.1.1'
    const getLarge = () => get('/_all_docs?include_docs=true&attachments=true&limit=5', { from })
    const first = await Promise.all([getLarge(), getLarge()])
    const laterReads = [getLarge(), getLarge()]
    assert.equal((await Promise.race(laterReads)).status, 429, 'one address has enough')
    assert.equal(open.size, 2, 'the third waits')
    assert.equal((await get('/_all_docs', { from })).status, 200, 'small ones do not wait for it')
    for (const response of first) await assert.rejects(response.text(), 'it may not last for ever')
    const answers = await Promise.all(laterReads)
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 429])
    for (const { body } of answers) await body?.cancel()
  })
})
