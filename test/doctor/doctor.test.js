import assert from 'node:assert/strict'
import { now } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { onEachStore, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { T2, fill, finding, look, startProxy } from './stage.js'

onEachStore('the doctor', backend => {
  let url, store, proxy
  before(async () => {
    url = await backend.database()
    store = await fill(url)
    proxy = await startProxy(url)
  })
  after(async () => {
    await proxy.close()
    await store.destroy()
  })
  afterEach(() => { proxy.change = () => undefined })

  const put = doc => request(`${url}/${encodeURIComponent(doc._id)}`, { method: 'PUT', body: JSON.stringify(doc) })
  const couch = () => new Couch(url, { retries: 0 })
  const remove = async id => {
    const { _rev } = await couch().get(id)
    await request(`${url}/${encodeURIComponent(id)}?rev=${_rev}`, { method: 'DELETE' })
  }
  /** What is found after something was made ill; whatever it was is made right again. */
  const withIll = async (make, mend, options) => {
    await make()
    try {
      return await look(url, options)
    } finally {
      await mend()
    }
  }

  it('finds nothing wrong with a store that is well', async () => {
    const report = await look(url)
    assert.equal(report.counts.bad, 0, JSON.stringify(report.findings, null, 1))
    const ill = report.findings.filter(({ state }) => state === 'warning').map(({ area, check }) => `${area} ${check}`)
    assert.deepEqual(ill.filter(name => !['server version', 'settings browsers'].includes(name)), []) // those of the server that the tests have
    for (const [area, check] of [['access'], ['database', 'documents'], ['database', 'conflicts'], ['indexes', 'deployed'], ['indexes', 'up to date'], ['clocks', 'server'], ['layers', 'expired'], ['layers', 'osm: editions']]) {
      assert.equal(finding(report, area, check)?.state, 'ok', `${area} ${check}: ${JSON.stringify(finding(report, area, check))}`)
    }
    assert.ok(report.seconds < 10)
  })

  it('reads only, and builds no index', async () => {
    await store.defineLayer('osm', { ttl: 60, retention: { last: 1 } }) // so that every index is asked
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
    const writes = proxy.asked.filter(line => !/^(GET|HEAD) /.test(line) && !/^POST \S+\/(queries|_bulk_get|_all_docs)/.test(line))
    assert.deepEqual(writes, [])
  })

  if (backend.supports.users) it('finds a store that everybody may write to, and puts it first', async () => {
    const design = await couch().get('_design/tiles')
    const security = await store.security()
    const report = await withIll(
      async () => {
        await put({ ...design, validate_doc_update: undefined })
        await store.secure({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: [] } })
      },
      async () => {
        await put({ ...design, _rev: (await couch().get('_design/tiles'))._rev })
        await store.secure(security)
      })
    assert.equal(report.state, 'bad')
    assert.equal(report.findings[0].area, 'access')
    assert.match(report.findings[0].advice, /tilecouch push/)
    assert.equal(finding(report, 'indexes', 'deployed').state, 'warning')
    assert.match(finding(report, 'indexes', 'deployed').found, /_design\/tiles changed/)
  })

  it('finds design documents that are missing, and what a push that was killed has left', async () => {
    const { views } = await couch().get('_design/sizes')
    const lifecycle = await couch().get('_design/lifecycle')
    const report = await withIll(
      async () => {
        await put({ _id: '_design/sizes-staging', language: 'javascript', views })
        await remove('_design/lifecycle')
      },
      async () => {
        await remove('_design/sizes-staging')
        await put({ ...lifecycle, _rev: undefined })
        await couch().view('_design/lifecycle/_view/conflicts', {})
        await couch().view('_design/lifecycle/_view/expiring', {})
      })
    assert.match(finding(report, 'indexes', 'deployed').found, /_design\/lifecycle new/)
    assert.equal(finding(report, 'indexes', 'staging').state, 'warning')
    for (const [area, check] of [['database', 'conflicts'], ['layers', 'expired']]) {
      assert.equal(finding(report, area, check).state, 'unknown')
      assert.match(finding(report, area, check).advice, /tilecouch push/)
    }
  })

  it('finds conflicts', async () => {
    const doc = { _id: 'layer:apart', type: 'layer', layer: 'apart' }
    const leaves = ['a', 'b'].map(letter => ({ ...doc, name: letter, _revisions: { start: 1, ids: [letter.repeat(32)] } }))
    const answer = await request(`${url}/_bulk_docs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ new_edits: false, docs: leaves }) })
    assert.ok(answer.ok)
    await couch().view('_design/lifecycle/_view/conflicts', {})
    const { state, found, advice } = finding(await look(url), 'database', 'conflicts')
    for (const letter of ['a', 'b']) await request(`${url}/layer:apart?rev=1-${letter.repeat(32)}`, { method: 'DELETE' })
    await couch().view('_design/lifecycle/_view/conflicts', {})
    assert.deepEqual([state, found, advice], ['warning', '1 document (apart 1)', 'tilecouch check --only conflicts --fix'])
  })

  it('finds tiles that have expired and stay, as the gateway takes them for expired', async () => {
    await store.write([0, 1, 2].map(x => ({ layer: 'osm', z: 6, x, y: 1, time: T2, bytes: png(60 + x), ...(x && { expires: '2024-06-01T00:00:00Z' }) })))
    await couch().view('_design/lifecycle/_view/expiring', {})
    const few = finding(await look(url), 'layers', 'expired')
    assert.deepEqual([few.state, few.figures.expired], ['ok', 2])
    const many = finding(await look(url, { limits: { expired: 2 } }), 'layers', 'expired')
    assert.equal(many.state, 'warning')
    assert.match(many.found, /osm, the first since 2024-06-01T00:00:00Z/)
    assert.match(many.advice, /tilecouch seed --expired/)
    await store.defineLayer('osm', { ttl: 60 })
    const later = await look(url, { clock: () => Date.now() + 3600e3 })
    await store.defineLayer('osm', { ttl: null })
    assert.ok(finding(later, 'layers', 'expired').figures.expired > 10, 'by the ttl of the layer')
  })

  it('finds loads that were never finished, and those that could not store everything', async () => {
    const times = ['2025-01-01T00:00:00Z', '2025-02-01T00:00:00Z']
    await store.putEdition('osm', times[0], { title: 'x', started: times[0] })
    const open = finding(await look(url), 'layers', 'osm: editions')
    assert.deepEqual([open.state, open.figures.unfinished], ['warning', 1])
    await store.putEdition('osm', times[0], { finished: times[0] })
    await store.putEdition('osm', times[1], { started: times[1], finished: times[1], failed: 3 })
    assert.match(finding(await look(url), 'layers', 'osm: editions').found, /1 load with tiles that could not be stored: 2025-02-01/)
    await store.putEdition('osm', times[1], { failed: 0 })
    assert.equal(finding(await look(url), 'layers', 'osm: editions').state, 'ok')
    await store.putEdition('osm', '2025-03-01T00:00:00Z', { started: now() })
    assert.equal(finding(await look(url), 'layers', 'osm: editions').state, 'ok', 'one that is under way')
    await remove('edition:osm@2025-03-01T00:00:00Z')
  })

  it('finds a retention policy that nobody applies', async () => {
    await store.defineLayer('osm', { retention: { last: 1 } })
    const ill = finding(await look(url, { limits: { doomed: 0.01 } }), 'layers', 'osm: retention')
    await store.defineLayer('osm', { retention: { last: 100 } })
    const well = finding(await look(url, { limits: { doomed: 0.01 } }), 'layers', 'osm: retention')
    await store.defineLayer('osm', { retention: null })
    assert.equal(ill.state, 'warning')
    assert.ok(ill.figures.doomed > 0 && ill.figures.doomed < ill.figures.looked)
    assert.match(ill.advice, /tilecouch prune osm/)
    assert.deepEqual([well.state, well.figures.doomed], ['ok', 0])
  })

  it('finds tiles that were stored by a clock that is ahead', async () => {
    await store.write([{ layer: 'osm', z: 7, x: 1, y: 1, time: T2, bytes: png(70) }])
    const { state, found } = finding(await look(url, { clock: () => Date.now() - 7200e3 }), 'clocks', 'writers')
    assert.equal(state, 'bad')
    assert.match(found, /up to (2:00:00|1:59:5\d|2:00:0\d) from now \(osm:/)
  })
})
