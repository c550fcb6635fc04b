// `doctor --fix` at a stock CouchDB of the test's own, since it changes settings of the whole server; and at the
// embedded store.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { couchPolicy } from '../../loader/couchapp/policy.js'
import { doctor } from '../../loader/check/doctor/index.js'
import { Store } from '../../loader/store/index.js'
import { as, backends, json, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { skip } from '../support/tools.js'
import { finding } from '../support/doctor.js'

const SETTINGS = ['chttpd/enable_cors', 'cors/origins', 'csp/attachments_header_value']
const ORIGIN = 'https://maps.example.org'

const fixable = ({ findings }) => findings.filter(one => one.fixable).map(({ check }) => check).sort()
const fixed = ({ findings }) => findings.filter(one => one.fixed !== undefined).map(({ check }) => check).sort()

const stores = ['/tiles'] // whose viewer CouchDB may serve

describe('the doctor at a stock CouchDB', () => {
  let server, url
  before(async function () {
    this.timeout(60000)
    if (!findCouchDb()) return skip(this, 'no couchdb executable: set COUCHDB_BIN')
    server = await startCouchDb()
    url = `${server.url}/tiles`
  })
  after(() => server?.close())

  const viewer = () => request(`${as(url)}/_design/tiles/_rewrite/`, { headers: { origin: ORIGIN } })
  const headersOf = ({ status, headers }) => [
    status, headers.get('content-security-policy'), headers.get('access-control-allow-origin')
  ]

  it('reports a missing database, and changes nothing', async () => {
    const report = await doctor(url)
    assert.match(report.server, /^CouchDB 3\./)
    assert.doesNotMatch(JSON.stringify(report), /admin:test/)
    assert.deepEqual([report.state, fixable(report)], ['bad', ['database']])
    assert.equal(finding(report, 'settings', 'browsers').state, 'ok', 'the server is looked at all the same')
    assert.equal((await request(url)).status, 404)
    assert.equal((await request(`${server.url}/_node/_local/_config/csp/attachments_header_value`)).status, 404)
  })

  it('fixes findings of its own database, but no settings that other databases share', async function () {
    this.timeout(60000)
    const before = await json(`${server.url}/_node/_local/_config`)
    const report = await doctor(url, { fix: true, q: 4 })
    assert.deepEqual([fixed(report), fixable(report)], [['database'], []])
    assert.equal(finding(report, 'indexes', 'deployed').found, 'not yet: the first load deploys them')
    assert.equal((await json(url)).cluster.q, 4)
    await (await Store.open(url))
      .write([{ layer: 'osm', z: 0, x: 0, y: 0, time: '2024-01-01T00:00:00Z', bytes: png(1) }])
    assert.deepEqual(fixable(await doctor(url)), ['deployed', 'published'])
    assert.deepEqual(fixed(await doctor(url, { fix: true })), ['deployed'])
    const { cors, csp, chttpd } = await json(`${server.url}/_node/_local/_config`)
    assert.deepEqual({ cors, csp, chttpd }, { cors: before.cors, csp: before.csp, chttpd: before.chttpd })
    assert.deepEqual(headersOf(await viewer()), [200, 'sandbox', null])
  })

  it('changes shared settings when options request it, and finds nothing to do afterwards', async function () {
    this.timeout(60000)
    const wanted = { cors: ORIGIN, allowViewer: true }
    assert.deepEqual(fixable(await doctor(url, wanted)), SETTINGS)
    const report = await doctor(url, { ...wanted, fix: true })
    assert.deepEqual([fixed(report), fixable(report)], [SETTINGS, []])
    assert.equal(await json(`${server.url}/_node/_local/_config/cors/origins`), ORIGIN)
    assert.deepEqual(headersOf(await viewer()), [200, await couchPolicy({ stores }), ORIGIN])
    assert.deepEqual(fixed(await doctor(url, { ...wanted, fix: true })), [])
  })

  it('lets pages of --embed origins show the viewer in a frame, in later runs too', async function () {
    this.timeout(60000)
    const page = 'https://www.example.org'
    const policy = () => json(`${server.url}/_node/_local/_config/csp/attachments_header_value`)
    await assert.rejects(doctor(url, { embed: page }), { code: 'BAD_OPTION' }, 'nobody sees a viewer that may not run')
    await assert.rejects(doctor(url, { allowViewer: true, embed: 'www.example.org' }), { code: 'BAD_OPTION' })
    await doctor(url, { fix: true, allowViewer: true, embed: page })
    assert.equal(await policy(), await couchPolicy({ embed: [page], stores }))
    assert.match(await policy(), /; frame-ancestors 'self' https:\/\/www\.example\.org$/)
    assert.deepEqual(fixed(await doctor(url, { fix: true, allowViewer: true })), [])
    const older = (await couchPolicy({ embed: [page], stores }))
      .replace(/sha256-\w/, 'sha256-x').replace(' blob:; manifest-src', '; manifest-src')
    await request(`${server.url}/_node/_local/_config/csp/attachments_header_value`,
      { method: 'PUT', body: JSON.stringify(older) })
    assert.deepEqual(fixed(await doctor(url, { fix: true })), ['csp/attachments_header_value'], 'of another version')
    assert.equal(await policy(), await couchPolicy({ embed: [page], stores }))
    await doctor(url, { fix: true, allowViewer: true, embed: 'none' })
    assert.equal(await policy(), await couchPolicy({ stores }))
  })

  it('lets the viewer read the origins that stores name, and warns of the others', async function () {
    this.timeout(60000)
    const key = 'csp/attachments_header_value'
    const policy = () => json(`${server.url}/_node/_local/_config/${key}`)
    const state = async options => finding(await doctor(url, options), 'settings', key)
    const store = await Store.open(url)
    const settings = fields => store.couch.update('tilecouch', doc => ({ ...doc, ...fields }))
    const base = host => ({ url: `https://${host}/{z}/{x}/{y}.png` })
    await settings({ base: base('tiles.example.org'), gazetteer: 'https://places.example.org/search' })
    const told = await state({})
    assert.deepEqual([told.state, told.fixable], ['warning', undefined])
    assert.match(told.why, /https:\/\/tiles\.example\.org, https:\/\/places\.example\.org/)
    await doctor(url, { fix: true })
    assert.equal(await policy(), await couchPolicy({ stores }), 'nothing is opened without --allow-viewer')
    await doctor(url, { fix: true, allowViewer: true })
    const origins = { images: ['https://tiles.example.org'], requests: ['https://places.example.org'] }
    assert.equal(await policy(), await couchPolicy({ stores, origins }))
    assert.equal(await state({}), undefined)
    await settings({ base: base('other.example.org'), gazetteer: undefined })
    await doctor(url, { fix: true })
    assert.equal(await policy(), await couchPolicy({ stores }), 'what nobody names any more goes')
    assert.equal((await state({})).state, 'warning', 'and the new one is told of')
    await settings({ base: undefined })
    assert.equal(await state({}), undefined)
  })

  it('refuses malformed origins, and turns off CORS credentials for all origins', async () => {
    for (const cors of ['maps.example.org', `${ORIGIN}/`, `*, ${ORIGIN}`, 'https://*.example.org', '', 'null']) {
      await assert.rejects(doctor(url, { cors }), { code: 'BAD_OPTION' }, cors)
    }
    const credentials = `${server.url}/_node/_local/_config/cors/credentials`
    const state = async options => finding(await doctor(url, options), 'settings', 'cors/credentials')?.state
    await request(credentials, { method: 'PUT', body: '"true"' })
    assert.equal(await state({ cors: `${ORIGIN},http://localhost:8080` }), undefined)
    assert.equal(await state({ cors: '*' }), 'warning')
    assert.equal(await state({ cors: '*', fix: true }), 'ok')
    assert.equal(await json(credentials), 'false')
  })

  it('publishes a store that was never published, but leaves a closed store closed', async () => {
    const other = `${server.url}/other`
    await request(other, { method: 'PUT' })
    await request(`${other}/layer:osm`, { method: 'PUT', body: JSON.stringify({ type: 'layer', layer: 'osm' }) })
    await request(`${other}/layer:relief`, { method: 'PUT', body: JSON.stringify({ type: 'layer', layer: 'relief' }) })
    const report = await doctor(other, { fix: true })
    assert.equal(finding(report, 'access', 'published'), undefined)
    assert.equal((await request(as(other))).status, 200)
    const security =
      JSON.stringify({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['family'] } })
    await request(`${url}/_security`, { method: 'PUT', body: security })
    assert.deepEqual(fixed(await doctor(url, { fix: true })), [])
    assert.equal((await request(as(url))).status, 401)
  })

  it('reports a wrong password', async () => {
    const wrong = as(url, 'admin', 'wrong')
    assert.equal((await doctor(wrong)).state, 'bad')
    await assert.rejects(doctor(wrong, { fix: true }), { code: 'UNAUTHORIZED' })
  })
})

describe('the doctor at the embedded store', () => {
  it('creates and publishes a store when the database is missing', async function () {
    this.timeout(60000)
    const url = await backends[0].database()
    const report = await doctor(url, { fix: true })
    assert.deepEqual([fixed(report), report.counts.bad], [['database'], 0])
    await (await Store.open(url))
      .write([{ layer: 'osm', z: 0, x: 0, y: 0, time: '2024-01-01T00:00:00Z', bytes: png(1) }])
    const later = await doctor(url, { fix: true })
    assert.ok(fixed(later).includes('deployed'))
    assert.match(finding(later, 'access').found, /^everybody may read/)
  })
})
