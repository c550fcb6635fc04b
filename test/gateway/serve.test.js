// Tests of the command `tilecouch serve`, which they run as a process.
import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import path from 'node:path'
import { until } from '../../bench/wait.js'
import { findEmbedded } from '../../loader/store/embedded.js'
import { Store, publish } from '../../loader/index.js'
import { isPublic } from '../../loader/maintain/mirror/sides.js'
import { resolveOptions } from '../../server/gateway/config.js'
import { serve as serveHere } from '../../server/serve.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { startServer } from '../support/server.js'
import { png } from '../support/tiles.js'
import { parseMetrics } from '../support/gateway/prometheus.js'
import { serve } from '../support/command.js'
import { useGateway } from '../support/gateway/stand.js'

const SLOW = 90000 // milliseconds; each test starts one or more processes
const BARE = ['--set', 'viewer=false'] // each process would build the viewer again, which is slow

const running = []
const start = (args, options) => {
  const serving = serve(args, options)
  running.push(serving)
  return serving
}
const stopAll = () => Promise.all(running.splice(0).map(serving => serving.stop()))

const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

onEachStore('tilecouch serve', backend => {
  const fixture = useGateway(backend, {
    options: null,
    async fill (store) {
      await store.defineLayer('osm', { name: 'OSM', format: 'png' })
      for (const [time, seed] of [[T1, 1], [T2, 2]]) {
        await store.write([{ layer: 'osm', z: 3, x: 1, y: 2, time, bytes: png(seed) }])
      }
      await store.putEdition('osm', T1, { title: 'First' })
    }
  })
  afterEach(stopAll)

  it('prints addresses that answer', async () => {
    const serving = start(['--db', fixture.url, '--ops-port', '0'])
    const text = await serving.ready()
    const address = name => new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(text)?.[1] ?? assert.fail(`${name} in ${text}`)
    const tileUrl = template => template.replace('{z}/{x}/{y}', '3/1/2')
    const get = async link => {
      const answer = await fetch(link)
      return [answer.status, answer.headers.get('content-type')]
    }
    assert.match(address('Tiles'), /\/osm\/\{z\}\/\{x\}\/\{y\}\.png$/)
    assert.match(address('As of'), /\/osm@2023-01-01T00:00:00Z\//)
    assert.deepEqual(await get(tileUrl(address('Tiles'))), [200, 'image/png'])
    assert.deepEqual(Buffer.from(await (await fetch(tileUrl(address('As of')))).arrayBuffer()), png(1))
    assert.match(String(await get(address('Viewer'))), /^200,text\/html/)
    assert.match(String(await get(address('WMTS'))), /^200,application\/xml/)
    assert.deepEqual(await get(address('Health')), [200, 'application/json'])
    assert.match(String(await get(address('Metrics'))), /^200,text\/plain/)
    assert.doesNotMatch(text, /embedded/)
    const metrics = parseMetrics(await (await fetch(address('Metrics'))).text())
    const sum = name => metrics.get(name).samples.reduce((total, { value }) => total + value, 0)
    assert.ok(sum('tilecouch_cache_bytes') > png(2).length)
    assert.ok(sum('tilecouch_store_reads_total') >= sum('tilecouch_store_batches_total') &&
      sum('tilecouch_store_batches_total') > 0)
    assert.deepEqual([sum('tilecouch_cache_limit_bytes'), metrics.has('tilecouch_follower_up')], [256e6, true])
  })

  it('prints one JSON object for programs, and ends with 0 on Ctrl-C and on SIGTERM', async () => {
    const signals = ['SIGINT', 'SIGTERM']
    const servings = signals.map(() => start(['--db', fixture.url, '--json', '--ops-port', '0', ...BARE]))
    for (const [index, serving] of servings.entries()) {
      const value = await serving.ready()
      const { pathname } = new URL(fixture.url)
      assert.deepEqual([value.embedded, value.workers, new URL(value.db).pathname], [false, 1, pathname])
      assert.notEqual(new URL(value.metrics).port, new URL(value.tiles).port)
      assert.equal((await fetch(new URL('metrics', value.url))).status, 404)
      assert.equal((await fetch(value.metrics)).status, 200)
      assert.equal(await serving.stop(signals[index]), 0)
      for (const line of serving.said.err.split('\n').filter(Boolean)) assert.doesNotThrow(() => JSON.parse(line), line)
    }
  }).timeout(SLOW)

  it('serves with several workers, adds up their metrics, and ends them together', async () => {
    const args =
      ['--db', fixture.url, '--workers', '2', '--ops-port', '0', '--json', '--set', 'accessLog=true', ...BARE]
    const serving = start(args, { group: true })
    const { tiles, metrics, health, workers } = await serving.ready()
    assert.equal(workers, 2)
    const tile = tiles.replace('{z}/{x}/{y}', '3/1/2')
    const tags = new Set()
    let requestCount = 0
    const workersThatAnswered =
      () => new Set(serving.log().filter(({ msg }) => msg === 'request').map(({ worker }) => worker))
    await until(async () => {
      const answer = await fetch(tile, { headers: { connection: 'close' } })
      requestCount++
      tags.add(answer.headers.get('etag'))
      await answer.arrayBuffer()
      return workersThatAnswered().size === 2
    })
    assert.equal(tags.size, 1)
    const samples = parseMetrics(await (await fetch(metrics)).text()).get('tilecouch_requests_total').samples
    assert.equal(samples.filter(({ labels }) => labels.layer === 'osm').reduce((sum, { value }) => sum + value, 0),
      requestCount)
    const { status, ...state } = await (await fetch(health)).json()
    assert.deepEqual([status, state.workers], ['ok', { ready: 2, wanted: 2 }])
    // a shell sends Ctrl-C to the whole process group
    process.kill(-serving.child.pid, 'SIGINT')
    assert.equal(await serving.ended, 0)
    assert.deepEqual(serving.log().filter(({ level }) => level !== 'info'), [])
  }).timeout(SLOW)

  it('refuses to show a private store to everybody unless an option allows it', async () => {
    const url = await backend.database()
    const store = await Store.create(url, { public: false, closed: true })
    await store.defineLayer('osm', { format: 'png' })
    await publish(store)
    assert.equal(await isPublic(store.couch), false)
    const open = flags => serveHere(resolveOptions({ flags: { db: url, port: 0, logLevel: 'silent', ...flags } }))
    await assert.rejects(open({ host: '0.0.0.0' }), ({ code, message, advice }) => {
      assert.equal(code, 'WOULD_BE_PUBLIC')
      assert.match(message, /this gateway is public, but \S+ is private/)
      assert.match(advice, /--set public=true/)
      assert.doesNotMatch(message, /:[^/@\s]+@/)
      return true
    })
    for (const flags of [{ public: true }, { privateLayers: '*' }, { privateLayers: 'osm' }]) {
      await (await open({ ...flags, host: '0.0.0.0' })).close()
    }
  }).timeout(SLOW)

  if (backend.supports.users) {
    it('prints the password of its CouchDB nowhere, even with trace logs', async () => {
      const { username, password } = new URL(fixture.url)
      const fromOption =
        start(['--db', fixture.url, '--json', '--set', 'logLevel=trace', '--set', 'accessLog=true', ...BARE])
      const env =
        { COUCHDB_URL: fixture.url.replace(/\/\/.*@/, '//'), COUCHDB_USER: username, COUCHDB_PASSWORD: password }
      const fromEnvironment = start(['--json', '--set', 'logLevel=trace', ...BARE], { env })
      for (const serving of [fromOption, fromEnvironment]) {
        const { tiles } = await serving.ready()
        assert.equal((await fetch(tiles.replace('{z}/{x}/{y}', '3/1/2'))).status, 200)
        await serving.stop()
        assert.ok(serving.said.err.length > 0)
        for (const text of [serving.said.out, serving.said.err]) {
          for (const secret of [`:${password}@`, btoa(`${username}:${password}`)]) {
            assert.ok(!text.includes(secret), text)
          }
        }
      }
    }).timeout(SLOW)
  }
})

describe('tilecouch serve', () => {
  const folder = useFolder()
  afterEach(stopAll)

  it('opens the embedded store when no CouchDB is named, makes it when it is new, and closes it', async () => {
    const data = path.join(folder.dir, 'data')
    for (let round = 0; round < 2; round++) {
      const isNew = round === 0
      const serving = start(['--data', data, '--json', ...isNew ? [] : BARE])
      const { embedded, health, viewer } = await serving.ready()
      assert.equal(embedded, true)
      assert.ok(await findEmbedded(data))
      assert.equal((await fetch(health)).status, 200)
      assert.equal((await fetch(viewer)).status, isNew ? 200 : 404)
      assert.equal(await serving.stop(), 0)
      // another server may have taken its port
      assert.equal(await findEmbedded(data), null)
    }
  }).timeout(SLOW)

  it('takes its options from the file and the environment, and warns of a world-readable secret', async () => {
    const settings = {
      data: path.join(folder.dir, 'data'), viewer: false,
      upstreamHeaders: { 'a.example': { 'X-Key': 'hunter2hunter2' } }
    }
    const config = path.join(folder.write({ 'g.json': JSON.stringify(settings) }), 'g.json')
    chmodSync(config, 0o644)
    const serving = start(['--json'],
      { env: { TILECOUCH_CONFIG: config, TILECOUCH_PUBLIC_URL: 'https://maps.example.org/x', TILECOUCH_MEMROY: '1' } })
    const value = await serving.ready()
    assert.equal(value.tiles, 'https://maps.example.org/x/LAYER/{z}/{x}/{y}.png')
    assert.equal((await fetch(`http://127.0.0.1:${value.port}/`)).status, 404)
    const warnings = serving.log().filter(({ level }) => level === 'warn').map(({ msg }) => msg)
    assert.equal(warnings.length, 2, String(warnings))
    assert.match(warnings[0], /chmod 640/)
    assert.match(warnings[1], /TILECOUCH_MEMROY/)
    await serving.stop()
    assert.doesNotMatch(serving.said.out + serving.said.err, /hunter2/)
  })

  it('ends with 1 and names the port when it is taken, with one process and with several', async () => {
    const { port, close } = await startServer(() => {})
    const servings = ['1', '2'].map(workers => start(
      ['--data', path.join(folder.dir, workers), '--port', String(port), '--workers', workers]
    ))
    for (const taken of servings) {
      assert.equal(await taken.ended, 1)
      assert.match(taken.said.err, new RegExp(`^tilecouch: port ${port} is taken \\[PORT_IN_USE\\]$`, 'm'))
      assert.equal(taken.said.out, '')
    }
    await close()
  })

  it('starts while its CouchDB does not answer, and answers 503 at /health', async () => {
    const serving = start(['--db', 'http://me:hunter2hunter2@127.0.0.1:9/tiles', ...BARE])
    const text = await serving.ready()
    const [, health] = /^ {2}Health +(\S+)$/m.exec(text) ?? assert.fail(text)
    assert.equal((await fetch(health)).status, 503)
    assert.doesNotMatch(text, /Metrics|Viewer/)
    assert.equal((await fetch(new URL('/metrics', health))).status, 404, 'clients do not see the metrics')
    assert.equal(await serving.stop(), 0)
    assert.doesNotMatch(serving.said.out + serving.said.err, /hunter2/)
  })
})
