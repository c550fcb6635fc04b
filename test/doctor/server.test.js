// A CouchDB whose ini file makes it ill in every way that a file can.
import assert from 'node:assert/strict'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { VIEWER_CSP } from '../../loader/couchapp/policy.js'
import { doctor } from '../../loader/doctor/index.js'
import { as, json, request } from '../support/backends.js'
import { skip } from '../support/tools.js'
import { fill, finding, look, startProxy } from './stage.js'

/** Section/name of what is ill -> its value and the state. */
const ILL = {
  'chttpd/max_http_request_size': ['3000000', 'bad'],
  'couchdb/max_document_size': ['500000', 'warning'],
  'couchdb/max_attachment_size': ['5000000', 'bad'],
  'couchdb/max_dbs_open': ['50', 'warning'],
  'couchdb/os_process_timeout': ['2000', 'warning'],
  'couchdb/default_security': ['everyone', 'warning'],
  'couchdb/file_compression': ['none', 'warning'],
  'couchdb/delayed_commits': ['true', 'warning'],
  'couchdb/os_process_limit': ['25', 'warning'],
  'compactions/_default': ['[{db_fragmentation, "70%"}]', 'warning'],
  'httpd/enable_cors': ['true', 'warning'],
  'couch_httpd_auth/require_valid_user': ['true', 'warning'],
  'chttpd/bulk_get_use_batches': ['false', 'warning'],
  'chttpd/max_uri_length': ['1000', 'warning'],
  'query_server_config/os_process_limit': ['5', 'warning'],
  'query_server_config/os_process_soft_limit': ['2', 'warning'],
  'query_server_config/query_limit': ['5000', 'bad'],
  'query_server_config/commit_freq': ['3600', 'warning'],
  'attachments/compressible_types': ['text/*, image/png', 'bad'],
  'smoosh/db_channels': ['upgrade_dbs', 'warning'],
  'smoosh/view_channels': ['upgrade_views,ratio_views', 'warning'],
  'smoosh.ratio_dbs/min_priority': ['20.0', 'warning'],
  'smoosh.slack_views/min_priority': ['100000000000', 'warning'],
  'cluster/q': ['128', 'warning'],
  'purge/max_document_id_number': ['10', 'warning'],
  'log/level': ['debug', 'warning'],
  'ken/limit': ['0', 'warning']
}

const PROXIED = { 'couchdb/maintenance_mode': ['true', 'bad'], 'chttpd/require_valid_user': ['true', 'warning'], 'replicator/max_jobs': ['0', 'bad'], 'cluster/n': ['1', 'warning'] }

const ini = Object.entries(ILL).map(([key, [value]]) => {
  const at = key.indexOf('/')
  return `[${key.slice(0, at)}]\n${key.slice(at + 1)} = ${value}`
}).join('\n')

describe('the doctor at a CouchDB of its own', () => {
  let couch, url, proxy
  before(async function () {
    if (!findCouchDb()) skip(this, 'no couchdb')
    this.timeout(30000)
    couch = await startCouchDb(undefined, { settings: ini })
    url = `${couch.url}/tiles`
    await request(`${url}?q=1`, { method: 'PUT' })
    await fill(url)
    proxy = await startProxy(url)
  })
  after(async () => {
    await proxy?.close()
    await couch?.close()
  })
  afterEach(() => { if (proxy) proxy.change = () => undefined })

  it('finds each setting that does harm, says why, and names what it should be', async () => {
    const report = await look(url)
    for (const [key, [value, state]] of Object.entries(ILL)) {
      const found = finding(report, 'settings', key)
      assert.deepEqual([found?.state, found?.found], [state, value], key)
      assert.ok(found.why && found.advice.includes(key), key)
    }
    const named = report.findings.filter(({ area, state }) => area === 'settings' && state !== 'ok').map(({ check }) => check)
    assert.deepEqual(named.filter(key => !ILL[key]), [])
    assert.equal(report.state, 'bad')
    assert.ok(!JSON.stringify(report).includes('pbkdf2') && !JSON.stringify(report).includes('admin:test'), 'no secret of the configuration')
  })

  it('finds what would keep the tests themselves out, and what each node of a cluster has of its own', async () => {
    proxy.change = (asked, said) => {
      if (/\/_config$/.test(asked)) {
        if (asked.includes('other@')) return said
        for (const [key, [value]] of Object.entries(PROXIED)) (said[key.split('/')[0]] ??= {})[key.split('/')[1]] = value
        return said
      }
      if (asked === '/_membership') return { all_nodes: [...said.all_nodes, 'other@127.0.0.1'], cluster_nodes: [...said.cluster_nodes, 'other@127.0.0.1'] }
    }
    // the other node is not there: its settings are asked of this one
    const { url: front, close } = await startProxy(proxy.url)
    try {
      const report = await look(front)
      const state = finding(report, 'settings', 'settings').state
      assert.equal(state, 'unknown', 'a node that cannot be asked')
    } finally {
      await close()
    }
    proxy.change = (asked, said) => {
      if (!/\/_config$/.test(asked)) return undefined
      for (const [key, [value]] of Object.entries(PROXIED)) (said[key.split('/')[0]] ??= {})[key.split('/')[1]] = value
      return said
    }
    const alone = await look(proxy.url)
    for (const [key, [value, state]] of Object.entries(PROXIED)) {
      if (key !== 'cluster/n') assert.deepEqual([finding(alone, 'settings', key)?.state, finding(alone, 'settings', key)?.found], [state, value], key)
    }
  })

  it('finds shards of the store that the server passes over, and none of another', async () => {
    const { shard_suffix: suffix } = await json(`${couch.url}/_node/_local/_dbs/tiles`)
    const shard = `shards/00000000-ffffffff/tiles${String.fromCharCode(...suffix)}`
    const settings = ['ken.ignore', 'smoosh.ignore'].flatMap(section => [shard, 'shards/00000000-ffffffff/others.1600000000'].map(name => `${section}/${encodeURIComponent(name)}`))
    for (const setting of settings) await json(`${couch.url}/_node/_local/_config/${setting}`, { method: 'PUT', body: '"true"' })
    const report = await look(url)
    for (const section of ['ken.ignore', 'smoosh.ignore']) {
      const { state, found, advice } = finding(report, 'settings', section)
      assert.deepEqual([state, found, advice], ['warning', '1 shard', `Remove from ${section}: ${shard}.`])
    }
    for (const setting of settings) await json(`${couch.url}/_node/_local/_config/${setting}`, { method: 'DELETE' })
  })

  it('says what pages in browsers may do, and what none should', async () => {
    const set = (key, value) => json(`${couch.url}/_node/_local/_config/${key}`, { method: 'PUT', body: JSON.stringify(value) })
    const browsers = async () => finding(await look(url), 'settings', 'browsers').found
    assert.equal(await browsers(), 'CouchDB does not serve the viewer, a gateway does (--fix --allow-viewer allows it here too); pages of no other origin read')
    await doctor(url, { fix: true, cors: '*', allowViewer: true })
    assert.equal(await browsers(), 'the viewer runs; pages of every origin read')
    await set('cors/credentials', 'true')
    await set('csp/attachments_header_value', VIEWER_CSP)
    const report = await look(url)
    assert.deepEqual(['cors/credentials', 'csp/attachments_header_value'].map(key => finding(report, 'settings', key)?.state), ['warning', 'bad'])
    await doctor(url, { fix: true, cors: '*' })
    const mended = await look(url)
    assert.deepEqual(['cors/credentials', 'csp/attachments_header_value'].map(key => finding(mended, 'settings', key)), [undefined, undefined])
  })

  it('tells a reader and nobody what they cannot see, and of everything else as much as an admin', async () => {
    await json(`${couch.url}/_users/org.couchdb.user:anna`, { method: 'PUT', body: JSON.stringify({ _id: 'org.couchdb.user:anna', name: 'anna', password: 'a', roles: [], type: 'user' }) })
    for (const who of [as(url, 'anna', 'a'), as(url)]) {
      const report = await look(who)
      const unknown = report.findings.filter(({ state }) => state === 'unknown')
      assert.deepEqual(unknown.map(({ area, check }) => area === check ? area : `${area} ${check}`).sort(), ['database purges', 'disk room', 'mirrors those of CouchDB', 'server nodes', 'settings'])
      for (const { found } of unknown) assert.match(found, /admin/)
      assert.equal(finding(report, 'access').state, 'ok')
      assert.equal(report.counts.bad, 0)
    }
    const security = await json(`${url}/_security`)
    await request(`${url}/_security`, { method: 'PUT', body: JSON.stringify({ ...security, members: { names: [], roles: ['staff'] } }) })
    const shut = await look(as(url))
    await request(`${url}/_security`, { method: 'PUT', body: JSON.stringify(security) })
    assert.equal(shut.state, 'bad')
    assert.match(shut.findings[0].found, /refused|not allowed/)
  })

  it('sees how much room there is, and the indexes that nobody reads any more', async () => {
    const { state, found, figures } = finding(await look(url), 'disk', 'room')
    assert.notEqual(state, 'unknown')
    assert.ok(found.includes(`${couch.dir}/data`) && figures.free > 0)
    assert.equal(finding(await look(url, { limits: { fullDisk: 1 } }), 'disk', 'room').state, 'bad')
    assert.equal(finding(await look(url, { limits: { free: 1 } }), 'disk', 'room').state, 'warning')
    const [range] = await readdir(path.join(couch.dir, 'data/.shards'))
    const [name] = (await readdir(path.join(couch.dir, 'data/.shards', range))).filter(entry => entry.startsWith('tiles.'))
    const left = path.join(couch.dir, 'data/.shards', range, name, 'mrview', `${'0'.repeat(32)}.view`)
    await mkdir(path.dirname(left), { recursive: true })
    await writeFile(left, Buffer.alloc(50000))
    const orphan = finding(await look(url, { limits: { little: 10000 } }), 'disk', 'left over')
    await rm(left)
    assert.deepEqual([orphan.state, orphan.figures.leftFiles >= 1], ['warning', true])
    assert.match(orphan.advice, /_view_cleanup/)
    assert.equal(finding(await look(url, { limits: { little: 10000 } }), 'disk', 'left over').state, 'ok')
  })

  it('does not take the disk of this machine for that of a container', async () => {
    proxy.change = (asked, said) => /_config\/couchdb$/.test(asked) ? { ...said, database_dir: '/opt/couchdb/data' } : undefined
    const { state, found } = finding(await look(proxy.url), 'disk', 'room')
    assert.equal(state, 'unknown')
    assert.match(found, /container/)
  })

  it('finds limits of the database that are too low', async () => {
    for (const [name, value, check] of /** @type {[string, number, string][]} */ ([['_revs_limit', 5, 'revisions'], ['_revs_limit', 100000, 'revisions'], ['_purged_infos_limit', 10, 'purges']])) {
      const before = await json(`${url}/${name}`)
      await request(`${url}/${name}`, { method: 'PUT', body: String(value) })
      const { state, found, advice } = finding(await look(url), 'database', check)
      await request(`${url}/${name}`, { method: 'PUT', body: String(before) })
      assert.equal(state, 'warning', name)
      assert.ok(found.includes(String(value)) && advice.includes(name))
    }
  })
})
