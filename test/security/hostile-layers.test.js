// Tests a store without validation in which hostile documents of layers stand beside one good layer. They harm no
// command and no gateway, the good layer stays unchanged, and checks name each of them.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { LayerStatements } from '../../core/store/statements.js'
import { faultInRecord } from '../../core/store/records.js'
import { check } from '../../loader/check/index.js'
import { copyLayer } from '../../loader/maintain/copy/index.js'
import { diff } from '../../loader/export/diff/index.js'
import { doctor } from '../../loader/check/doctor/index.js'
import { expire } from '../../loader/maintain/expired/index.js'
import { exportLayer } from '../../loader/export/index.js'
import { load } from '../../loader/load/index.js'
import { upgrade } from '../../loader/check/upgrade.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { prune, pruneAll } from '../../loader/maintain/prune/index.js'
import { warmIndexes } from '../../loader/couchapp/publish.js'
import { removeLayer } from '../../loader/maintain/remove/index.js'
import { resolve } from '../../loader/check/conflicts.js'
import { Store } from '../../loader/store/index.js'
import { createLog } from '../../server/gateway/log.js'
import { startGateway } from '../../server/gateway/index.js'
import { until } from '../../bench/wait.js'
import { onEachStore, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { hostileDocuments, plant } from '../support/hostile-documents.js'
import { memorySource } from '../support/memory-source.js'
import { publishFunctions } from '../support/published.js'

const [T1, T2] = ['2021-01-01T00:00:00Z', '2023-01-01T00:00:00Z']
const HOSTILE = [...hostileDocuments(5, { kinds: ['layer'] }),
  ...hostileDocuments(7, { kinds: ['edition', 'manifest', 'removed', 'block'], layer: 'good' })]
const LAYERS = HOSTILE.filter(({ type }) => type === 'layer')

/** Creates a store with a good layer in two editions. */
async function fill (url) {
  const store = await Store.create(url)
  await load(store, memorySource({ '3/1/1': 1, '3/2/2': 2, '7/100/1': 3 }), { layer: 'good', time: T1, complete: true })
  await load(store, memorySource({ '3/1/1': 4, '3/2/2': 2 }), { layer: 'good', time: T2 })
  await store.defineLayer('good', { name: 'Good', attribution: '© people', retention: { last: 100 } })
  await publishFunctions(store)
  return store
}

const WMTS = 'wmts?SERVICE=WMTS&REQUEST=GetCapabilities'
const TILE = 'SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=good&STYLE=default&FORMAT=image/png'
const PATHS = [
  'good.json', 'good@2021.json', 'good/3/1/1.png', 'good@2021/3/1/1.png',
  'good/3/1/1.json', 'good/times.json', 'good/times.json?z=3', 'good/times.json?z=3&bbox=-180,-85,180,85', WMTS,
  'wmts/1.0.0/WMTSCapabilities.xml',
  `wmts?${TILE}&TILEMATRIXSET=GoogleMapsCompatible_Level7&TILEMATRIX=3&TILEROW=1&TILECOL=1`,
  'db/layer%3Agood', 'h3.json', 'h3/3/1/1.png', 'h3/times.json'
]

/**
 * Answers of a gateway, without its URL and without times: the ids of editions alone give their times.
 */
async function answersOf ({ url }) {
  const answers = {}
  for (const address of PATHS) {
    const response = await fetch(`${url}/${address}`)
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
    answers[address] = `${response.status} ${text.replaceAll(url, '').replace(/<Value>[^<]*<\/Value>\s*/g, '')}`
  }
  return answers
}

onEachStore('hostile documents of layers in a store without validation', function (backend) {
  let store, url, answersBefore
  before(async function () {
    this.timeout(120000)
    url = await backend.database()
    store = await fill(url)
    const gateway = await startGateway({ db: url, port: 0, grace: 0, logLevel: 'silent' })
    answersBefore = await answersOf(gateway)
    await gateway.close()
    await plant(store, HOSTILE)
    // a gateway waits only five seconds for the index, and a busy machine takes longer to index the new documents
    await warmIndexes(store)
  })
  after(() => store.destroy())

  it('are ignored by a gateway, which logs each at most once and answers as before', async function () {
    this.timeout(120000)
    // each of these documents alone stopped a gateway
    assert.ok(LAYERS.some(({ maxzoom }) => maxzoom === 4e9) &&
      LAYERS.some(({ bounds }) => JSON.stringify(bounds) === '{}'))
    const { rss } = process.memoryUsage()
    const lines = []
    const log = createLog({ destination: { write: line => { lines.push(JSON.parse(line)) } } })
    const gateway = await startGateway({ db: url, port: 0, grace: 0 }, { log })
    try {
      assert.match(answersBefore['good.json'], /^200 /)
      assert.match(answersBefore[WMTS], /^200 .*<ows:Identifier>good/s)
      assert.match(answersBefore['h3.json'], /^404 /)
      assert.deepEqual(await answersOf(gateway), answersBefore)
      assert.ok(process.memoryUsage().rss - rss < 512e6, 'memory is bounded')
      const namedLines = () => lines.filter(({ document }) => document)
      assert.equal(namedLines().length, 20)
      assert.ok(namedLines().every(({ document, reason }) => LAYERS.some(doc => doc._id === document) && reason))
      assert.equal(lines.find(({ count }) => count)?.count, LAYERS.length - 20)
      const { length } = lines.filter(({ document, count }) => document || count)
      await store.couch.update('layer:good', doc => ({ ...doc, name: 'Better' }))
      await until(async () => (await (await fetch(`${gateway.url}/good.json`)).json()).name === 'Better')
      await store.couch.update('layer:good', doc => ({ ...doc, name: 'Good' }))
      await until(async () => (await (await fetch(`${gateway.url}/good.json`)).json()).name === 'Good')
      assert.equal(lines.filter(({ document, count }) => document || count).length, length, 'each is named once')
    } finally {
      await gateway.close()
    }
  })

  it('are skipped in lists, and refused when requested by name', async function () {
    this.timeout(120000)
    assert.deepEqual((await store.layers()).map(({ layer }) => layer), ['good'])
    assert.deepEqual((await store.editions('good')).map(({ time }) => time), [T1, T2])
    await Promise.all(LAYERS.filter(({ layer }) => /^h\d+$/.test(layer))
      .slice(0, 60).map(({ layer }) => assert.rejects(store.layer(layer), { code: 'BAD_DOCUMENT' })))
    for (const doc of HOSTILE.filter(({ type }) => type === 'edition').slice(0, 10)) {
      assert.equal(await store.edition('good', doc._id.slice('edition:good@'.length)), undefined)
    }
    for (const command of ['info', 'info good', 'info good@2021', 'info good 3/1/1', 'diff good@2021 good']) {
      const { code, out, err } = await runCommand([...command.split(' '), '--db', url])
      assert.equal(code, command.startsWith('diff') ? code : 0, err)
      assert.doesNotMatch(out, /\bh\d+\b/)
    }
  })

  it('are faults, not statements about tiles', async function () {
    this.timeout(60000)
    const statements = new LayerStatements(store.couch, 'good')
    await statements.open()
    assert.deepEqual([statements.manifests.length, statements.removals.length], [2, 0])
    const records = HOSTILE.filter(({ type }) => type === 'manifest' || type === 'removed')
    const faulty = records.filter(({ _id }) => statements.faults.has(_id))
    assert.ok(faulty.length > records.length * 0.9)
    assert.ok(faulty.every(doc => faultInRecord(doc)?.slice(0, 9) === statements.faults.get(doc._id)?.slice(0, 9)))
    assert.deepEqual((await store.coverage('good', T1)).byZoom.map(({ z, tiles }) => [z, tiles]), [[3, 2], [7, 1]])
  })

  it('are named by the doctor', async function () {
    this.timeout(60000)
    const { findings } = await doctor(url, { limits: { layers: 10_000, editions: 10_000 } })
    const byCheck = Object.fromEntries(
      findings.map(({ check: name, state, found: text, figures }) => [name, { state, text, figures }])
    )
    assert.deepEqual([byCheck['documents of layers'].state, byCheck['documents of layers'].figures.invalid],
      ['bad', LAYERS.length])
    assert.match(byCheck['documents of layers'].text, /layer documents not valid: layer:\S+: /)
    assert.deepEqual([byCheck['good: editions'].state, byCheck['good: editions'].figures.invalid],
      ['bad', HOSTILE.filter(({ type }) => type === 'edition').length])
    assert.equal(byCheck['good: retention'].state, 'ok')
  })

  it('are named by the check of a layer and of the store', async function () {
    this.timeout(240000)
    const reports = { verify: [], check: [] }
    await check({ store, layer: 'good' }, { onFinding: finding => { reports.verify.push(finding) } })
    await check(store, { onFinding: finding => { reports.check.push(finding) } })
    for (const findings of Object.values(reports)) {
      const where = code => new Set(findings.filter(finding => finding.code === code).map(finding => finding.where))
      assert.equal(where('bad-edition').size, HOSTILE.filter(({ type }) => type === 'edition').length)
      assert.equal(where('bad-style').size, HOSTILE.filter(({ type }) => type === 'style').length)
      assert.equal(where('block-damaged').size, HOSTILE.filter(({ type }) => type === 'block').length)
      assert.ok(where('bad-manifest').size > 100 && where('bad-removal').size > 100)
      assert.deepEqual(findings.filter(({ where: id, level }) => level === 'fault' && /^good:/.test(id)),
        [], 'the tiles are as they should be')
    }
    const namedIds = new Set(reports.check.filter(({ code }) => code === 'bad-layer').map(({ where }) => where))
    for (const { _id } of LAYERS) assert.ok(namedIds.has(_id), _id)
  })

  it('harm no export, copy, comparison, pruning, refreshing, migration or settling', async function () {
    this.timeout(240000)
    const folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-hostile-'))
    try {
      assert.equal((await exportLayer(store, 'good', path.join(folder, 'good.mbtiles'), {})).tiles, 3)
      assert.equal((await exportLayer(store, 'good', path.join(folder, 'then'), { time: T1 })).tiles, 3)
      await assert.rejects(exportLayer(store, 'h3', path.join(folder, 'h3'), {}),
        { code: /BAD_DOCUMENT|NOTHING_TO_EXPORT/ })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    assert.ok(await diff(store, 'good@2021', 'good', {}))
    assert.equal((await expire(store, { action: 'list' })).expired, 0)
    const { layers, failed } = await pruneAll(store, { compact: 'never' })
    assert.deepEqual([layers.map(({ layer }) => layer), failed], [['good'], []])
    await prune(store, 'good', { dryRun: true })
    await resolve(store, {})
    await upgrade(store, { dryRun: true })
    const gateway = await startGateway({ db: url, port: 0, grace: 0, logLevel: 'silent' })
    const { 'good.json': _, ...answersNow } = await answersOf(gateway)
    await gateway.close()
    for (
      const address of PATHS.filter(name => name.includes('png') || name.includes('times') || name.endsWith('1/1.json'))
    ) assert.equal(answersNow[address], answersBefore[address], address)
    const copied = await copyLayer(store, 'good', 'copy', {})
    assert.deepEqual([copied.versions > 2, copied.failed], [true, 0])
    assert.deepEqual((await store.versions('copy', 3, 1, 1)).map(({ time }) => time), [T1, T2])
    await removeLayer(store, 'copy')
  })

  it('do not get into a mirror that validates', async function () {
    this.timeout(240000)
    const to = await backend.database()
    try {
      const { refused } = await mirror(url, to, {})
      assert.ok(refused > HOSTILE.length * 0.9, String(refused))
      const mirrorStore = await Store.open(to)
      assert.deepEqual((await mirrorStore.layers()).map(({ layer }) => layer), ['good'])
      assert.equal((await mirrorStore.head('good', 3, 1, 1)).size, (await store.head('good', 3, 1, 1)).size)
      const { rows } = await mirrorStore.couch.request({ path: '_all_docs' })
      const ids = new Set(rows.map(({ id }) => id))
      assert.deepEqual(HOSTILE.filter(({ _id }) => ids.has(_id)).map(({ _id }) => _id), [])
    } finally {
      await request(to, { method: 'DELETE' })
    }
  })

  it('are removed together with their layer', async function () {
    this.timeout(240000)
    await removeLayer(store, 'good')
    const { rows } = await store.couch.request({ path: '_all_docs', qs: { startkey: 'edition:', endkey: 'edition;' } })
    assert.deepEqual(rows.filter(({ id }) => id.startsWith('edition:good@')), [])
    for (const prefix of ['manifest:good@', 'removed:good:', 'block:good:', 'layer:good', 'good:']) {
      const left = await store.couch.request({ path: '_all_docs', qs: { startkey: prefix, endkey: `${prefix}~` } })
      assert.deepEqual(left.rows, [], prefix)
    }
  })
})
