import assert from 'node:assert/strict'
import { now } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { onEachStore, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { T2, finding, look, useFilled } from '../support/doctor.js'


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
  /** The report while something is broken. */
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
    // of the tests' server
    assert.deepEqual(warnings.filter(name => !['server version', 'settings browsers'].includes(name)), [])
    for (const name of ['access', 'database documents', 'database conflicts', 'indexes deployed', 'indexes up to date',
      'layers expired', 'layers osm: editions']) {
      const [area, ...check] = name.split(' ')
      assert.equal(finding(report, area, check.join(' ') || area)?.state, 'ok', name)
    }
    assert.ok(report.seconds < 10)
  })

  it('only reads, and builds no index', async () => {
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
    assert.equal(report.state, 'bad')
    assert.equal(report.findings[0].area, 'access')
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
    const tile = x => (
      { layer: 'osm', z: 6, x, y: 1, time: T2, bytes: png(60 + x), ...(x && { expires: '2024-06-01T00:00:00Z' }) }
    )
    await store.write([0, 1, 2].map(tile))
    await couch().view('_design/versions/_view/expiring', {})
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
    const grown = finding(await look(url, { limits: { notKept: 0.01 } }), 'layers', 'osm: retention')
    await store.defineLayer('osm', { retention: { last: 100 } })
    const well = finding(await look(url, { limits: { notKept: 0.01 } }), 'layers', 'osm: retention')
    await store.defineLayer('osm', { retention: null })
    assert.equal(grown.state, 'warning')
    assert.ok(grown.figures.doomed > 0 && grown.figures.doomed < grown.figures.looked)
    assert.match(grown.advice, /tilecouch prune osm/)
    assert.deepEqual([well.state, well.figures.doomed], ['ok', 0])
  })
})
