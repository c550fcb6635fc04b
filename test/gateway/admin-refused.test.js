// Requests to the control room of a gateway that its own page does not send.
import assert from 'node:assert/strict'
import { cookieIn, onControlRoom, signInAt } from './support/control-room.js'
import { ask } from './support/wire.js'

onControlRoom('a request that the page of the control room does not send', own => {
  it('is refused: other databases, other addresses, other methods', async () => {
    const cookie = await own.cookieOf('boss')
    const [other] = new URL(own.db).pathname.slice(1).split('/')
    const paths = [
      '', '//', '/_all_dbs', '/_up', '/_utils', '/_node/_local/_config', '/_config', '/_replicate', '/_replicator', '/_replicator/_all_docs', '/_dbs_info', '/_uuids', '/_membership', '/_cluster_setup', '/_scheduler', '/_session/x', '/_sessionx',
      '/_users', '/_users/_changes', '/_users/_security', '/_users/_design/_auth', '/_users/org.couchdb.user:', '/_users/x', '/_users/_find', `/${other}`, `/${other}/_all_docs`, '/DB', '/dbx', '/db%2F_all_docs',
      '/db/', '/db//_all_docs', '/db/..', '/db/../_users/_all_docs', '/db/%2e%2e/_users', '/db/%2E%2E%2F_users', '/db/..%2f_users/_all_docs', '/db/.', '/db/%', '/db/%ff', '/db/a%00b', '/db/a%5cb', '/db/a\\b',
      '/db/_local/x', '/db/_local_docs/x', '/db/_local%2Fx', '/db/_design_docs', '/db/_purge', '/db/_revs_limit', '/db/_purged_infos_limit', '/db/_index', '/db/_explain', '/db/_shards', '/db/_sync_shards', '/db/_ensure_full_commit', '/db/_missing_revs', '/db/_revs_diff', '/db/_find', '/db/_bulk_get',
      '/db/_design', '/db/_design%2Fversions', '/db/_design/tiles/_rewrite', '/db/_design/tiles/_rewrite/admin', '/db/_design/tiles/_show/tilejson/layer:osm', '/db/_design/tiles/_list/at/versions/by_tile', '/db/_design/tiles/_update/x', '/db/_design/tiles/index.html', '/db/_design/versions/_view', '/db/_design/versions/_view/a/b',
      '/db/_partition/x', '/db/_all_docs/x', '/db/_changes/x', '/db/_security/x', '/db/layer:osm/_x', '/db/_compact/a/b', '/db/_x'
    ]
    for (const path of paths) {
      const answer = await own.couch(path, { cookie })
      assert.ok([400, 404, 405].includes(answer.status), `${path}: ${answer.status} ${answer.text}`)
      assert.ok(answer.json.error && answer.json.reason, path)
    }
    const methods = /** @type {[string, string][]} */ ([
      ['PUT', '/db'], ['DELETE', '/db'], ['POST', '/db'], ['PUT', '/db/_design/evil'], ['DELETE', '/db/_design/tiles'], ['PUT', '/db/layer:osm/page.html'], ['DELETE', '/db/layer:osm/page.html'], ['COPY', '/db/layer:osm'], ['POST', '/db/layer:osm'], ['PUT', '/db/_all_docs'],
      ['DELETE', '/db/_security'], ['GET', '/db/_compact'], ['POST', '/_active_tasks'], ['PUT', '/_session'], ['POST', '/_users/_all_docs'], ['POST', '/_scheduler/jobs'], ['TRACE', '/db'], ['PATCH', '/db/layer:osm'], ['MOVE', '/db/layer:osm']
    ])
    for (const [method, path] of methods) {
      const answer = await own.couch(path, { method, cookie, ...(['PUT', 'POST'].includes(method) && { body: {} }) })
      assert.equal(answer.status, 405, `${method} ${path}: ${answer.text}`)
      assert.match(answer.headers.allow, /^[A-Z]+(, [A-Z]+)*$/)
    }
  })

  it('is refused when it writes what single documents may not be', async () => {
    const cookie = await own.cookieOf('boss')
    for (const body of [{ docs: [{ _id: '_design/evil', views: {} }] }, { docs: [{ _id: '_local/x' }] }, { docs: [{ _id: 'layer:osm', _rev: '9-x' }], new_edits: false }, { docs: 1 }, { docs: [1] }, { docs: [{ _id: 1 }] }]) {
      assert.equal((await own.couch('/db/_bulk_docs', { method: 'POST', cookie, body })).status, 403, JSON.stringify(body))
    }
    assert.equal((await own.couch('/db/_changes?feed=continuous', { cookie })).status, 400)
    assert.equal((await own.couch('/db/_changes?feed=normal&feed=eventsource', { cookie })).status, 400)
    assert.equal((await own.couch('/db/layer:osm', { method: 'PUT', cookie, body: '{"a":' })).status, 400)
    assert.equal((await own.couch('/db/layer:osm', { method: 'PUT', cookie, body: 'x', headers: { 'content-type': 'text/plain' } })).status, 415)
    assert.equal((await own.couch('/db/layer:osm', { method: 'PUT', cookie, body: '{}', headers: { 'content-encoding': 'gzip' } })).status, 415)
    const large = await own.couch('/db/layer:osm', { method: 'PUT', cookie, body: { text: 'x'.repeat(1024 * 1024) } })
    assert.deepEqual([large.status, large.json.error], [413, 'too_large'])
  })

  it('is refused when a page of another origin has caused it', async () => {
    const cookie = await own.cookieOf('boss')
    const { host } = new URL(own.gateway.url)
    const [name, password] = own.person('boss')
    const doc = await own.layer()
    const foreign = /** @type {Record<string, any>[]} */ ([
      { origin: 'https://evil.example' }, { origin: 'null' }, { origin: `https://${host}` }, { origin: `http://${host}.evil.example` }, { origin: '' }, { origin: undefined },
      { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'x' }
    ])
    for (const headers of foreign) {
      const all = { origin: own.gateway.url, ...headers, cookie, 'content-type': 'application/json' }
      if (headers.origin === undefined && 'origin' in headers) delete all.origin
      const send = (path, method, body) => ask(own.gateway.url, `/admin/couch${path}`, { method, headers: all, body: JSON.stringify(body) })
      for (const [path, method, body] of /** @type {[string, string, any][]} */ ([['/_session', 'POST', { name, password }], ['/_session', 'DELETE', {}], ['/db/layer:osm', 'PUT', { ...doc, name: 'evil' }], ['/db/_security', 'PUT', {}]])) {
        const { status, json, headers: given } = await send(path, method, body)
        assert.deepEqual([status, json.error, given['set-cookie'], given['access-control-allow-origin']], [403, 'forbidden', undefined, undefined], `${method} ${path} ${JSON.stringify(headers)}`)
      }
    }
    for (const headers of foreign.slice(6, 8)) assert.equal((await own.couch('/db', { cookie, headers })).status, 403)
    assert.equal((await own.couch('/db', { cookie, headers: { 'sec-fetch-site': 'none' } })).status, 200, 'an address that somebody typed')
    assert.equal((await own.couch('/db', { cookie, headers: { 'sec-fetch-site': 'same-origin' } })).status, 200)
    assert.equal((await own.layer()).name, doc.name)
  })

  it('is none that pages of other origins may ask about, whatever cors says', async () => {
    for (const cors of ['*', 'https://friend.example']) {
      const { url, close } = await own.another({ cors })
      for (const path of ['/admin', '/admin.html', '/admin/', '/admin/couch/_session', '//admin/couch/_session', '/admin/couch/db/_all_docs', '/admin/couch/nothing', 'http://x/admin/couch/_session']) {
        const got = await ask(url, path, { headers: { origin: 'https://friend.example' } })
        assert.equal(got.headers['access-control-allow-origin'], undefined, `${cors} ${path}`)
        const asked = await ask(url, path, { method: 'OPTIONS', headers: { origin: 'https://friend.example', 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type' } })
        assert.deepEqual([asked.headers['access-control-allow-origin'], asked.headers['access-control-allow-methods']], [undefined, undefined], `${cors} ${path}`)
      }
      await close()
    }
  })

  it('has no session elsewhere', async () => {
    const { url, close } = await own.another({ privateLayers: ['osm'], accessUsers: true, accessKeys: { k: 'k'.repeat(40) } })
    const cookie = cookieIn(await signInAt(url, own.person('boss')))
    assert.equal((await ask(url, '/db/layer:osm', { headers: { cookie } })).status, 401)
    assert.equal((await ask(url, '/osm.json', { headers: { cookie } })).status, 401)
    assert.equal((await ask(url, '/admin/couch/db/layer:osm', { headers: { cookie } })).status, 200)
    assert.equal((await ask(url, '/admin/couch/db/layer:osm', { headers: { cookie: cookie.replace(/^[^=]+/, 'AuthSession') } })).status, 401)
    await close()
  })
})
