// `setup` on a stock CouchDB of the test's own, since it changes what holds for the whole server; and on the embedded store.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { VIEWER_CSP, setup } from '../../loader/setup.js'
import { as, backends, json, request } from '../support/backends.js'
import { skip } from '../support/tools.js'

const states = ({ findings }) => Object.fromEntries(findings.map(({ check, state }) => [check, state]))

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
    for (const check of ['chttpd/enable_cors', 'csp/attachments_header_value', 'database tiles', 'design documents', 'public reading']) assert.equal(found[check], 'missing', check)
    assert.equal((await request(url)).status, 404)
    assert.equal((await request(`${server.url}/_node/_local/_config/csp/attachments_header_value`)).status, 404)
  })

  it('sets it when told to, and finds nothing to do afterwards', async function () {
    this.timeout(60000)
    const fixed = states(await setup(url, { fix: true, cors: 'https://maps.example.org', tiles: 3e6 }))
    assert.ok(Object.values(fixed).every(state => state === 'ok' || state === 'fixed'), JSON.stringify(fixed))
    assert.equal((await json(url)).cluster.q, 4, 'as is advised for so many tiles')
    assert.equal(await json(`${server.url}/_node/_local/_config/cors/origins`), 'https://maps.example.org')
    const viewer = await request(`${as(url)}/_design/tiles/_rewrite/`, { headers: { origin: 'https://maps.example.org' } })
    assert.deepEqual([viewer.status, viewer.headers.get('content-security-policy'), viewer.headers.get('access-control-allow-origin')], [200, VIEWER_CSP, 'https://maps.example.org'])
    assert.ok(Object.values(states(await setup(url, { cors: 'https://maps.example.org' }))).every(state => state === 'ok'))
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
