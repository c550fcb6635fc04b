// Sessions, and requests of pages of other origins. Browsers send a preflight unless a request is simple.
import assert from 'node:assert/strict'
import { createAccounts } from '../../server/embedded/access.js'
import { Sessions } from '../../server/embedded/sessions.js'
import { useEmbedded } from './harness.js'

describe('the embedded server and pages of other origins', () => {
  const Origin = 'https://maps.example.org'
  const { client } = useEmbedded({ async fill (ask) {
    await ask('PUT', '/tiles')
    await ask('PUT', '/tiles/doc', { a: 1 })
    await ask('PUT', '/tiles/_design/tiles', {
      rewrites: '(function (req) { return { path: "../../" + req.path.slice(5).join("/") } })',
      views: { v: { map: '(function (doc) { emit(doc.a) })' } }
    })
  } })

  const preflight = (method, path) => client('OPTIONS', path, undefined,
    { Origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': 'content-type' })

  it('lets pages read documents, lists, views, rewrites and errors, and send queries after a preflight', async () => {
    for (const path of ['doc', '_all_docs', '_design/tiles/_view/v', '_design/tiles/_rewrite/db/doc', 'none']) {
      const { status, headers } = await client('GET', `/tiles/${path}`, undefined, { Origin })
      assert.deepEqual([status, headers['access-control-allow-origin']], [path === 'none' ? 404 : 200, '*'], path)
    }
    assert.equal((await client('GET', '/tiles/doc')).headers['access-control-allow-origin'], undefined)
    for (const path of ['_all_docs', '_bulk_get', '_changes?filter=_selector',
      '_design/tiles/_view/v/queries', '_design/tiles/_rewrite/db/_all_docs']) {
      const { status, headers } = await preflight('POST', `/tiles/${path}`)
      assert.equal(status, 204, path)
      assert.match(String(headers['access-control-allow-methods']), /POST/)
      assert.match(String(headers['access-control-allow-headers']), /Content-Type/)
    }
    assert.equal((await client('POST', '/tiles/_design/tiles/_view/v/queries', { queries: [{}] }, { Origin }))
      .headers['access-control-allow-origin'], '*')
  })

  it('refuses the preflight of every write, and writes in plain text, which are sent without one', async () => {
    for (const [method, path] of [['PUT', '/tiles/doc'], ['DELETE', '/tiles'], ['PUT', '/other'], ['POST', '/tiles'],
      ['POST', '/tiles/_bulk_docs'], ['POST', '/tiles/_find'],
      ['POST', '/tiles/_design/tiles/_rewrite/db/_bulk_docs']]) {
      const { status, headers } = await preflight(method, path)
      assert.deepEqual([status, headers['access-control-allow-methods'], headers['access-control-allow-headers']],
        [405, undefined, undefined], `${method} ${path}`)
    }
    const plain = { Origin, 'Content-Type': 'text/plain' }
    for (const path of ['/tiles', '/tiles/_bulk_docs', '/tiles/_compact',
      '/tiles/_design/tiles/_rewrite/db/_bulk_docs']) {
      const { status } =
        await client('POST', path, { _id: 'hurt', docs: [{ _id: 'hurt' }], index: { fields: ['a'] } }, plain)
      assert.ok(status >= 400, `${path}: ${status}`)
    }
    assert.equal((await client('GET', '/tiles/hurt')).status, 404)
  })
})

describe('a session of the embedded server', () => {
  const { client, server } = useEmbedded({ options: { admins: { admin: 'secret' } } })
  const ownUrl = () => server().url
  const otherOrigin = () => `http://127.0.0.1:${server().port === 3000 ? 3001 : 3000}`
  const fetchSite = site => ({ 'Sec-Fetch-Site': site })
  let Cookie = ''
  before(async () => {
    const { headers } = await client('POST', '/_session', { name: 'admin', password: 'secret' }, { Origin: ownUrl() })
    const [cookie] = headers['set-cookie'] ?? []
    assert.match(cookie, /; SameSite=Strict$/)
    Cookie = cookie.split(';')[0]
  })
  const nameOf = async headers => (await client('GET', '/_session', undefined, { Cookie, ...headers }))
    .json.userCtx.name

  it('is accepted in requests of its own pages and of programs, and ignored in those of other origins', async () => {
    for (const headers of [{}, { Origin: ownUrl() }, fetchSite('same-origin'), fetchSite('none'),
      { Origin: ownUrl(), ...fetchSite('same-origin') }]) {
      assert.equal(await nameOf(headers), 'admin', JSON.stringify(headers))
    }
    const foreignHeaders = [{ Origin: otherOrigin() }, { Origin: otherOrigin(), ...fetchSite('same-site') },
      fetchSite('same-site'), fetchSite('cross-site'), { Origin: ownUrl(), ...fetchSite('cross-site') },
      { Origin: 'null' }, { Origin: 'https://maps.example.org' },
      { Origin: ownUrl().replace('127.0.0.1', 'localhost') },
      { Origin: ownUrl().replace('http', 'https').replace(/:\d+$/, '') }]
    for (const headers of foreignHeaders) {
      assert.equal(await nameOf(headers), null, JSON.stringify(headers))
      assert.equal((await client('PUT', '/stolen', undefined, { Cookie, ...headers })).status, 401)
    }
  })

  it('is neither opened nor ended by pages of other origins, whose wrong passwords are not counted', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    for (const headers of [{ Origin: otherOrigin() }, fetchSite('same-site'), fetchSite('cross-site'),
      { Origin: 'null' }]) {
      const answers = [await client('POST', '/_session', 'name=admin&password=secret', { ...form, ...headers }),
        await client('DELETE', '/_session', undefined, { Cookie, ...headers })]
      for (const { status, headers: { 'set-cookie': cookie } } of answers) {
        assert.deepEqual([status, cookie], [403, undefined])
      }
    }
    for (const method of ['POST', 'DELETE']) {
      const { status } = await client('OPTIONS', '/_session', undefined,
        { Origin: otherOrigin(), 'Access-Control-Request-Method': method })
      assert.equal(status, 405)
    }
    const signIn = (password, headers) => client('POST', '/_session', { name: 'admin', password }, headers)
    for (let i = 0; i < 8; i++) assert.equal((await signIn(`${i}`, { Origin: otherOrigin() })).status, 403)
    assert.equal((await signIn('secret')).status, 200)
  })

  it('gets 404 for the databases and settings that only CouchDB has', async () => {
    for (const path of ['/_users', '/_users/_all_docs', '/_users/org.couchdb.user:a', '/_replicator',
      '/_replicator/_all_docs', '/_scheduler/jobs', '/_scheduler/docs', '/_node/_local/_config',
      '/_node/_local/_config/chttpd', '/_node/_local/_system', '/_node/_local/_stats']) {
      const { status, json } = await client('GET', path, undefined, { Cookie })
      assert.deepEqual([status, json.error], [404, 'not_found'], path)
    }
    assert.equal((await client('PUT', '/_users/org.couchdb.user:a', {}, { Cookie })).status, 404)
  })
})

describe('sessions of the embedded store', () => {
  let time, sessions
  beforeEach(() => {
    time = 1.7e12
    sessions = new Sessions(createAccounts({ admin: 'secret' }, { writer: { password: 'w', roles: ['r'] } }),
      { now: () => time, counted: 2 })
  })
  const find = cookie => sessions.find({ cookie: cookie.split(';')[0] })

  it('last ten minutes, and are renewed by a request after a minute', () => {
    const first = sessions.cookieOf('writer')
    assert.deepEqual(find(first), { user: { name: 'writer', roles: ['r'] } })
    time += 61_000
    const { cookie } = find(first)
    assert.match(cookie, /^AuthSession=[\w-]+; .*Max-Age=600/)
    time += 539_000
    assert.equal(find(first), undefined)
    assert.equal(find(cookie)?.user.name, 'writer')
    time += 61_000
    assert.equal(find(cookie), undefined)
    const otherSessions = new Sessions(createAccounts({ admin: 'secret' }), { now: () => time })
    assert.equal(find(otherSessions.cookieOf('admin')), undefined, 'of another process')
  })

  it('lock a name for an address until five minutes after the first of five wrong passwords', () => {
    const signIn = (password, address = 'here') => {
      try {
        return sessions.signIn('admin', password, address).name
      } catch ({ status }) {
        return status
      }
    }
    for (let i = 0; i < 5; i++) assert.equal(signIn('wrong'), 401)
    assert.equal(signIn('secret'), 403)
    assert.equal(signIn('secret', 'elsewhere'), 'admin')
    time += 300_000
    assert.equal(signIn('secret'), 'admin')
    // more wrong names than the sessions count
    for (let i = 0; i < 100; i++) assert.throws(() => sessions.signIn(`name${i}`, 'x', ''), { status: 401 })
  })
})
