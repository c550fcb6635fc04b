// What passes between the control room of a gateway and CouchDB, with a CouchDB that says anything.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { Couch } from '../../loader/store/couch.js'
import { admin, openControlRoom } from '../../server/gateway/admin/index.js'
import { AdminProxy } from '../../server/gateway/admin/proxy.js'
import { AdminVisitors } from '../../server/gateway/admin/visitors.js'
import { Users } from '../../server/gateway/access/users.js'
import { publicUrlOf } from '../../server/gateway/addresses.js'
import { startServer } from '../support/server.js'
import { ask, closeConnections, speak, statuses } from './support/wire.js'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const SET = 'AuthSession=bmV3; Version=1; Expires=Tue, 24-Nov-2026 16:58:34 GMT; Max-Age=600; Path=/; HttpOnly; Domain=inside'

describe('what passes between the control room and CouchDB', () => {
  let store, gate, base, ctx, answer, session, seen, cookie

  beforeEach(async () => {
    seen = []
    session = (req, res) => res.writeHead(200, JSON_TYPE).end(JSON.stringify({ ok: true, userCtx: { name: 'anna', roles: ['tilecouch-writer'] } }))
    answer = (req, res) => res.writeHead(200, JSON_TYPE).end('{"ok":true}')
    store = await startServer((req, res) => {
      const parts = []
      req.on('data', part => parts.push(part))
      req.on('end', () => {
        seen.push({ method: req.method, url: req.url, headers: req.headers, body: Buffer.concat(parts).toString() })
        if (req.url === '/couch/_session') session(req, res)
        else if (req.url === '/couch/tiles/_security' && req.method === 'GET') res.writeHead(200, JSON_TYPE).end('{}')
        else answer(req, res)
      })
    })
    const couch = new Couch(`${store.url.replace('//', '//gateway:p%40ss@')}/couch/tiles`)
    ctx = { options: { controlRoom: true }, publicUrl: publicUrlOf({}), controlRoom: openControlRoom(couch, new Users(couch), {}) }
    ctx.couch = couch
    gate = await startServer((req, res) => {
      const [path, query = ''] = /** @type {string} */ (req.url).slice('/admin'.length).split(/\?(.*)/s)
      admin(ctx, /** @type {any} */ ({ path, query }), req, res).catch(error => res.destroy(error))
    })
    base = gate.url
    cookie = `control-room-${gate.port}=c2Vzc2lvbg`
  })

  afterEach(async () => {
    closeConnections()
    await gate.close()
    await ctx.controlRoom.proxy.close()
    await store.close()
  })

  const get = (path, headers = {}) => ask(base, `/admin/couch${path}`, { headers: { cookie, ...headers } })
  const put = (path, body, headers = {}) => ask(base, `/admin/couch${path}`, { method: 'PUT', headers: { cookie, origin: base, 'content-type': 'application/json', ...headers }, body })
  const others = () => seen.filter(({ url }) => !/_(session|security)$/.test(url))

  it('is the session of the visitor, and neither the name of the gateway nor what else his browser sends', async () => {
    await put('/db/layer%3Aosm?new_edits=true', '{"a":1}', { authorization: 'Basic eDp5', cookie: `AuthSession=other; ${cookie}; x=y`, 'x-auth-couchdb-roles': '_admin', 'x-forwarded-for': '1.2.3.4', 'x-http-method-override': 'DELETE', referer: 'http://page', 'x-secret': '1', 'accept-encoding': 'br' })
    const [{ method, url, headers: { host, connection, ...headers }, body }] = others()
    assert.deepEqual([method, url, body], ['PUT', '/couch/tiles/layer%3Aosm?new_edits=true', '{"a":1}'])
    assert.equal(host, new URL(store.url).host)
    assert.deepEqual(headers, { accept: 'application/json', 'content-type': 'application/json', 'content-length': '7', cookie: 'AuthSession=c2Vzc2lvbg' })
    for (const { headers: given } of seen) assert.equal(given.authorization, undefined)
    await get('/_active_tasks')
    await get('/')
    assert.deepEqual(others().slice(1).map(each => each.url), ['/couch/_active_tasks', '/couch/'])
  })

  it('is asked for only who has signed in once in a while', async () => {
    for (let at = 0; at < 5; at++) await get('/db')
    assert.equal(seen.filter(({ url }) => url.endsWith('/_session')).length, 1)
    await ask(base, '/admin/couch/db') // without a session CouchDB is not asked at all
    await ask(base, '/admin/couch/_session')
    assert.equal(seen.length, 7)
  })

  it('brings the renewed session, and no other header of CouchDB', async () => {
    answer = (req, res) => res.writeHead(200, {
      'Content-Type': 'text/html', 'Content-Length': 2, ETag: '"e"', 'Cache-Control': 'public', 'Set-Cookie': ['other=1; Path=/', SET], Server: 'CouchDB/3.5.0', Location: 'http://inside:5984/x',
      'Access-Control-Allow-Origin': '*', 'Content-Security-Policy': 'none', 'WWW-Authenticate': 'Basic', 'X-Couch-Request-ID': 'a'
    }).end('ok')
    const { headers } = await get('/db/layer:osm/page')
    assert.deepEqual(headers['set-cookie'], [`control-room-${gate.port}=bmV3; Max-Age=600; Path=/admin; HttpOnly; SameSite=Strict`])
    const { date, connection, 'keep-alive': kept, 'set-cookie': set, ...rest } = headers
    assert.deepEqual(rest, { 'content-type': 'text/html', 'content-length': '2', 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' })
    session = (req, res) => res.writeHead(200, { ...JSON_TYPE, 'Set-Cookie': SET }).end('{"userCtx":{"name":"anna","roles":[]}}')
    assert.deepEqual((await get('/_session')).headers['set-cookie'], set)
    answer = (req, res) => res.writeHead(401, { ...JSON_TYPE, 'Set-Cookie': SET.replace('bmV3', '') }).end('{"error":"unauthorized","reason":"x"}')
    const ended = await get('/db')
    assert.deepEqual([ended.status, ended.headers['set-cookie']], [401, [`control-room-${gate.port}=; Max-Age=0; Path=/admin; HttpOnly; SameSite=Strict`]])
  })

  it('ends with a clear word when CouchDB is away, in trouble, or leads elsewhere', async () => {
    answer = (req, res) => res.writeHead(302, { Location: 'http://inside:5984/' }).end('moved to http://inside:5984/')
    const moved = await get('/db')
    assert.deepEqual([moved.status, moved.json.error, /inside/.test(moved.text)], [404, 'not_found', false])
    answer = (req, res) => res.writeHead(500, JSON_TYPE).end('{"error":"badmatch","reason":"x"}')
    assert.deepEqual([(await get('/db')).status], [500])
    for (const [status, body] of /** @type {[number, string][]} */ ([[500, '{}'], [503, 'no'], [200, 'no json'], [200, '{"userCtx":null}'], [200, '{"userCtx":{"name":1}}'], [404, '{}'], [200, '[]'], [200, `"${'x'.repeat(2e6)}"`]])) {
      session = (req, res) => res.writeHead(status, JSON_TYPE).end(body)
      const { status: given, json } = await get('/db', { cookie: cookie + status + body.length })
      assert.ok([401, 502, 503].includes(given) && json.error && json.reason, `${status} ${body.slice(0, 30)}: ${given}`)
    }
    await store.close()
    for (const found of [await get('/db'), await put('/db/layer:osm', '{}'), await get('/_session')]) {
      assert.deepEqual([found.status, found.json.error, found.headers['retry-after'], found.headers['cache-control']], [503, 'service_unavailable', '2', 'no-store'])
      assert.doesNotMatch(found.text, /127\.0\.0\.1|ECONN|gateway/)
    }
    const signing = await ask(base, '/admin/couch/_session', { method: 'POST', headers: { origin: base, 'content-type': 'application/json' }, body: '{"name":"anna","password":"x"}' })
    assert.deepEqual([signing.status, signing.json.error], [503, 'service_unavailable'])
  })

  it('is never half an answer that looks complete, and no write is sent twice', async () => {
    answer = (req, res) => {
      res.writeHead(200, JSON_TYPE)
      res.write('{"rows":[')
      setImmediate(() => res.destroy())
    }
    assert.equal((await get('/db/_all_docs')).cut, true)
    answer = (req, res) => res.destroy()
    seen = []
    assert.equal((await put('/db/layer:osm', '{}')).status, 503)
    assert.equal(others().length, 1)
    assert.equal((await get('/db/layer:osm')).status, 503)
    assert.equal(others().length, 3, 'a read is tried again')
  })

  it('has limits: requests at once, feeds, and time', async () => {
    await ctx.controlRoom.proxy.close()
    const proxy = new AdminProxy(ctx.couch, { each: 2, feeds: 1, timeout: 300, trustProxy: true })
    ctx.controlRoom = { ...ctx.controlRoom, proxy, visitors: new AdminVisitors(asked => proxy.read(asked)) }
    ctx.options.trustProxy = true
    await get('/db')
    const held = []
    answer = (req, res) => held.push(res)
    const from = { 'x-forwarded-for': '192.0.2.7' }
    const slow = [get('/db/a', from), get('/db/b', from)]
    await until(() => held.length === 2)
    const { status, json, headers } = await get('/db/c', from)
    assert.deepEqual([status, json.error, headers['retry-after']], [429, 'service_unavailable', '2'])
    assert.deepEqual((await Promise.all(slow)).map(found => found.status), [504, 504])
    held.splice(0).forEach(res => res.destroy())
    const feed = get('/db/_changes?feed=longpoll')
    await until(() => held.length === 1)
    assert.equal((await get('/db/_changes?feed=longpoll')).status, 429)
    held[0].writeHead(200, JSON_TYPE).end('{"results":[]}')
    assert.equal((await feed).status, 200)
  })

  it('ends at CouchDB when the page leaves', async () => {
    let closed = false
    answer = (req, res) => { res.once('close', () => { closed = true }) }
    const leaving = new AbortController()
    const asked = ask(base, '/admin/couch/db/_changes?feed=longpoll', { headers: { cookie }, signal: leaving.signal }).catch(() => {})
    await until(() => others().length === 1)
    leaving.abort()
    await asked
    await until(() => closed)
  })

  it('needs the body that was announced, before anything is asked of CouchDB', async () => {
    const { host } = new URL(base)
    const head = `PUT /admin/couch/db/layer:osm HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${base}\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\n`
    await speak(base, `${head}Content-Length: 100\r\n\r\n{"a":`, { timeout: 300 })
    assert.deepEqual(statuses(await speak(base, `${head}Content-Length: 99999999\r\n\r\n`, { timeout: 300 })), [413])
    const chunk = `fffff\r\n${'x'.repeat(0xfffff)}\r\n`
    assert.deepEqual(statuses(await speak(base, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`, { timeout: 300 })), [413])
    assert.equal(others().length, 0)
    const nobody = head.replace(/Cookie.*\r\n/, '')
    assert.deepEqual(statuses(await speak(base, `${nobody}Content-Length: 100\r\n\r\n`, { timeout: 300 })), [401], 'without waiting for it')
  })
})
