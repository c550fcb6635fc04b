// An edge: a gateway on a mirror, in this process and as a command.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { TIME_FACTOR, freePort, until } from '../../bench/wait.js'
import { isRunning } from '../../loader/formats/system.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { serve } from '../../server/serve.js'
import { resolveOptions } from '../../server/gateway/config.js'
import { mirrorMetricTable } from '../../server/gateway/mirror-metrics.js'
import { parseMetrics } from '../support/gateway/prometheus.js'
import { json, onEachStore, put } from '../support/backends.js'
import { serve as startServe } from '../support/command.js'
import { useFolder } from '../support/folder.js'
import { startServer } from '../support/server.js'
import { png } from '../support/tiles.js'
import { startLink } from '../mirror/link.js'
import { T1, T3, createOrigin, useEdges } from '../support/edges.js'

const SLOW = 60000 // milliseconds: a test starts processes or several edges
const WITHIN = 3000 // milliseconds until the edge shows a change of the origin

onEachStore('tilecouch serve --from, in this process', backend => {
  const folder = useFolder()
  const edges = useEdges()
  let from, origin
  before(async () => {
    from = await backend.database()
    origin = await createOrigin(from)
  })

  let storageCount = 0
  /** The storage of an edge, of the same kind as its origin. */
  const storage = async () => backend.name === 'embedded'
    ? { data: folder.path(`edge${storageCount++}`) } : { db: await backend.database() }
  const start = async flags => edges.start(from, { ...await storage(), ...flags })
  const version = (x, y, time, seed, layer = 'osm') =>
    ({ layer, z: 5, x, y, time, ...(seed === null ? { gone: true } : { bytes: png(seed) }) })

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
    const { rows: originRows } = await json(`${from}/_all_docs`)
    const isSelected = id => ['tilecouch', 'layer:osm'].includes(id) ||
      /^edition:osm@/.test(id) || /^osm:5:[01]:[0-9]$/.test(id)
    assert.deepEqual(ids.sort(), ['limits:osm', ...originRows.map(({ id }) => id).filter(isSelected)].sort())
    assert.ok(ids.some(id => id.startsWith('osm:')) && ids.length < originRows.length / 2)
    assert.equal((await edge.get('sea/5/0/0.png')).status, 404)
  })

  it('reports documents that its store refuses in /health and /metrics', async () => {
    const badUrl = await backend.database()
    await json(badUrl, { method: 'PUT' })
    await put(`${badUrl}/tilecouch`, { type: 'store', schema: 1 })
    await put(`${badUrl}/page`, { type: 'page' })
    const edge = await edges.start(badUrl, { ...await storage(), public: true })
    await edge.until()
    assert.equal((await edge.json('health')).mirror.refused, 1)
    const lacking = async () => parseMetrics(await edge.metrics())
      .get('tilecouch_mirror_lacking_revisions').samples[0].value
    assert.equal(await lacking(), 1)
    const { _rev: rev } = await json(`${badUrl}/page`)
    await put(`${badUrl}/page`, { _rev: rev, _deleted: true })
    await until(async () => await lacking() === 0, { what: 'nothing to be refused any more' })
  })

  it('reports its state in /health and /metrics for 1 and 2 workers; a gateway without a mirror does not', async () => {
    for (const workers of [1, 2]) {
      const edge = await start({ workers, layer: 'sea' })
      await edge.until()
      const { status, mirror } = await edge.json('health')
      assert.deepEqual([status, mirror.state, mirror.lag, mirror.pending, mirror.error],
        ['ok', 'following', 0, 0, undefined])
      assert.equal(mirror.from, origin.url)
      assert.ok(Date.now() - Date.parse(mirror.upToDate) < 5000)
      const metrics = parseMetrics(await edge.metrics())
      for (const { name, type } of Object.values(mirrorMetricTable)) assert.equal(metrics.get(name)?.type, type, name)
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
  }).timeout(SLOW)

  it('answers FILLING for everything that it lacks during its initial fill', async () => {
    const link = await startLink(from)
    edges.with(() => link.close())
    link.cut()
    const edge = await edges.start(link.url, { ...await storage(), workers: backend.name === 'embedded' ? 1 : 2 })
    const addresses =
      ['osm/5/1/0.png', 'osm@2022/5/1/0.png', 'osm.json', 'osm/5/1/0.json', 'osm/times.json?bbox=-180,-85,180,85&z=5']
    for (const address of addresses) {
      const { status, headers, body } = await edge.get(address)
      assert.deepEqual([status, JSON.parse(body.toString()).error], [503, 'FILLING'], address)
      assert.deepEqual([headers.get('cache-control'), headers.get('retry-after')], ['no-store', '5'])
    }
    const view = 'db/_design/versions/_view/by_tile?limit=1'
    assert.equal((await edge.get(view)).status, 503)
    await link.restore()
    await edge.until()
    assert.equal((await edge.get(view)).status, 200)
    await until(async () => (await Promise.all(addresses.map(address => edge.get(address))))
      .every(({ status }) => status === 200), { what: 'everything that was asked for' })
    assert.equal((await edge.get('osm/5/9/9.png')).status, 404, 'now it knows')
  }).timeout(SLOW)

  it('continues after a restart, and fetches only what changed', async () => {
    const link = await startLink(from)
    edges.with(() => link.close())
    const flags = await storage()
    const first = await edges.start(link.url, flags)
    await first.until()
    const { documents } = first.report.counts
    await first.close()
    const oldBytes = link.bytes.down
    await origin.write([version(2, 2, T3, 55)])
    const second = await edges.start(link.url, flags)
    await second.until()
    await until(async () => (await second.get('osm/5/2/2.png')).body.equals(png(55)),
      { timeout: WITHIN, what: 'what changed meanwhile' })
    assert.ok(documents > 30 && second.report.counts.documents <= 3,
      `${second.report.counts.documents} of ${documents} documents`)
    assert.ok(link.bytes.down - oldBytes < oldBytes / 3, `${link.bytes.down - oldBytes} bytes after ${oldBytes}`)
    assert.ok(second.turns.every(({ state }) => state !== 'away'))
  })

  it('refuses its own database, and a private origin unless --public is given', async () => {
    await assert.rejects(edges.start(from, { db: from }), { code: 'SAME_DATABASE' })
    const closedUrl = await backend.database()
    const store = await createOrigin(closedUrl, { side: 1, layers: ['osm'] })
    await store.secure({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['_admin'] } })
    const flags = await storage()
    await assert.rejects(edges.start(closedUrl, flags), { code: 'WOULD_BE_PUBLIC' })
    const edge = await edges.start(closedUrl, { ...flags, public: true })
    await edge.until()
    assert.equal((await edge.get(`osm@${T1}/5/0/0.png`)).status, 200)
    await edge.close()
  })

  /** Starts the command in its own process, which ends with the test. */
  function command (args, options) {
    const edge = startServe(args, options)
    edges.with(() => edge.stop())
    return edge
  }

  it('as a command prints working URLs, the mirrored part, store and origin, and no password', async () => {
    const edge = command(['--from', from, '--data', folder.path('edge'), '--zoom', '0-7', '--layer', 'osm'])
    const text = await edge.ready()
    for (const line of [/^ {2}Tiles +\S+\/osm\/\{z\}\/\{x\}\/\{y\}\.png$/m,
      /^ {2}Mirrored +osm; zoom 0-7$/m, /^ {2}Store +\S+, embedded, data in /m]) assert.match(text, line)
    assert.ok(text.includes(`  Origin    ${origin.url}\n`))
    const [template] = /\S+\{z\}\S+/.exec(text) ?? []
    await until(async () => (await fetch(String(template).replace('{z}/{x}/{y}', '5/0/0'))).status === 200,
      { what: 'a tile' })
    await until(() => edge.log().some(({ msg }) => msg === 'the mirror is up to date'),
      { what: 'a word of it in the log' })
    assert.equal(await edge.stop('SIGINT'), 0)
    for (const output of [edge.said.out, edge.said.err]) assert.doesNotMatch(output, /:test@|"test"/)
  }).timeout(SLOW)

  it('as a command prints JSON lines with --json, and leaves no process or lock on Ctrl-C', async () => {
    const data = folder.path('edge')
    const edge = command(['--from', from, '--data', data, '--workers', '2', '--json', '--set', 'viewer=false'],
      { group: true })
    const up = await edge.ready()
    assert.deepEqual([up.event, up.workers, up.embedded, up.from], ['up', 2, true, origin.url])
    const events = () => edge.said.out.split('\n').filter(Boolean).map(line => JSON.parse(line))
    const following = await until(() => events().find(({ event }) => event === 'following'),
      { timeout: 20000, what: 'to be up to date' })
    assert.deepEqual([following.mirror.state, following.mirror.lag < 60], ['following', true])
    const workers = edge.log().filter(({ worker }) => worker).map(({ pid }) => pid)
    assert.equal(new Set(workers).size, 2)
    process.kill(-Number(edge.child.pid), 'SIGINT') // as a terminal does: the whole group
    assert.equal(await edge.ended, 0)
    assert.deepEqual(workers.filter(isRunning), [])
    const store = await startEmbedded({ dir: data }) // the lock is free
    await store.close()
  }).timeout(SLOW)
})

describe('tilecouch serve --from a wrong origin', () => {
  const folder = useFolder()
  const edges = useEdges()

  /** @param {(req: any, res: any) => void} answer */
  const listen = async answer => {
    const { url, close } = await startServer(answer)
    edges.with(close)
    return `${url}/tiles`
  }
  const open = (from, flags) => edges.start(from, { data: folder.path('edge'), ...flags })

  it('reports bad options and does not start, and distinguishes a web page from a store', async () => {
    await assert.rejects(open(null, { layer: 'osm' }), { code: 'BAD_OPTION' })
    for (const from of ['file:///etc/passwd', 'http://', 'http://user:secret1@h:0x/../', '../../etc/passwd']) {
      await assert.rejects(open(from), error => error.code === 'BAD_DATABASE' && !error.message.includes('secret1'),
        from)
    }
    const faulty = { BAD_LAYER: { layer: '../osm' }, SOURCE_NOT_FOUND: { polygon: 'berlin' }, BAD_BBOX: { bbox: '1,2' },
      BAD_TIME: { since: 'yesterday' }, BAD_ZOOM: { zoom: '9-3' } }
    for (const [code, flags] of Object.entries(faulty)) {
      await assert.rejects(open('http://127.0.0.1:1/tiles', flags), { code })
    }
    assert.deepEqual(readdirSync(folder.dir).filter(name => name !== 'edge'), [])
    const pages = await listen((req, res) => res.setHeader('content-type', 'text/html').end('<html>Welcome</html>'))
    const otherAnswers =
      await listen((req, res) => res.setHeader('content-type', 'application/json').end('{"hello": "world"}'))
    for (const from of [pages, otherAnswers]) await assert.rejects(open(from), { code: 'BAD_ANSWER' }, from)
    const missing = await listen((req, res) => res.writeHead(404, { 'content-type': 'application/json' })
      .end('{"error": "not_found", "reason": "Database does not exist."}'))
    await assert.rejects(open(missing), { code: 'SOURCE_NOT_FOUND' })
  })

  it('waits for an origin that is down or does not answer, and serves meanwhile', async () => {
    for (const from of [`http://127.0.0.1:${await freePort()}/tiles`, await listen(() => {})]) {
      const edge = await open(from)
      assert.equal(edge.report.lag, null)
      assert.equal((await edge.get('osm/0/0/0.png')).status, 503)
      await edge.close()
    }
  }).timeout(SLOW)
})
