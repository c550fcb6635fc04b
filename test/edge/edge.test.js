import assert from 'node:assert/strict'
import path from 'node:path'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { serve } from '../../server/serve.js'
import { resolveOptions } from '../../server/gateway/config.js'
import { mirrorMetricTable } from '../../server/gateway/mirror-metrics.js'
import { parseMetrics } from '../support/gateway/prometheus.js'
import { json, onEachStore, put } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { startLink } from '../mirror/link.js'
import { T1, T3, fill, useEdges } from '../support/edges.js'

const WITHIN = 3000 // milliseconds until what changes at the origin is shown by the edge

onEachStore('tilecouch serve --from, in this process', backend => {
  const folder = useFolder()
  const edges = useEdges()
  let from, origin
  before(async () => {
    from = await backend.database()
    origin = await fill(from)
  })

  let made = 0
  /** The store of an edge is of the same kind as its origin. */
  const storage = async () => backend.name === 'embedded'
    ? { data: path.join(folder.dir, `edge${made++}`) } : { db: await backend.database() }
  const start = async flags => edges.start(from, { ...await storage(), ...flags })
  const version = (x, y, time, seed, layer = 'osm') => (
    { layer, z: 5, x, y, time, ...(seed === null ? { gone: true } : { bytes: png(seed) }) }
  )

  it('serves the tiles of its origin, now and as of any time, and soon its changes', async () => {
    const edge = await start()
    await edge.until()
    assert.deepEqual((await edge.get('osm/5/1/0.png')).body, png(1010))
    assert.deepEqual((await edge.get('osm@2022/5/1/0.png')).body, png(10))
    assert.equal((await edge.get('osm/5/9/9.png')).status, 404)
    assert.equal((await edge.json('osm.json')).name, 'OSM')
    assert.equal((await edge.json('osm/5/1/0.json')).versions.length, 2)
    assert.ok((await edge.json('osm/times.json?bbox=-180,-85,180,85&z=5')).times.length, 'the time index is there')

    await origin.write([version(0, 0, T3, 77), version(0, 1, T3, null)])
    const started = performance.now()
    await until(async () => (await edge.get('osm/5/0/0.png')).body.equals(png(77)),
      { timeout: WITHIN, what: 'a new version at the edge' })
    await until(async () => (await edge.get('osm/5/0/1.png')).status === 404,
      { timeout: WITHIN, what: 'a tile that is gone at the edge' })
    assert.ok(performance.now() - started < WITHIN * TIME_FACTOR)
    assert.deepEqual((await edge.get('osm@2022/5/0/0.png')).body, png(0))
  })

  it('holds only the selected part of its origin', async () => {
    const store = await storage()
    const edge = await edges.start(from, { ...store, layer: 'osm', zoom: '5', bbox: '-180,60,-160,85', current: true })
    await edge.until()
    const { rows } = await json(`${store.store ?? edge.running.store}/_all_docs`)
    const ids = rows.map(({ id }) => id).filter(id => !id.startsWith('_design/'))
    const { rows: all } = await json(`${from}/_all_docs`)
    const isWanted = id => ['tilecouch', 'layer:osm'].includes(id) ||
      /^edition:osm@/.test(id) || /^osm:5:[01]:[0-9]$/.test(id)
    assert.deepEqual(ids.sort(), ['limits:osm', ...all.map(({ id }) => id).filter(isWanted)].sort())
    assert.ok(ids.some(id => id.startsWith('osm:')) && ids.length < all.length / 2)
    assert.equal((await edge.get('sea/5/0/0.png')).status, 404)
  })

  it('reports documents that its store refuses in /health and /metrics', async () => {
    const bad = await backend.database()
    await json(bad, { method: 'PUT' })
    await put(`${bad}/tilecouch`, { type: 'store', schema: 1 })
    await put(`${bad}/page`, { type: 'page' })
    const edge = await edges.start(bad, { ...await storage(), public: true })
    await edge.until()
    assert.equal((await edge.json('health')).mirror.refused, 1)
    const lacking = async () => parseMetrics(await edge.metrics())
      .get('tilecouch_mirror_lacking_revisions').samples[0].value
    assert.equal(await lacking(), 1)
    const { _rev: rev } = await json(`${bad}/page`)
    await put(`${bad}/page`, { _rev: rev, _deleted: true })
    await until(async () => await lacking() === 0, { what: 'nothing to be refused any more' })
  })

  it('reports its state in /health and /metrics for 1 and 2 workers; a gateway without a mirror does not', async () => {
    const names = Object.values(mirrorMetricTable).map(({ name }) => name)
    for (const workers of [1, 2]) {
      const edge = await start({ workers, layer: 'sea' })
      await edge.until()
      const { status, mirror } = await edge.json('health')
      assert.deepEqual([status, mirror.state, mirror.lag, mirror.pending, mirror.error],
        ['ok', 'following', 0, 0, undefined])
      assert.equal(mirror.from, origin.url)
      assert.ok(Date.now() - Date.parse(mirror.upToDate) < 5000)
      const metrics = parseMetrics(await edge.metrics())
      for (const name of names) {
        assert.equal(metrics.get(name)?.type, Object.values(mirrorMetricTable).find(row => row.name === name)?.type,
          name)
      }
      const value = (name, labels = {}) => metrics.get(name)
        .samples.filter(sample => Object.entries(labels).every(([key, label]) => sample.labels[key] === label))
          .map(sample => sample.value)
      assert.deepEqual(value('tilecouch_mirror_state', { state: 'following' }), [1])
      assert.deepEqual(value('tilecouch_mirror_lag_seconds'), [0])
      assert.deepEqual(value('tilecouch_mirror_documents_total'), [edge.report.counts.documents])
      assert.ok(edge.report.counts.documents >= 16, JSON.stringify(edge.report))
      assert.deepEqual(value('tilecouch_mirror_bytes_total'), [edge.report.counts.bytes])
      assert.ok(edge.report.counts.bytes > 16 * png(1).length, JSON.stringify(edge.report))
      assert.ok(Math.abs(value('tilecouch_mirror_last_success_timestamp_seconds')[0] - Date.now() / 1000) < 5)
      await edge.close()
    }
    const gateway = await serve(resolveOptions({ flags: { db: from, port: 0, logLevel: 'silent', opsPort: 0 } }))
    try {
      assert.doesNotMatch(await (await fetch(gateway.metrics)).text(), /mirror/)
      assert.equal((await (await fetch(gateway.health)).json()).mirror, undefined)
    } finally {
      await gateway.close()
    }
  }).timeout(60000)

  it('answers FILLING for everything that it lacks during its initial fill', async () => {
    const link = await startLink(from)
    edges.with(() => link.close())
    link.cut()
    const edge = await edges.start(link.url, { ...await storage(), workers: backend.name === 'embedded' ? 1 : 2 })
    const asked =
      ['osm/5/1/0.png', 'osm@2022/5/1/0.png', 'osm.json', 'osm/5/1/0.json', 'osm/times.json?bbox=-180,-85,180,85&z=5']
    for (const address of asked) {
      const { status, headers, body } = await edge.get(address)
      assert.deepEqual([status, JSON.parse(body.toString()).error], [503, 'FILLING'], address)
      assert.deepEqual([headers.get('cache-control'), headers.get('retry-after')], ['no-store', '5'])
    }
    const view = 'db/_design/versions/_view/by_tile?limit=1'
    assert.equal((await edge.get(view)).status, 503)
    await link.restore()
    await edge.until()
    assert.equal((await edge.get(view)).status, 200)
    await until(async () => (await Promise.all(asked.map(address => edge.get(address))))
      .every(({ status }) => status === 200), { what: 'everything that was asked for' })
    assert.equal((await edge.get('osm/5/9/9.png')).status, 404, 'now it knows')
  }).timeout(60000)

  it('continues after a restart, and fetches only what changed', async () => {
    const link = await startLink(from)
    edges.with(() => link.close())
    const flags = await storage()
    const first = await edges.start(link.url, flags)
    await first.until()
    const { documents } = first.report.counts
    await first.close()
    const whole = link.bytes.down
    await origin.write([version(2, 2, T3, 55)])
    const second = await edges.start(link.url, flags)
    await second.until()
    await until(async () => (await second.get('osm/5/2/2.png')).body.equals(png(55)),
      { timeout: WITHIN, what: 'what changed meanwhile' })
    assert.ok(documents > 30 && second.report.counts.documents <= 3,
      `${second.report.counts.documents} of ${documents} documents`)
    assert.ok(link.bytes.down - whole < whole / 3, `${link.bytes.down - whole} bytes after ${whole}`)
    assert.ok(second.turns.every(({ state }) => state !== 'away'))
  })

  it('refuses its own database, and a private origin unless --public is given', async () => {
    await assert.rejects(edges.start(from, { db: from }), { code: 'SAME_DATABASE' })
    const closed = await backend.database()
    const store = await fill(closed, { side: 1, layers: ['osm'] })
    await store.secure({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['_admin'] } })
    const flags = await storage()
    await assert.rejects(edges.start(closed, flags), { code: 'WOULD_BE_PUBLIC' })
    const edge = await edges.start(closed, { ...flags, public: true })
    await edge.until()
    assert.equal((await edge.get(`osm@${T1}/5/0/0.png`)).status, 200)
    await edge.close()
  })
})
