// A CouchDB with every harmful setting in its ini file; the known faults of CouchDB versions; and advice on settings.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { VIEWER_CSP, couchPolicy } from '../../loader/couchapp/policy.js'
import { Store, doctor } from '../../loader/index.js'
import { faults, faultsOf, isBefore } from '../../loader/check/doctor/server.js'
import { settings } from '../../loader/check/doctor/settings.js'
import { tunerDefaults } from '../../loader/store/tuner.js'
import { as, json, request, backends } from '../support/backends.js'
import { skip } from '../support/tools.js'
import { finding, look, startProxy, useFilled } from '../support/doctor.js'
import { png } from '../support/tiles.js'

/** Section/name of a harmful setting -> its value, and the state of the finding. */
const HARMFUL = {
  'chttpd/max_http_request_size': ['8000000', 'bad'], // large enough to push the viewer
  'couchdb/max_document_size': ['500000', 'warning'],
  'couchdb/max_attachment_size': ['5000000', 'bad'],
  'couchdb/os_process_timeout': ['2000', 'warning'],
  'couchdb/default_security': ['everyone', 'warning'],
  'couchdb/delayed_commits': ['true', 'warning'],
  'couch_httpd_auth/require_valid_user': ['true', 'warning'],
  'chttpd/bulk_get_use_batches': ['false', 'warning'],
  'query_server_config/os_process_limit': ['5', 'warning'],
  'query_server_config/query_limit': ['5000', 'bad'],
  'smoosh/db_channels': ['upgrade_dbs', 'warning'],
  'smoosh/view_channels': ['upgrade_views,ratio_views', 'warning']
}

/** Harmful settings that would lock out the tests. A proxy sets them. */
const PROXIED = {
  'attachments/compressible_types': ['text/*, image/png', 'bad'],
  'couchdb/maintenance_mode': ['true', 'bad'],
  'chttpd/require_valid_user': ['true', 'warning'],
  'replicator/max_jobs': ['0', 'bad']
}

const ini = Object.entries(HARMFUL).map(([key, [value]]) => key.replace(/(.*)\/(.*)/, `[$1]\n$2 = ${value}`)).join('\n')

describe('the doctor at a CouchDB of its own', () => {
  const filled = useFilled(async function () {
    if (!findCouchDb()) skip(this, 'no couchdb')
    const server = await startCouchDb(undefined, { settings: ini })
    const address = `${server.url}/tiles`
    await request(`${address}?q=1`, { method: 'PUT' })
    return { couch: server, url: address, close: () => server.close() }
  })
  let couch, url, proxy
  beforeEach(() => { ({ couch, url, proxy } = filled) })

  it('finds each harmful setting, and gives a reason and advice', async () => {
    const report = await look(url)
    for (const [key, [value, state]] of Object.entries(HARMFUL)) {
      const result = finding(report, 'settings', key)
      assert.deepEqual([result?.state, result?.found], [state, value], key)
      assert.ok(result.why && result.advice.includes(key), key)
    }
    const harmfulKeys = report.findings.filter(({ area, state }) => area === 'settings' && state !== 'ok')
      .map(({ check }) => check)
    assert.deepEqual(harmfulKeys.filter(key => !HARMFUL[key]), [])
    assert.equal(report.state, 'bad')
    assert.ok(!JSON.stringify(report).includes('pbkdf2') && !JSON.stringify(report).includes('admin:test'),
      'no secret of the configuration')
  })

  it('finds harmful settings in an answer of a proxy, and a node that it cannot reach', async () => {
    const name = 'other@127.0.0.1'
    const change = (address, body) => {
      if (!/\/_config$/.test(address)) return undefined
      for (const [key, [value]] of Object.entries(PROXIED)) (body[key.split('/')[0]] ??= {})[key.split('/')[1]] = value
      return body
    }
    proxy.change = change
    const report = await look(proxy.url)
    for (const [key, [value, state]] of Object.entries(PROXIED)) {
      const found = finding(report, 'settings', key)
      assert.deepEqual([found?.state, found?.found], [state, value], key)
    }
    proxy.change = (address, body) => address === '/_membership'
      ? { all_nodes: [...body.all_nodes, name], cluster_nodes: [...body.cluster_nodes, name] }
      : change(address, body)
    const { url: front, close } = await startProxy(proxy.url)
    try {
      assert.equal(finding(await look(front), 'settings', 'settings').state, 'unknown', 'a node that cannot be asked')
    } finally {
      await close()
    }
  })

  it('reports what pages in browsers may do, and fixes what they should not do', async () => {
    const setConfig =
      (key, value) => json(`${couch.url}/_node/_local/_config/${key}`, { method: 'PUT', body: JSON.stringify(value) })
    const browsers = async () => finding(await look(url), 'settings', 'browsers').found
    assert.equal(await browsers(),
      'CouchDB does not serve the viewer, a gateway does (--fix --allow-viewer allows it here too); pages of no ' +
        'other origin read')
    await doctor(url, { fix: true, cors: '*', allowViewer: true })
    assert.equal(await browsers(), 'the viewer runs; pages of every origin read')
    await setConfig('cors/credentials', 'true')
    await setConfig('csp/attachments_header_value', VIEWER_CSP)
    const report = await look(url)
    const stateOf = (of, key) => finding(of, 'settings', key)?.state
    const keys = ['cors/credentials', 'csp/attachments_header_value']
    assert.deepEqual(keys.map(key => stateOf(report, key)), ['warning', 'bad'])
    await doctor(url, { fix: true, cors: '*' })
    const fixedReport = await look(url)
    assert.deepEqual(keys.map(key => stateOf(fixedReport, key)), [undefined, undefined])
  })

  it('reports as unknown to readers and anonymous users only what needs an admin', async () => {
    const anna = { _id: 'org.couchdb.user:anna', name: 'anna', password: 'a', roles: [], type: 'user' }
    await json(`${couch.url}/_users/${anna._id}`, { method: 'PUT', body: JSON.stringify(anna) })
    for (const address of [as(url, 'anna', 'a'), as(url)]) {
      const report = await look(address)
      const unknown = report.findings.filter(({ state }) => state === 'unknown')
      const names = unknown.map(({ area, check }) => area === check ? area : `${area} ${check}`).sort()
      assert.deepEqual(names, ['disk room', 'server nodes', 'settings'])
      for (const { found } of unknown) assert.match(found, /admin/)
      assert.equal(finding(report, 'access').state, 'ok')
      assert.equal(report.counts.bad, 0)
    }
    const security = await json(`${url}/_security`)
    await request(`${url}/_security`,
      { method: 'PUT', body: JSON.stringify({ ...security, members: { names: [], roles: ['staff'] } }) })
    const closedReport = await look(as(url))
    await request(`${url}/_security`, { method: 'PUT', body: JSON.stringify(security) })
    assert.equal(closedReport.state, 'bad')
    assert.match(closedReport.findings[0].found, /refused|not allowed/)
  })

  it('reports the free space of the disk, but none for a CouchDB in a container', async () => {
    const { state, found, figures } = finding(await look(url), 'disk', 'room')
    assert.notEqual(state, 'unknown')
    assert.ok(found.includes(`${couch.dir}/data`) && figures.free > 0)
    assert.equal(finding(await look(url, { limits: { fullDisk: 1 } }), 'disk', 'room').state, 'bad')
    assert.equal(finding(await look(url, { limits: { free: 1 } }), 'disk', 'room').state, 'warning')
    proxy.change = (address, body) => /_config\/couchdb$/.test(address)
      ? { ...body, database_dir: '/opt/couchdb/data' } : undefined
    const container = finding(await look(proxy.url), 'disk', 'room')
    assert.equal(container.state, 'unknown')
    assert.match(container.found, /container/)
  })
})

describe('the known faults of CouchDB', () => {
  it('are those of a version by its numbers, and faults of purges only in a store with purges', () => {
    const issues = (version, about = {}) => faultsOf(version, about).map(({ issue }) => issue)
    assert.ok(issues('3.4.2').includes('#5437') && issues('3.4.2').includes('#5347'))
    assert.deepEqual(issues('3.4.3'), [])
    assert.deepEqual(issues('3.5.0'), [])
    assert.deepEqual(issues('3.5.0', { purged: true }), ['#5827, #5912'])
    assert.deepEqual(issues('3.5.1', { quickjs: true }), ['#5751'])
    assert.deepEqual(issues('3.5.2', { quickjs: true, purged: true }), [])
    assert.ok(issues('3.3.2').includes('CVE-2023-45725'))
    for (const { fixed } of faults) assert.match(fixed, /^3\.[345]\.\d$/)
    for (const [older, newer] of [['3.3.0', '3.3.1'], ['3.3.3', '3.4.0'],
      ['3.4.9', '3.4.10'], ['3.4', '3.4.1'], ['3.5.0-RC1', '3.5.2']]) {
      assert.ok(isBefore(older, newer), `${older} < ${newer}`)
      assert.ok(!isBefore(newer, older), `${newer} < ${older}`)
    }
    for (const version of ['3.5.2', 'nonsense', '']) assert.ok(!isBefore(version, '3.5.2'))
  })
})

describe('the settings that the doctor knows', () => {
  const about = { isPublic: true, nodes: 3, shards: 8 }

  it('are harmless with the defaults of CouchDB, but not when a limit is close to what tilecouch sends', async () => {
    for (const [key, [initial, isHarmful]] of Object.entries(settings)) {
      if (initial !== undefined) assert.ok(!isHarmful(initial, about), key)
      if (/^\d+$/.test(initial ?? '')) assert.ok(!isHarmful('infinity', about), key)
    }
    const [, isHarmful] = settings['chttpd/max_http_request_size']
    const viewer = JSON.stringify((await ownDesigns()).find(({ _id }) => _id === '_design/tiles')).length
    for (const bytes of [viewer, tunerDefaults.maxBatchBytes * 4 / 3]) {
      assert.ok(isHarmful(`${Math.ceil(bytes * 1.2)}`, about), `${bytes}`)
    }
  })
})

// `doctor --fix` on a stock CouchDB of this test, since it changes settings of the whole server, and on the embedded
// store.

const SETTINGS = ['chttpd/enable_cors', 'cors/origins', 'csp/attachments_header_value']
const ORIGIN = 'https://maps.example.org'

const fixableChecks = ({ findings }) => findings.filter(item => item.fixable).map(({ check }) => check).sort()
const fixedChecks = ({ findings }) => findings.filter(item => item.fixed !== undefined).map(({ check }) => check).sort()

const stores = ['/tiles'] // stores whose viewer CouchDB may serve

describe('the doctor at a stock CouchDB', () => {
  let server, url
  before(async function () {
    this.timeout(60000)
    if (!findCouchDb()) return skip(this, 'no couchdb executable: set COUCHDB_BIN')
    server = await startCouchDb()
    url = `${server.url}/tiles`
  })
  after(() => server?.close())

  const KEY = 'csp/attachments_header_value'
  const configured = (key = KEY, value) => json(`${server.url}/_node/_local/_config/${key}`,
    value && { method: 'PUT', body: JSON.stringify(value) })
  const viewer = () => request(`${as(url)}/_design/tiles/_rewrite/`, { headers: { origin: ORIGIN } })
  const headersOf = ({ status, headers }) =>
    [status, headers.get('content-security-policy'), headers.get('access-control-allow-origin')]

  it('reports a missing database, and changes nothing', async () => {
    const report = await doctor(url)
    assert.match(report.server, /^CouchDB 3\./)
    assert.doesNotMatch(JSON.stringify(report), /admin:test/)
    assert.deepEqual([report.state, fixableChecks(report)], ['bad', ['database']])
    assert.equal(finding(report, 'settings', 'browsers').state, 'ok', 'the server is looked at all the same')
    assert.equal((await request(url)).status, 404)
    assert.equal((await request(`${server.url}/_node/_local/_config/${KEY}`)).status, 404)
  })

  it('fixes findings of its own database, but no settings that other databases share', async () => {
    const before = await json(`${server.url}/_node/_local/_config`)
    const report = await doctor(url, { fix: true, q: 4 })
    assert.deepEqual([fixedChecks(report), fixableChecks(report)], [['database'], []])
    assert.equal(finding(report, 'indexes', 'deployed').found, 'not yet: the first load deploys them')
    assert.equal((await json(url)).cluster.q, 4)
    await (await Store.open(url))
      .write([{ layer: 'osm', z: 0, x: 0, y: 0, time: '2024-01-01T00:00:00Z', bytes: png(1) }])
    assert.deepEqual(fixableChecks(await doctor(url)), ['deployed', 'published'])
    assert.deepEqual(fixedChecks(await doctor(url, { fix: true })), ['deployed'])
    const { cors, csp, chttpd } = await json(`${server.url}/_node/_local/_config`)
    assert.deepEqual({ cors, csp, chttpd }, { cors: before.cors, csp: before.csp, chttpd: before.chttpd })
    assert.deepEqual(headersOf(await viewer()), [200, 'sandbox', null])
  }).timeout(60000)

  it('changes shared settings when options request it, and finds nothing to do afterwards', async () => {
    const options = { cors: ORIGIN, allowViewer: true }
    assert.deepEqual(fixableChecks(await doctor(url, options)), SETTINGS)
    const report = await doctor(url, { ...options, fix: true })
    assert.deepEqual([fixedChecks(report), fixableChecks(report)], [SETTINGS, []])
    assert.equal(await configured('cors/origins'), ORIGIN)
    assert.deepEqual(headersOf(await viewer()), [200, await couchPolicy({ stores }), ORIGIN])
    assert.deepEqual(fixedChecks(await doctor(url, { ...options, fix: true })), [])
  }).timeout(60000)

  it('lets pages of --embed origins show the viewer in a frame, in later runs too', async () => {
    const page = 'https://www.example.org'
    await assert.rejects(doctor(url, { embed: page }), { code: 'BAD_OPTION' }, 'nobody sees a viewer that may not run')
    await assert.rejects(doctor(url, { allowViewer: true, embed: 'www.example.org' }), { code: 'BAD_OPTION' })
    await doctor(url, { fix: true, allowViewer: true, embed: page })
    assert.equal(await configured(), await couchPolicy({ embed: [page], stores }))
    assert.match(await configured(), /; frame-ancestors 'self' https:\/\/www\.example\.org$/)
    assert.deepEqual(fixedChecks(await doctor(url, { fix: true, allowViewer: true })), [])
    const older = (await couchPolicy({ embed: [page], stores }))
      .replace(/sha256-\w/, 'sha256-x').replace(' blob:; manifest-src', '; manifest-src')
    await configured(KEY, older)
    assert.deepEqual(fixedChecks(await doctor(url, { fix: true })), [KEY], 'of another version')
    assert.equal(await configured(), await couchPolicy({ embed: [page], stores }))
    await doctor(url, { fix: true, allowViewer: true, embed: 'none' })
    assert.equal(await configured(), await couchPolicy({ stores }))
  }).timeout(60000)

  it('lets the viewer read the origins that stores name, and warns of the others', async () => {
    const state = async options => finding(await doctor(url, options), 'settings', KEY)
    const store = await Store.open(url)
    const setFields = fields => store.couch.update('tilecouch', doc => ({ ...doc, ...fields }))
    const base = host => ({ url: `https://${host}/{z}/{x}/{y}.png` })
    await setFields({ base: base('tiles.example.org'), gazetteer: 'https://places.example.org/search' })
    const warning = await state({})
    assert.deepEqual([warning.state, warning.fixable], ['warning', undefined])
    assert.match(warning.why, /https:\/\/tiles\.example\.org, https:\/\/places\.example\.org/)
    await doctor(url, { fix: true })
    assert.equal(await configured(), await couchPolicy({ stores }), 'nothing is opened without --allow-viewer')
    await doctor(url, { fix: true, allowViewer: true })
    const origins = { images: ['https://tiles.example.org'], requests: ['https://places.example.org'] }
    assert.equal(await configured(), await couchPolicy({ stores, origins }))
    assert.equal(await state({}), undefined)
    await setFields({ base: base('other.example.org'), gazetteer: undefined })
    await doctor(url, { fix: true })
    assert.equal(await configured(), await couchPolicy({ stores }), 'what nobody names any more goes')
    assert.equal((await state({})).state, 'warning', 'and the new one is told of')
    await setFields({ base: undefined })
    assert.equal(await state({}), undefined)
  }).timeout(60000)

  it('refuses malformed origins and a wrong password, and turns off CORS credentials for all origins', async () => {
    for (const cors of ['maps.example.org', `${ORIGIN}/`, `*, ${ORIGIN}`, 'https://*.example.org', '', 'null']) {
      await assert.rejects(doctor(url, { cors }), { code: 'BAD_OPTION' }, cors)
    }
    const state = async options => finding(await doctor(url, options), 'settings', 'cors/credentials')?.state
    await configured('cors/credentials', 'true')
    assert.equal(await state({ cors: `${ORIGIN},http://localhost:8080` }), undefined)
    assert.equal(await state({ cors: '*' }), 'warning')
    assert.equal(await state({ cors: '*', fix: true }), 'ok')
    assert.equal(await configured('cors/credentials'), 'false')
    const wrong = as(url, 'admin', 'wrong')
    assert.equal((await doctor(wrong)).state, 'bad')
    await assert.rejects(doctor(wrong, { fix: true }), { code: 'UNAUTHORIZED' })
  })

  it('publishes a store that was never published, but leaves a closed store closed', async () => {
    const otherUrl = `${server.url}/other`
    await request(otherUrl, { method: 'PUT' })
    for (const layer of ['osm', 'relief']) {
      await request(`${otherUrl}/layer:${layer}`, { method: 'PUT', body: JSON.stringify({ type: 'layer', layer }) })
    }
    const report = await doctor(otherUrl, { fix: true })
    assert.equal(finding(report, 'access', 'published'), undefined)
    assert.equal((await request(as(otherUrl))).status, 200)
    const security =
      JSON.stringify({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['family'] } })
    await request(`${url}/_security`, { method: 'PUT', body: security })
    assert.deepEqual(fixedChecks(await doctor(url, { fix: true })), [])
    assert.equal((await request(as(url))).status, 401)
  })
})

describe('the doctor at the embedded store', () => {
  it('creates and publishes a store when the database is missing', async () => {
    const url = await backends[0].database()
    const report = await doctor(url, { fix: true })
    assert.deepEqual([fixedChecks(report), report.counts.bad], [['database'], 0])
    await (await Store.open(url))
      .write([{ layer: 'osm', z: 0, x: 0, y: 0, time: '2024-01-01T00:00:00Z', bytes: png(1) }])
    const later = await doctor(url, { fix: true })
    assert.ok(fixedChecks(later).includes('deployed'))
    assert.match(finding(later, 'access').found, /^everybody may read/)
  }).timeout(60000)
})
