// The control room at a gateway, which is public: who comes in, what is passed on, and what is refused.
import assert from 'node:assert/strict'
import { resolveOptions } from '../../server/gateway/config.js'
import { serve } from '../../server/serve.js'
import { mirrorOptions } from '../../server/edge/options.js'
import { ADMIN_CSP } from '../../loader/couchapp/policy.js'
import { cookieIn, onControlRoom, signInAt } from './support/control-room.js'
import { png } from '../support/tiles.js'
import { ask } from './support/wire.js'

/** @param {[string, string]} who */
const basic = (...[name, password]) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

onControlRoom('the control room of a gateway', (own, { name: kind }) => {
  const isCouch = kind !== 'embedded'
  it('is not there unless the operator wants it', async () => {
    const { url, close } = await own.another({ controlRoom: false })
    for (const path of ['/admin', '/admin/', '/admin?x', '/admin.html', '/admin.js', '/admin.css', '/admin/couch', '/admin/couch/_session', '/admin/couch/db/_all_docs', '/admin/x']) {
      for (const method of ['GET', 'HEAD', ...path.includes('/couch') ? ['POST', 'PUT', 'DELETE'] : []]) assert.equal((await ask(url, path, { method })).status, 404, `${method} ${path}`)
    }
    await close()
    assert.equal(resolveOptions({}).controlRoom, false)
  })

  it('shows its page, which no frame shows and which runs its own script alone', async () => {
    for (const path of ['/admin', '/admin?lang=de', '/admin.html', '//admin']) {
      const { status, headers, text } = await own.ask(path)
      assert.deepEqual([status, headers['content-type'], headers['content-security-policy'], headers['x-frame-options'], headers['x-content-type-options']], [200, 'text/html; charset=utf-8', ADMIN_CSP, 'DENY', 'nosniff'], path)
      assert.match(text, /Control room/)
      assert.equal(headers['access-control-allow-origin'], undefined, path)
    }
    assert.match(ADMIN_CSP, /frame-ancestors 'none'/)
    for (const name of ['admin.js', 'admin.css', 'favicon.svg']) assert.equal((await own.ask(`/${name}`)).status, 200, name)
    const slash = await own.ask('/admin/')
    assert.deepEqual([slash.status, slash.headers.location], [308, '../admin'])
    const { url, close } = await own.another({ viewer: false })
    for (const [path, status] of /** @type {const} */ ([['/admin', 200], ['/admin.js', 200], ['/favicon.svg', 200], ['/', 404], ['/viewer.js', 404]])) assert.equal((await ask(url, path)).status, status, path)
    await close()
  })

  it('leaves the tiles of a layer with its name alone', async () => {
    const { status, headers } = await own.ask('/admin/3/1/0.png', { headers: { origin: 'https://elsewhere.example' } })
    assert.deepEqual([status, headers['access-control-allow-origin']], [200, '*'])
  })

  describe('signing in', () => {
    it('gives a cookie that only the control room gets, and no page can read', async () => {
      const { status, headers, json } = await own.signIn(...own.person('boss'))
      assert.deepEqual([status, json], [200, { ok: true, name: own.person('boss')[0] }])
      const [line, ...more] = headers['set-cookie']
      assert.equal(more.length, 0)
      const { port } = new URL(own.gateway.url)
      assert.match(line, new RegExp(`^control-room-${port}=[\\w-]+; Max-Age=600; Path=/admin; HttpOnly; SameSite=Strict$`))
      assert.equal(headers['cache-control'], 'no-store')
      const cookie = line.split(';')[0]
      assert.deepEqual((await own.couch('/_session', { cookie })).json.userCtx.name, own.person('boss')[0])
      assert.equal((await own.couch('/db/_security', { cookie })).status, 200)
    })

    it('is secure behind https, and below the path of the public URL', async () => {
      const { url, close } = await own.another({ publicUrl: 'https://maps.example.org/tiles/' })
      const send = origin => signInAt(url, own.person('boss'), { origin })
      const { headers: { 'set-cookie': [line] } } = await send('https://maps.example.org')
      assert.match(line, /^control-room=[\w-]+; Max-Age=600; Path=\/tiles\/admin; HttpOnly; SameSite=Strict; Secure$/)
      for (const origin of [url, 'http://maps.example.org', 'https://maps.example.org:444', 'https://maps.example.org.evil.example', 'null']) assert.equal((await send(origin)).status, 403, origin)
      await close()
    })

    it('says who has signed in, and nothing to others', async () => {
      const nobody = { ok: true, userCtx: { name: null, roles: [] } }
      assert.deepEqual((await own.couch('/_session')).json, nobody)
      const cookie = await own.cookieOf('writer')
      assert.deepEqual((await own.couch('/_session', { cookie: `a=b; ${cookie}; c=d` })).json, { ok: true, userCtx: { name: own.person('writer')[0], roles: ['tilecouch-writer'] } })
      const [name, value] = cookie.split('=')
      for (const wrong of [`${name}=${value.slice(0, -3)}AAA`, `${name}=x`, `${name}=YWRtaW46NjU2NTY1NjU6MTIzNDU2Nzg5MDEyMzQ1Njc4OTA`, `AuthSession=${value}`, `x${cookie}`, `control-room=${value}`, `${name}=`]) {
        assert.deepEqual((await own.couch('/_session', { cookie: wrong })).json, nobody, wrong)
        assert.equal((await own.couch('/db/_all_docs', { cookie: wrong })).status, 401, wrong)
      }
    })

    it('ends when somebody signs out', async () => {
      const cookie = await own.cookieOf('boss')
      const { status, json, headers } = await own.couch('/_session', { method: 'DELETE', cookie })
      assert.deepEqual([status, json], [200, { ok: true }])
      assert.match(headers['set-cookie'][0], /^control-room-\d+=; Max-Age=0; Path=\/admin; HttpOnly; SameSite=Strict$/)
    })

    it('takes a name and a password as JSON, and nothing else', async () => {
      const [name, password] = own.person('boss')
      for (const [body, status] of /** @type {[any, number][]} */ ([['{', 400], ['[]', 400], [{}, 400], [{ name }, 400], [{ name, password: 1 }, 400], [{ name: [name], password }, 400], [{ name: 'x'.repeat(1001), password }, 400], [{ name: 'x', password: 'x'.repeat(20000) }, 413]])) {
        const answer = await own.couch('/_session', { method: 'POST', body })
        assert.equal(answer.status, status, JSON.stringify(body).slice(0, 80))
        assert.ok(answer.json.error && answer.json.reason)
      }
      for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
        const { status } = await own.couch('/_session', { method: 'POST', body: `name=${name}&password=${password}`, headers: { 'content-type': type } })
        assert.equal(status, 415, type)
      }
    })

    it('is not possible with Basic credentials, nor with headers of a proxy', async () => {
      const boss = own.person('boss')
      assert.deepEqual((await own.couch('/_session', { headers: { authorization: basic(...boss) } })).json.userCtx.name, null)
      assert.equal((await own.couch('/db/_all_docs', { headers: { authorization: basic(...boss) } })).status, 401)
      const reader = await own.cookieOf('reader')
      assert.equal((await own.couch('/_session', { cookie: reader, headers: { authorization: basic(...boss), 'x-auth-couchdb-username': boss[0], 'x-auth-couchdb-roles': '_admin' } })).json.userCtx.name, own.person('reader')[0])
    })
  })

  describe('wrong passwords', () => {
    it('reach CouchDB less often than it takes to lock a name, from all addresses together', async () => {
      const { url, close } = await own.another({})
      const guess = (name, password) => signInAt(url, [name, password])
      const [boss, right] = own.person('boss')
      const name = `nobody_${process.pid}`
      for (let at = 0; at < 3; at++) {
        const { status, json, headers } = await guess(name, `guess ${at}`)
        assert.deepEqual([status, json.error, headers['www-authenticate'], headers['set-cookie']], [401, 'unauthorized', undefined, undefined])
      }
      const { status, headers, json } = await guess(name, 'guess')
      assert.deepEqual([status, json.code], [429, 'TOO_MANY_GUESSES'])
      assert.ok(+headers['retry-after'] > 300)
      assert.equal((await guess(boss, right)).status, 200, 'other names are not locked')
      for (let at = 0; at < 4; at++) await guess(boss, `guess ${at}`)
      assert.equal((await guess(boss, 'guess')).status, 429)
      await close()
    })

    it(isCouch ? 'are all that the name of the gateway has here' : 'are not those of the admin of an embedded store, who often is its only user', async () => {
      const { username, password } = new URL(own.db)
      const { status, headers } = await own.signIn(decodeURIComponent(username), decodeURIComponent(password))
      assert.deepEqual([status, headers['set-cookie'] === undefined], isCouch ? [401, true] : [200, false])
    })
  })

  describe('somebody', () => {
    it('without a session gets nothing, though everybody may read the store', async () => {
      for (const path of ['/db', '/db/_all_docs', '/db/_security', '/db/layer:osm', '/db/_changes', '/_active_tasks', '/_users/_all_docs']) {
        const { status, json, headers } = await own.couch(path)
        assert.deepEqual([status, json.error, headers['www-authenticate'], headers['cache-control']], [401, 'unauthorized', undefined, 'no-store'], path)
      }
    })

    it('who may only read gets nothing', async () => {
      const cookie = await own.cookieOf('reader')
      for (const path of ['/db', '/db/_all_docs', '/db/_security', '/db/layer:osm', '/_active_tasks']) {
        const { status, json } = await own.couch(path, { cookie })
        assert.deepEqual([status, json.error], [403, 'forbidden'], path)
      }
      const { _rev: rev } = await own.layer()
      assert.equal((await own.couch('/db/layer:osm', { method: 'PUT', cookie, body: { _rev: rev } })).status, 403)
    })

    it('who may write does what CouchDB lets a writer do', async () => {
      const cookie = await own.cookieOf('writer')
      const doc = await own.layer()
      const put = await own.couch('/db/layer%3Aosm', { method: 'PUT', cookie, body: { ...doc, name: 'By a writer' } })
      assert.equal(put.status, 201, put.text)
      assert.equal((await own.layer()).name, 'By a writer')
      const clash = await own.couch('/db/layer%3Aosm', { method: 'PUT', cookie, body: doc })
      assert.deepEqual([clash.status, clash.json.error], [409, 'conflict'])
      const bad = await own.couch('/db/layer%3Aosm', { method: 'PUT', cookie, body: { _rev: put.json.rev, type: 'layer', layer: 'osm', minzoom: -1 } })
      assert.equal(bad.status, 403)
      assert.match(bad.json.reason, /zoom/, 'the words of the validation function')
      for (const [path, body] of /** @type {[string, any][]} */ ([['/db/_security', {}], ['/db/_compact', {}]])) {
        const { status } = await own.couch(path, { method: path.endsWith('_security') ? 'PUT' : 'POST', cookie, body })
        assert.ok([401, 403, 500].includes(status), `${path}: ${status}`) // CouchDB says 500 where it lets nobody set rights
      }
      assert.deepEqual((await own.store.security()).admins.names, [own.person('boss')[0]])
    })

    it('who is an admin of the store does what such an admin does', async () => {
      const cookie = await own.cookieOf('boss')
      const requests = /** @type {[string, string, any?][]} */ ([
        ['GET', '/'], ['GET', '/db'], ['HEAD', '/db'], ['GET', '/db/_security'], ['GET', '/db/layer:osm?conflicts=true'], ['GET', '/db/_all_docs?limit=2'], ['POST', '/db/_all_docs', { keys: ['layer:osm'] }],
        ['POST', '/db/_all_docs/queries', { queries: [{ limit: 1 }] }], ['GET', '/db/_changes?limit=1'], ['GET', '/db/_local_docs?limit=1'], ['POST', '/db/_changes?filter=_selector', { selector: { _id: 'layer:osm' } }],
        ['GET', '/db/_design/versions/_view/by_zoom?group_level=1'], ['POST', '/db/_design/versions/_view/by_zoom?group=true', { keys: [] }], ['GET', '/db/_design/versions/_info'], ['GET', '/db/_design/versions'],
        ['GET', '/db/admin:3:1:0/tile'], ['POST', '/db/_compact', {}], ['POST', '/db/_view_cleanup', {}]
      ])
      for (const [method, path, body] of requests) {
        const { status, text, headers } = await own.couch(path, { method, body, cookie })
        assert.ok(status === 200 || status === 202, `${method} ${path}: ${status} ${text}`)
        assert.deepEqual([headers['cache-control'], headers['x-content-type-options'], headers['content-security-policy'], headers['access-control-allow-origin'], headers.server, headers.etag], ['no-store', 'nosniff', 'sandbox', undefined, undefined, undefined], path)
      }
      const security = (await own.couch('/db/_security', { cookie })).json
      assert.deepEqual((await own.couch('/db/_security', { method: 'PUT', cookie, body: { ...security, note: 1 } })).json, { ok: true })
      assert.equal((await own.store.security()).note, 1)
      const doc = { _id: 'layer:gone', type: 'layer', layer: 'gone', name: 'Gone' }
      const { json: { rev } } = await own.couch('/db/layer:gone', { method: 'PUT', cookie, body: doc })
      assert.equal((await own.couch(`/db/layer:gone?rev=${rev}`, { method: 'DELETE', cookie })).status, 200)
      const bulk = await own.couch('/db/_bulk_docs', { method: 'POST', cookie, body: { docs: [{ ...doc, _id: 'layer:gone2', layer: 'gone2' }] } })
      assert.equal(bulk.json[0].ok, true, bulk.text)
      assert.deepEqual((await own.couch('/db/admin:3:1:0/tile', { cookie })).body, png(7))
      const closed = await own.couch('/_active_tasks', { cookie })
      assert.equal(closed.status, 401, 'of server admins')
    })

    it('whose rights end is out at once or a moment later', async () => {
      const security = await own.store.security()
      const cookie = await own.cookieOf('boss')
      assert.equal((await own.couch('/db', { cookie })).status, 200)
      const { status } = await own.couch('/db/_security', { method: 'PUT', cookie, body: { ...security, admins: { names: [], roles: ['_admin'] } } })
      assert.equal(status, 200)
      assert.equal((await own.couch('/db', { cookie })).status, 403)
      await own.store.secure(security)
    })
  })

  it('follows changes, for as long as the page waits', async () => {
    const cookie = await own.cookieOf('boss')
    const { json: { update_seq: since } } = await own.couch('/db', { cookie })
    const waiting = own.couch(`/db/_changes?feed=longpoll&filter=_selector&include_docs=true&since=${encodeURIComponent(since)}&timeout=20000`, { method: 'POST', cookie, body: { selector: { $or: [{ _id: { $gte: 'layer:', $lt: 'layer;' } }] } } })
    await own.store.defineLayer('osm', { name: 'Changed' })
    const { status, json } = await waiting
    assert.deepEqual([status, json.results.at(-1).doc.name], [200, 'Changed'])
  })

  it('is at no edge, whose changes would not reach the origin', async () => {
    await assert.rejects(serve(resolveOptions({ flags: { from: own.db, controlRoom: true }, table: mirrorOptions })), { code: 'BAD_OPTION' })
  })

  it('counts wrong passwords once for all workers', async () => {
    const serving = await serve(resolveOptions({ flags: { db: own.db, port: 0, workers: 2, controlRoom: true, logLevel: 'silent' } }))
    try {
      const { origin } = new URL(serving.url)
      const statuses = []
      for (let at = 0; at < 6; at++) statuses.push((await signInAt(origin, [`other_${process.pid}`, `guess ${at}`])).status)
      assert.deepEqual(statuses, [401, 401, 401, 429, 429, 429])
      const cookie = cookieIn(await signInAt(origin, own.person('boss')))
      for (let at = 0; at < 4; at++) assert.equal((await ask(origin, '/admin/couch/db', { agent: false, headers: { cookie } })).status, 200)
    } finally {
      await serving.close()
    }
  })
})
