// `setup` on a stock CouchDB of the test's own, since it changes what holds for the whole server; and on the embedded store.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { couchPolicy } from '../../loader/couchapp/policy.js'
import { setup } from '../../loader/setup.js'
import { as, backends, json, request } from '../support/backends.js'
import { skip } from '../support/tools.js'

const states = ({ findings }) => Object.fromEntries(findings.map(({ check, state }) => [check, state]))

const SERVER = ['chttpd/enable_cors', 'cors/origins', 'csp/attachments_header_value']

describe('setup on a stock CouchDB', () => {
  let server, url
  before(async function () {
    this.timeout(60000)
    if (!findCouchDb()) return skip(this, 'no couchdb executable: set COUCHDB_BIN')
    server = await startCouchDb()
    url = `${server.url}/tiles`
  })
  after(() => server?.close())

  it('says what is missing, and changes nothing', async () => {
    const result = await setup(url)
    assert.match(result.server, /^CouchDB 3\./)
    assert.doesNotMatch(JSON.stringify(result), /admin:test/)
    const found = states(result)
    assert.equal(found.version, 'ok')
    assert.equal(found['database _users'], 'ok')
    for (const check of ['database tiles', 'design documents', 'public reading']) assert.equal(found[check], 'missing', check)
    for (const check of SERVER) assert.equal(found[check], 'skipped', check)
    assert.equal((await request(url)).status, 404)
    assert.equal((await request(`${server.url}/_node/_local/_config/csp/attachments_header_value`)).status, 404)
  })

  it('sets what concerns this database, and nothing that holds for others', async function () {
    this.timeout(60000)
    const before = await json(`${server.url}/_node/_local/_config`)
    const fixed = states(await setup(url, { fix: true, tiles: 3e6 }))
    for (const check of SERVER) assert.equal(fixed[check], 'skipped', check)
    assert.equal(fixed['design documents'], 'fixed')
    const { cors, csp, chttpd } = await json(`${server.url}/_node/_local/_config`)
    assert.deepEqual({ cors, csp, chttpd }, { cors: before.cors, csp: before.csp, chttpd: before.chttpd })
    const viewer = await request(`${as(url)}/_design/tiles/_rewrite/`, { headers: { origin: 'https://maps.example.org' } })
    assert.deepEqual([viewer.status, viewer.headers.get('content-security-policy'), viewer.headers.get('access-control-allow-origin')], [200, 'sandbox', null])
  })

  it('sets what holds for others when that is said, and finds nothing to do afterwards', async function () {
    this.timeout(60000)
    const fixed = states(await setup(url, { fix: true, cors: 'https://maps.example.org', allowViewer: true, tiles: 3e6 }))
    for (const check of SERVER) assert.equal(fixed[check], 'fixed', check)
    assert.ok(Object.values(fixed).every(state => state === 'ok' || state === 'fixed'), JSON.stringify(fixed))
    assert.equal((await json(url)).cluster.q, 4, 'as is advised for so many tiles')
    assert.equal(await json(`${server.url}/_node/_local/_config/cors/origins`), 'https://maps.example.org')
    const viewer = await request(`${as(url)}/_design/tiles/_rewrite/`, { headers: { origin: 'https://maps.example.org' } })
    assert.deepEqual([viewer.status, viewer.headers.get('content-security-policy'), viewer.headers.get('access-control-allow-origin')], [200, await couchPolicy(), 'https://maps.example.org'])
    assert.ok(Object.values(states(await setup(url, { cors: 'https://maps.example.org' }))).every(state => state === 'ok'))
  })

  it('takes origins as browsers say them, and lets nobody read as his visitor from everywhere', async () => {
    for (const cors of ['maps.example.org', 'https://maps.example.org/', '*, https://maps.example.org', 'https://*.example.org', '', 'null']) await assert.rejects(setup(url, { cors }), { code: 'BAD_OPTION' }, cors)
    const credentials = `${server.url}/_node/_local/_config/cors/credentials`
    await request(credentials, { method: 'PUT', body: '"true"' })
    assert.equal(states(await setup(url, { cors: 'https://maps.example.org,http://localhost:8080' }))['cors/credentials'], 'ok')
    assert.equal(states(await setup(url, { cors: '*' }))['cors/credentials'], 'missing')
    assert.equal(states(await setup(url, { cors: '*', fix: true }))['cors/credentials'], 'fixed')
    assert.equal(await json(credentials), 'false')
  })

  it('leaves a store that was closed on purpose closed', async () => {
    await request(`${url}/_security`, { method: 'PUT', body: JSON.stringify({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['family'] } }) })
    assert.equal(states(await setup(url, { fix: true, cors: 'https://maps.example.org' }))['public reading'], 'skipped')
    assert.equal((await request(as(url))).status, 401)
  })

  it('names a wrong password', async () => {
    await assert.rejects(setup(as(url, 'admin', 'wrong')), { code: 'UNAUTHORIZED' })
  })
})

describe('setup on the embedded store', () => {
  it('makes a published store of a database that is not there', async function () {
    this.timeout(60000)
    const url = await backends[0].database()
    const found = states(await setup(url, { fix: true }))
    assert.deepEqual([found['database _users'], found['chttpd/enable_cors'], found['design documents'], found['public reading']], ['skipped', 'skipped', 'fixed', 'ok'])
  })
})
