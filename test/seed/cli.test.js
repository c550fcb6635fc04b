// tilecouch seed on the command line: a separate process, which is stopped, killed and run again.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { Store, parseArea, seed } from '../../loader/index.js'
import { until } from '../../bench/wait.js'
import { json, onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { checkInvariants } from '../support/invariants.js'
import { counts, pyramid, useSeeding, QUICK, TILE } from '../support/seeding.js'
import { startCommand } from '../support/command.js'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { LOOPBACK, startUpstream } from '../support/upstream-server.js'

const WORLD = ['--bbox', '-180,-85,180,85']
const WHERE = ['--upstream-networks', '127.0.0.1']

onEachStore('tilecouch seed', backend => {
  const map = useSeeding(backend)
  const folder = useFolder()
  const lines = name => readFileSync(folder.path(name), 'utf8').split('\n').filter(Boolean)
    .map(line => JSON.parse(line))

  const start = (argv, env) => startCommand(['seed', 'map', ...argv, ...WHERE, '--db', map.url], { env })

  /** Runs a seed in this process, for tests without signals. */
  const run = argv => runCommand(['seed', 'map', ...argv, ...WHERE, '--db', map.url])

  it('prints its plan and its result, and exits with 0', async () => {
    await map.define()
    const { code, out, err } = await run([...WORLD, '--zoom', '0-3'])
    assert.equal(code, 0, err)
    assert.match(err, /^map: 85 tiles, of unknown size/)
    assert.match(err, /zoom {2}tiles\s+about\n\s+0\s+1\s+unknown/)
    assert.match(out, /^map: 85 of 85 tiles in /)
    assert.match(out, /85 fetched: 85 new, 0 changed/)
    assert.equal((await map.tiles()).length, 85)
  })

  it('continues after it was killed, and loses no tile', async () => {
    await map.define()
    // the first run is killed in the middle: some tiles are stored, some fetched, some requested
    map.upstream.behave({ never: () => map.asked().length > 280 })
    const argv = [...WORLD, '--zoom', '0-4', '--json']
    const first = start(argv)
    await until(async () => map.upstream.inFlight === 4 && (await json(map.url)).doc_count > 200,
      { timeout: 30000, what: 'some tiles' })
    first.child.kill('SIGKILL')
    await first.ended
    const stored = (await map.tiles()).length
    assert.ok(stored > 190 && stored < pyramid(4), `${stored} tiles stored`)
    await checkInvariants(map.url, { settled: false })

    map.upstream.behave()
    map.forget()
    const { code, out } = await run(argv)
    assert.equal(code, 0)
    assert.deepEqual(counts(JSON.parse(out)),
      { tiles: pyramid(4), fresh: stored, fetched: pyramid(4) - stored, new: pyramid(4) - stored })
    assert.equal(map.asked().length, pyramid(4) - stored, 'only the rest was asked for')
    assert.equal((await checkInvariants(map.url)).size, pyramid(4))
  }).timeout(60000)

  it('stops on Ctrl-C after the requests in flight, prints a report, and exits with 130', async () => {
    await map.define()
    map.upstream.behave({ wait: 20 })
    const { child, ended } = start([...WORLD, '--zoom', '0-5'])
    await until(() => map.asked().length > 50, { timeout: 20000 })
    child.kill('SIGINT')
    const { code, out, err } = await ended
    assert.equal(code, 130, err)
    assert.match(out, /^map \(stopped\): /)
    assert.match(err, /Run it again to resume/)
    assert.equal((await map.tiles()).length, map.asked().length, 'what was asked for is in the store')
  }).timeout(60000)

  it('writes failed tiles to a file, exits with 1, and fetches the tiles of that file later', async () => {
    await map.define()
    map.upstream.behave({ status: 500, only: ({ z, x }) => z === 2 && x === 2 })
    const { code, out } = await run([...WORLD, '--zoom', '0-2', '--failed', folder.path('failed.jsonl')])
    assert.equal(code, 1)
    assert.match(out, /4 failed:\n\s+map:2:2:\d {2}the upstream .* 500 \[UPSTREAM_FAILED\]/)
    assert.match(out, /--retry-failed \S*failed\.jsonl/)
    const failures = lines('failed.jsonl')
    assert.deepEqual(failures.map(({ id }) => id).sort(), [0, 1, 2, 3].map(y => `map:2:2:${y}`))
    assert.ok(failures.every(({ code: errorCode, reason }) => errorCode === 'UPSTREAM_FAILED' && reason))

    map.upstream.behave()
    map.forget()
    const retried =
      await run(['--retry-failed', folder.path('failed.jsonl'), '--failed', folder.path('still.jsonl'), '--json'])
    assert.equal(retried.code, 0, retried.err)
    assert.deepEqual(counts(JSON.parse(retried.out)), { tiles: 4, fetched: 4, new: 4 })
    assert.equal(map.asked().length, 4)
    assert.deepEqual(lines('still.jsonl'), [])
    assert.equal((await map.tiles()).length, 21)
  })

  it('seeds the polygon of a file, and fetches nothing in a dry run', async () => {
    await map.define()
    const geometry = { type: 'Polygon', coordinates: [[[-50, -50], [60, -20], [10, 70], [-50, -50]]] }
    folder.write({ 'area.geojson': '\ufeff' + JSON.stringify({ type: 'Feature', properties: {}, geometry }) })
    const argv = ['--polygon', folder.path('area.geojson'), '--zoom', '0-4', '--failed', folder.path('failed.jsonl')]
    const expectedCount = parseArea({ polygon: geometry }).count({ min: 0, max: 4 })
    const dryRun = await run([...argv, '--dry-run'])
    assert.equal(dryRun.code, 0)
    assert.match(dryRun.out, new RegExp(`${expectedCount} would be fetched\n {2}0 in the store`))
    assert.ok(!existsSync(folder.path('failed.jsonl')))
    assert.deepEqual([map.upstream.requests.length, (await map.tiles()).length], [0, 0])
    const { out } = await run([...argv, '--json'])
    assert.deepEqual([JSON.parse(out).new, (await map.tiles()).length], [expectedCount, expectedCount])
  })

  it('sends its User-Agent, sends keys only to their host, and prints no keys', async () => {
    await map.define()
    map.upstream.behave({ status: 401 })
    const secrets =
      { [map.upstream.url]: { Authorization: 'Bearer s3cret-key' }, 'other.example.org': { Cookie: 's3cret-other' } }
    const { code, out, err } = await start([...WORLD, '--zoom', '0-1', '--contact', 'maps@example.org', '--json'],
      { TILECOUCH_UPSTREAM_HEADERS: JSON.stringify(secrets) }).ended
    assert.equal(code, 1)
    const { headers } = map.upstream.asked[0]
    assert.equal(headers.authorization, 'Bearer s3cret-key')
    assert.match(headers['user-agent'], /^tilecouch\/.* \(maps@example\.org\)$/)
    assert.ok(!JSON.stringify(headers).includes('s3cret-other'))
    assert.ok(!(out + err).includes('s3cret'))
  })

  it('fetches tiles again that are older than a duration or a time', async () => {
    await map.define()
    await map.seed({ zooms: { min: 0, max: 1 } })
    for (const [before, expectedCount] of [['7d', 0], ['2020', 0], ['9999', 5]]) {
      const { out, err } = await run([...WORLD, '--zoom', '0-1', '--refresh-before', before, '--json'])
      assert.equal(JSON.parse(out).fetched, expectedCount, `${before} ${err}`)
    }
  })

  it('refuses bad options before any request', async () => {
    await map.define({}, { seed: false })
    folder.write({
      'bad.json': '{', 'point.geojson': '{"type":"Point","coordinates":[0,0]}',
      'list.jsonl': '{"id":"map:1:0:0"}\n{"id":"map:1:9:9"}\n', 'other.jsonl': '{"id":"osm:1:0:0"}\n',
      'good.jsonl': '{"id":"map:1:0:0"}\n'
    })
    const cases = [
      [[...WORLD, '--zoom', '0-1'], 'SEED_FORBIDDEN'],
      [['--zoom', '0-1'], 'BAD_AREA'],
      [WORLD, 'BAD_ZOOM'],
      [['--bbox', '1,2,3', '--zoom', '1'], 'BAD_BBOX'],
      [['--polygon', folder.path('none'), '--zoom', '1'], 'SOURCE_NOT_FOUND'],
      [['--polygon', folder.dir, '--zoom', '1'], 'SOURCE_UNREADABLE'],
      [['--polygon', folder.path('bad.json'), '--zoom', '1'], 'BAD_AREA'],
      [['--polygon', folder.path('point.geojson'), '--zoom', '1'], 'BAD_AREA'],
      [[...WORLD, '--zoom', '0-1', '--rate', 'fast'], 'BAD_OPTION'],
      [[...WORLD, '--zoom', '0-1', '--rate', '0'], 'BAD_OPTION'],
      [[...WORLD, '--zoom', '0-1', '--concurrency', '0'], 'BAD_OPTION'],
      [[...WORLD, '--zoom', '0-1', '--refresh-before', 'soon'], 'BAD_TIME'],
      [['--retry-failed', folder.path('none')], 'SOURCE_UNREADABLE'],
      [['--retry-failed', folder.path('list.jsonl')], 'SOURCE_UNREADABLE'],
      [['--retry-failed', folder.path('other.jsonl')], 'SOURCE_UNREADABLE'],
      [['--retry-failed', folder.path('good.jsonl'), '--zoom', '1'], 'BAD_OPTION'],
      [['--retry-failed', folder.path('good.jsonl'), '--failed', folder.path('good.jsonl')], 'BAD_OPTION'],
      [[...WORLD, '--zoom', '0-1', '--failed', folder.path('no/such/folder')], 'BAD_OPTION']
    ]
    for (const [argv, expectedCode] of cases) {
      const { code, err } = await run([...argv, '--json'])
      assert.deepEqual([code, JSON.parse(err).error], [1, expectedCode], `${argv.join(' ')}: ${err}`)
    }
    assert.deepEqual(map.upstream.requests, [])
    assert.equal((await run([...WORLD, '--zoom', '0-1', '--i-have-permission'])).code, 0)
  })
})

// The database is killed during a seed and comes back. The seed waits for it, and every version has its image.

const servers = { embedded: startEmbeddedProcess, CouchDB: findCouchDb() && startCouchDb }

for (const [kind, start] of Object.entries(servers)) {
  (start ? describe : describe.skip)(`seeding while ${kind} is killed`, () => {
    let server, upstream
    before(async function () {
      this.timeout(60000)
      server = await start()
      upstream = await startUpstream({ tileSize: TILE })
    })
    after(async () => {
      await upstream.close()
      await server.close()
    })

    it('waits until the server is back, and loses no tile', async () => {
      const url = `${server.url}/seed_restart`
      const store = await Store.create(url)
      await store.defineLayer('map', { tileSize: TILE, upstream: { url: `${upstream.url}/xyz/{z}/{x}/{y}.png` } })
      let restarted
      const summary = await seed(store, 'map', {
        area: parseArea({ bbox: '-180,-85,180,85' }),
        zooms: { min: 0, max: 4 },
        networks: LOOPBACK,
        fetching: QUICK,
        onProgress ({ fetched }) {
          // in the middle of the seed, so that it writes and reads while the server is away
          if (fetched > 150) restarted ??= server.kill().then(() => server.start())
        }
      })
      await restarted
      assert.deepEqual([summary.tiles, summary.failed, summary.new + summary.unchanged],
        [pyramid(4), 0, pyramid(4)], JSON.stringify(counts(summary)))
      const tiles = await checkInvariants(url)
      assert.equal(tiles.size, pyramid(4))
      for (const [id, [{ bytes }]] of tiles) {
        const [, z, x, y] = id.split(':').map(Number)
        assert.deepEqual(bytes, await upstream.tile(z, x, y), id)
      }
    }).timeout(120000)
  })
}
