// The findings of the doctor on a store, on a server in trouble, and on the command line.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { now } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { reportLines as linesOf } from '../../loader/cli/doctor.js'
import { doctorMetricTable, metricsOf } from '../../loader/check/doctor/metrics.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { onEachStore, request, startThrowAwayEmbedded } from '../support/backends.js'
import { startServer } from '../support/server.js'
import { png } from '../support/tiles.js'
import { T2, createSmallStore, finding, look, useFilled } from '../support/doctor.js'
import { parseMetrics } from '../support/gateway/prometheus.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'

onEachStore('the doctor', backend => {
  const filled = useFilled(async () => ({ url: await backend.database() }))
  let url, store, proxy
  beforeEach(() => { ({ url, store, proxy } = filled) })

  const put = doc => request(`${url}/${encodeURIComponent(doc._id)}`, { method: 'PUT', body: JSON.stringify(doc) })
  const couch = () => new Couch(url, { retries: 0 })
  const remove = async id => {
    const { _rev } = await couch().get(id)
    await request(`${url}/${encodeURIComponent(id)}?rev=${_rev}`, { method: 'DELETE' })
  }
  /** The report of the doctor while something is broken. */
  const lookWhile = async (broken, repair) => {
    await broken()
    try {
      return await look(url)
    } finally {
      await repair()
    }
  }

  it('finds nothing wrong with a healthy store', async () => {
    const report = await look(url)
    assert.equal(report.counts.bad, 0, JSON.stringify(report.findings, null, 1))
    const warnings = report.findings.filter(({ state }) => state === 'warning')
      .map(({ area, check }) => `${area} ${check}`)
    // warnings about the server of the tests
    assert.deepEqual(warnings.filter(name => !['server version', 'settings browsers'].includes(name)), [])
    for (const name of ['access', 'database documents', 'database conflicts', 'indexes deployed', 'indexes up to date',
      'layers expired', 'layers osm: editions']) {
      const [area, ...check] = name.split(' ')
      assert.equal(finding(report, area, check.join(' ') || area)?.state, 'ok', name)
    }
    assert.ok(report.seconds < 10)
  })

  it('only reads, and builds no index', async () => {
    await store.defineLayer('osm', { ttl: 60, retention: { last: 1 } }) // so that the doctor reads every index
    const before = await store.info()
    proxy.asked.length = proxy.sent.length = 0
    const report = await look(proxy.url)
    assert.equal((await store.info()).update_seq, before.update_seq)
    await store.defineLayer('osm', { ttl: null, retention: null })
    assert.deepEqual(report.findings.filter(({ state, area }) => state === 'unknown' && area === 'layers'), [])
    const queries = proxy.sent.flatMap(body => body?.queries ?? [])
    assert.ok(queries.length >= 5)
    for (const query of queries) assert.equal(query.update, false, JSON.stringify(query))
    assert.deepEqual(proxy.asked.filter(line => line.includes('/_view/') && !line.includes('/queries')), [])
    const writes =
      proxy.asked.filter(line => !/^(GET|HEAD) /.test(line) && !/^POST \S+\/(queries|_bulk_get|_all_docs)/.test(line))
    assert.deepEqual(writes, [])
  })

  if (backend.supports.users) it('finds a store that everybody may write to, and puts it first', async () => {
    const design = await couch().get('_design/tiles')
    const security = await store.security()
    const report = await lookWhile(
      async () => {
        await put({ ...design, validate_doc_update: undefined })
        await store.secure({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: [] } })
      },
      async () => {
        await put({ ...design, _rev: (await couch().get('_design/tiles'))._rev })
        await store.secure(security)
      })
    assert.deepEqual([report.state, report.findings[0].area], ['bad', 'access'])
    assert.match(report.findings[0].advice, /tilecouch push/)
    assert.equal(finding(report, 'indexes', 'deployed').state, 'warning')
    assert.match(finding(report, 'indexes', 'deployed').found, /_design\/tiles changed/)
  })

  it('finds missing design documents, and leftovers of a push that was killed', async () => {
    const versions = await couch().get('_design/versions')
    const report = await lookWhile(
      async () => {
        await put({ _id: '_design/versions-staging', language: 'javascript', views: versions.views })
        await remove('_design/versions')
      },
      async () => {
        await remove('_design/versions-staging')
        await put({ ...versions, _rev: undefined })
        await couch().view('_design/versions/_view/conflicts', {})
      })
    assert.match(finding(report, 'indexes', 'deployed').found, /_design\/versions new/)
    assert.equal(finding(report, 'indexes', 'staging').state, 'warning')
    for (const [area, check] of [['database', 'conflicts'], ['layers', 'expired']]) {
      assert.equal(finding(report, area, check).state, 'unknown')
      assert.match(finding(report, area, check).advice, /tilecouch push/)
    }
  })

  it('finds conflicts', async () => {
    const doc = { _id: 'layer:apart', type: 'layer', layer: 'apart' }
    const leaves =
      ['a', 'b'].map(letter => ({ ...doc, name: letter, _revisions: { start: 1, ids: [letter.repeat(32)] } }))
    await couch().bulk(leaves, { newEdits: false })
    await couch().view('_design/versions/_view/conflicts', {})
    const { state, found, advice } = finding(await look(url), 'database', 'conflicts')
    for (const letter of ['a', 'b']) {
      await request(`${url}/layer:apart?rev=1-${letter.repeat(32)}`, { method: 'DELETE' })
    }
    await couch().view('_design/versions/_view/conflicts', {})
    assert.deepEqual([state, found, advice],
      ['warning', '1 document (apart 1)', 'tilecouch check --only conflicts --fix'])
  })

  it('finds tiles that are expired by their own time or by the ttl of the layer', async () => {
    const tile = x =>
      ({ layer: 'osm', z: 6, x, y: 1, time: T2, bytes: png(60 + x), ...(x && { expires: '2024-06-01T00:00:00Z' }) })
    await store.write([0, 1, 2].map(tile))
    await couch().view('_design/versions/_view/expiring', {})
    const withDefaults = finding(await look(url), 'layers', 'expired')
    assert.deepEqual([withDefaults.state, withDefaults.figures.expired], ['ok', 2])
    const withLimit = finding(await look(url, { limits: { expired: 2 } }), 'layers', 'expired')
    assert.equal(withLimit.state, 'warning')
    assert.match(withLimit.found, /osm, the first since 2024-06-01T00:00:00Z/)
    assert.match(withLimit.advice, /tilecouch seed --expired/)
    await store.defineLayer('osm', { ttl: 60 })
    const later = await look(url, { clock: () => Date.now() + 3600e3 })
    await store.defineLayer('osm', { ttl: null })
    assert.ok(finding(later, 'layers', 'expired').figures.expired > 10, 'by the ttl of the layer')
  })

  it('finds loads that were never finished, and loads that could not store all tiles', async () => {
    const editions = async () => finding(await look(url), 'layers', 'osm: editions')
    const times = ['2025-01-01T00:00:00Z', '2025-02-01T00:00:00Z']
    await store.putEdition('osm', times[0], { title: 'x', started: times[0] })
    const { state, figures } = await editions()
    assert.deepEqual([state, figures.unfinished], ['warning', 1])
    await store.putEdition('osm', times[0], { finished: times[0] })
    await store.putEdition('osm', times[1], { started: times[1], finished: times[1], failed: 3 })
    assert.match((await editions()).found, /1 load with tiles that could not be stored: 2025-02-01/)
    await store.putEdition('osm', times[1], { failed: 0 })
    assert.equal((await editions()).state, 'ok')
    await store.putEdition('osm', '2025-03-01T00:00:00Z', { started: now() })
    assert.equal((await editions()).state, 'ok', 'a load that is running')
    await remove('edition:osm@2025-03-01T00:00:00Z')
  })

  it('finds a retention policy that nobody applies', async () => {
    await store.defineLayer('osm', { retention: { last: 1 } })
    const unpruned = finding(await look(url, { limits: { notKept: 0.01 } }), 'layers', 'osm: retention')
    await store.defineLayer('osm', { retention: { last: 100 } })
    const pruned = finding(await look(url, { limits: { notKept: 0.01 } }), 'layers', 'osm: retention')
    await store.defineLayer('osm', { retention: null })
    assert.equal(unpruned.state, 'warning')
    assert.ok(unpruned.figures.doomed > 0 && unpruned.figures.doomed < unpruned.figures.looked)
    assert.match(unpruned.advice, /tilecouch prune osm/)
    assert.deepEqual([pruned.state, pruned.figures.doomed], ['ok', 0])
  })
})

// States that take years or a broken machine: a proxy changes the answers of the server.

const GB = 1e9

describe('the doctor at a server in trouble', () => {
  const filled = useFilled(async () => {
    const { url, close } = await startThrowAwayEmbedded()
    return { url: `${url.replace(/\/$/, '')}/tiles`, close }
  })
  let proxy, url
  beforeEach(() => { ({ proxy, url } = filled) })

  /** The report on a CouchDB with changed answers, by path: values, or functions of the real answer. */
  const lookAt = (answers, version = '3.5.2') => {
    proxy.change = (address, body, answer) => {
      if (address === '/') return { couchdb: 'Welcome', version, vendor: { name: 'Somebody' }, uuid: 'x' }
      const key = Object.keys(answers).find(name => address.split('?')[0] === name)
      if (!key) return undefined
      answer.status = 200
      return typeof answers[key] === 'function' ? answers[key](body, answer) : answers[key]
    }
    return look(proxy.url)
  }
  const stateOf = (report, area, check) => {
    const result = finding(report, area, check)
    return [result?.state, result?.found]
  }

  const index = info => (
    { '/tiles/_design/versions/_info': body => ({ ...body, view_index: { ...body.view_index, ...info } }) })

  it('names the faults of a version of CouchDB, and a better version', async () => {
    const versionFinding = finding(await lookAt({}, '3.4.2'), 'server', 'version')
    assert.equal(versionFinding.state, 'warning')
    assert.match(versionFinding.why, /#5437/)
    assert.match(versionFinding.advice, /3\.4\.3 or later/)
    assert.deepEqual(stateOf(await lookAt({}, '3.5.2'), 'server', 'version'), ['ok', '3.5.2'])
    for (const version of ['2.3.1', '4.0.0']) {
      assert.equal(finding(await lookAt({}, version), 'server', 'version').state, 'bad', version)
    }
  })

  it('finds nodes that are away, a node in maintenance mode, and too many tombstones', async () => {
    const report = await lookAt({
      '/_membership': { all_nodes: ['a'], cluster_nodes: ['a', 'b', 'c'] },
      '/_up': (_, answer) => { answer.status = 404; return { status: 'maintenance_mode' } }
    })
    assert.deepEqual(stateOf(report, 'server', 'nodes'), ['bad', 'b, c of 3 nodes are away'])
    assert.equal(finding(report, 'server', '_up').state, 'bad')
    const sizes = { file: 300 * GB, active: 300 * GB }
    const counts = { doc_count: 30e6, doc_del_count: 90e6 }
    const many = await lookAt({ '/tiles': body => ({ ...body, ...counts, sizes, cluster: { q: 2, n: 1 } }) })
    const { state: tombstones, found } = finding(many, 'database', 'documents')
    assert.deepEqual([tombstones, /90,000,000 tombstones \(75 %\)/.test(found)], ['warning', true])
  })

  it('finds files that are mostly waste, unless they are being compacted, and rows of purged documents', async () => {
    const info = sizes => ({ '/tiles': body => ({ ...body, sizes: { external: 0, ...sizes }, ...sizes.more }) })
    const compaction = async sizes => finding(await lookAt(info(sizes)), 'database', 'compaction')
    for (const [file, active, expected, more] of [
      [1.2 * GB, GB, 'ok'], [50e6, 1e6, 'ok'], [2.5 * GB, GB, 'warning'],
      [9 * GB, GB, 'bad'], [9 * GB, GB, 'ok', { compact_running: true }]
    ]) assert.equal((await compaction({ file, active, more })).state, expected, `${file} of ${active}`)
    assert.match((await compaction({ file: 9 * GB, active: GB })).advice, /\/tiles\/_compact/)
    const rows = more => ({
      '/tiles/_design/versions/_view/by_tile/queries': ({ results }) =>
        ({ results: results.map(result => ({ ...result, total_rows: result.total_rows + more })) }),
      ...index({ updates_pending: { total: 0 } })
    })
    assert.equal(finding(await lookAt(rows(0)), 'indexes', 'rows').state, 'ok')
    const { state: rowsState, advice } = finding(await lookAt(rows(100)), 'indexes', 'rows')
    assert.deepEqual([rowsState, /_view_cleanup/.test(advice)], ['bad', true])
  })

  it('finds indexes that are far behind, with their waiting clients, and indexes that waste space', async () => {
    const behindBy = pending => index({ updates_pending: { total: pending }, waiting_clients: 4 })
    const behind = finding(await lookAt(behindBy(50000)), 'indexes', 'up to date')
    assert.deepEqual([behind.state, behind.found], ['warning', '_design/versions lacks 50,000 changes, 4 clients wait'])
    assert.equal(finding(await lookAt(behindBy(5e6)), 'indexes', 'up to date').state, 'bad')
    assert.equal(finding(await lookAt(behindBy(500)), 'indexes', 'up to date').state, 'ok')
    const outdated = await lookAt(behindBy(50000))
    for (const [area, check] of [['database', 'conflicts'], ['layers', 'expired']]) {
      assert.match(String(stateOf(outdated, area, check)), /^unknown,its index .* far behind/)
    }
    const wasted = finding(await lookAt(index({ sizes: { file: 9 * GB, active: GB } })), 'indexes', 'compaction')
    assert.equal(wasted.state, 'bad')
    assert.match(wasted.advice, /_compact\/versions/)
  })

  it('reports its findings so far when the server stops answering', async () => {
    proxy.change = address => /_info|_changes|_local_docs|_security|layer:/.test(address) ? 'hang' : undefined
    const report = await look(proxy.url, { limits: { timeout: 300, whole: 1500 } })
    assert.ok(report.seconds < 4, `${report.seconds} s`)
    assert.equal(finding(report, 'database', 'documents').state, 'ok')
    for (const [area, check] of [['indexes', 'up to date'], ['access'], ['layers']]) {
      assert.deepEqual(stateOf(report, area, check), ['unknown', 'the server did not answer in time'], area)
    }
    proxy.change = address => address === '/' ? undefined : 'hang'
    const unreachable = await look(proxy.url, { limits: { timeout: 300, whole: 1500 } })
    assert.deepEqual([unreachable.state, unreachable.findings.length], ['bad', 1])
  })

  it('ends at once when it is aborted, and survives malformed answers', async () => {
    const controller = new AbortController()
    proxy.change = address => { if (address.includes('_info')) controller.abort() }
    await assert.rejects(look(proxy.url, { signal: controller.signal }), { code: 'ABORTED' })
    for (const nonsense of ['<html>', '[]', '{}', 'null',
      '{"rows": 7, "view_index": null, "all_nodes": {}, "members": 3, "results": "x"}']) {
      proxy.change = address => address === '/' ? { couchdb: 'Welcome', version: '3.5.2' } : nonsense
      assert.ok((await look(proxy.url)).findings.length > 0, nonsense)
    }
    proxy.change = address => address === '/' ? '<html>the page of a gateway</html>' : undefined
    assert.equal(finding(await look(proxy.url), 'server', 'version').state, 'unknown')
  })

  it('reports the health of a gateway', async () => {
    const pages = { '/health': [200, '{"status":"ok","version":"1"}'] }
    const gateway = await startServer((req, res) => {
      const [status, text] = pages[String(req.url)] ?? [404, '']
      res.writeHead(status).end(text)
    })
    const gatewayFindings = async () => {
      const report = await look(url, { gateway: gateway.url })
      return report.findings.filter(({ area }) => area === 'gateway')
        .map(({ check, state: how, found }) => `${check} ${how} ${found}`)
    }
    try {
      assert.deepEqual(await gatewayFindings(), ['health ok ok, tilecouch 1'])
      pages['/health'] = [503, '{"status":"behind","version":"1","mirror":{"state":"away","lag":7200}}']
      assert.deepEqual(await gatewayFindings(), ['health bad behind, tilecouch 1; mirror away, 2:00:00 behind'])
      pages['/health'] = [404, 'no such page']
      assert.match((await gatewayFindings()).join(), /health unknown .* is not a gateway's/)
      pages['/health'] = [200, 'null']
      assert.match((await gatewayFindings()).join(), /health unknown .* is not a gateway's/)
    } finally {
      await gateway.close()
    }
    assert.match((await gatewayFindings()).join(), /health bad .* does not answer/)
    await assert.rejects(look(url, { gateway: 'nonsense' }), { code: 'BAD_OPTION' })
  })
})

const reportOf = (findings, more) => ({
  url: 'http://a/tiles', server: 'CouchDB 3.5.2', time: '2026-01-01T00:00:00Z', state: 'bad', seconds: 0.4,
  counts: Object.fromEntries(
    ['bad', 'warning', 'unknown', 'ok'].map(state => [state, findings.filter(item => item.state === state).length])
  ), findings, ...more
})

describe('tilecouch doctor', () => {
  const folder = useFolder()

  it('prints problems first and in full, good findings in a line per area, in 80 columns', () => {
    const lines = linesOf(reportOf([
      {
        area: 'access', check: 'access', state: 'bad', found: 'everybody may write',
        why: 'Anybody may replace or delete every tile, and there is nothing that would keep him from it.',
        advice: 'tilecouch push'
      },
      {
        area: 'disk', check: 'room', state: 'warning', found: `12 GB of 1 TB free in /${'x'.repeat(100)}`,
        why: 'a', advice: 'b'
      },
      { area: 'settings', check: 'settings', state: 'unknown', found: 'only a server admin sees it' },
      { area: 'disk', check: 'room', state: 'unknown', found: 'only a server admin sees it' },
      { area: 'server', check: 'version', state: 'ok', found: '3.5.2' },
      { area: 'server', check: 'nodes', state: 'ok', found: '1 node' }
    ]))
    assert.deepEqual(lines.slice(0, 8), [
      'http://a/tiles', 'CouchDB 3.5.2: 1 bad, 1 warning, 2 unknown, 2 ok, in 0.4 s', '',
      'BAD      access: everybody may write',
      '         Anybody may replace or delete every tile, and there is nothing that',
      '         would keep him from it.', '         -> tilecouch push', ''
    ])
    assert.ok(lines.includes('UNKNOWN  settings, disk room: only a server admin sees it'))
    assert.ok(lines.includes('ok       server: version 3.5.2; nodes 1 node'))
    for (const line of lines) assert.ok(line.length <= 80 || line.includes('xxx'), line)
  })

  it('exits with 1 if a finding is bad, and prints the report as JSON and metrics', async () => {
    const server = await startEmbedded({ dir: folder.dir, admins: 'everybody' })
    try {
      const url = `${server.url.replace(/\/$/, '')}/tiles`
      await createSmallStore(url)
      const file = folder.path('store.prom')
      const { code, out } = await runCommand(['doctor', '--db', url, '--json', '--data', folder.dir, '--metrics', file])
      const printed = JSON.parse(out)
      assert.deepEqual([code, printed.state === 'bad'], [0, false])
      assert.ok(printed.findings.every(({ area, check, state, found }) => area && check && state && found))
      const room = printed.findings.find(({ area }) => area === 'disk')
      assert.notEqual(room.state, 'unknown', room.found)
      assert.ok(room.figures.used > 1000 && room.found.includes(folder.dir))
      const elsewhere = await look(url, { folder: folder.path('no') })
      assert.equal(elsewhere.findings.find(({ area }) => area === 'disk')?.state, 'unknown', 'not any folder')
      const metrics = parseMetrics(readFileSync(file, 'utf8'))
      assert.deepEqual([...metrics.keys()].sort(), Object.values(doctorMetricTable).map(({ name }) => name).sort())
      assert.deepEqual(readdirSync(folder.dir).filter(name => name.endsWith('.part')), [])
      assert.match((await runCommand(['doctor', '--db', url, '--metrics', folder.path('no/such.prom')])).err,
        /TARGET_UNWRITABLE/)
      assert.equal((await runCommand(['doctor', '--db', `${server.url.replace(/\/$/, '')}/nothing`])).code, 1)
    } finally {
      await server.close()
    }
  })

  it('creates no embedded store when there is none', async () => {
    const dir = folder.path('none')
    const before = process.env.COUCHDB_URL
    const home = process.cwd()
    delete process.env.COUCHDB_URL
    process.chdir(folder.dir) // no .couchapprc here
    try {
      const { code, err } = await runCommand(['doctor', '--data', dir])
      assert.deepEqual([code, err.includes('[DATABASE_NOT_FOUND]')], [1, true])
      assert.ok(!existsSync(dir))
    } finally {
      process.chdir(home)
      if (before !== undefined) process.env.COUCHDB_URL = before
    }
  })

  it('writes each metric once, with labels that Prometheus can parse', async () => {
    const sample = { area: 'settings', check: 'a "quoted" \\ one\n', found: 'x' }
    const metrics = await metricsOf(reportOf([
      { ...sample, state: 'bad', figures: { q: 2 } }, { ...sample, state: 'warning' },
      { area: 'mirrors', check: 'm', found: 'x', state: 'ok' }
    ]))
    const { samples } = parseMetrics(metrics).get('tilecouch_doctor_state') ?? { samples: [] }
    assert.deepEqual(samples.map(({ value }) => value).sort(), [0, 3])
    const time = parseMetrics(metrics).get('tilecouch_doctor_timestamp_seconds')?.samples[0].value
    assert.equal(time, Date.parse('2026-01-01T00:00:00Z') / 1000)
  })
})
