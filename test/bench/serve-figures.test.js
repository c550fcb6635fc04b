// What is asked for in the benchmark of servers, and how its figures are judged and shown.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { AS_OF, LAYER, LENGTH, NEW, OLD, bytesOf, placesOf, shuffled, versions, writeMbtiles, writeTree, zipf } from '../../bench/block.js'
import { flatness } from '../../bench/serve/flat.js'
import { configuration } from '../../bench/programs/mapproxy.js'
import { ERRORS, KINDS, mixOf } from '../../bench/serve/mix.js'
import { COLD, COUCH, FILES, HOT, NODE } from '../../bench/serve/names.js'
import { filesConf, mainConf, proxyCacheConf, readProxyCacheConf } from '../../bench/programs/nginx.js'
import { AT, CROWD, judge, measureRounds, summarise } from '../../bench/serve/rounds.js'
import { isTileId, parsePeriod } from '../../core/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { openSource } from '../../loader/index.js'
import { tables as serveTables } from '../../bench/serve/page.js'
import { tables as serveMemoryTables } from '../../bench/serve-memory/page.js'
import { useFolder } from '../support/folder.js'

const sampleOf = (rate, ms) => ({ requests: rate, seconds: 1, bytes: 0, ms: { p50: ms, p90: ms, p99: ms, max: ms }, errors: /** @type {any} */ ({}) })
const figures = rates => summarise(rates.map(rate => sampleOf(rate, 1)))
const table = (head, rows) => [head, ...rows].map(row => row.join(' | ')).join('\n')

describe('the tiles of the benchmark of servers', () => {
  const folder = useFolder()
  const places = placesOf(30)

  it('are all of one length, and no two alike', () => {
    const bodies = places.flatMap(({ index }) => [bytesOf(index, OLD), bytesOf(index, NEW)])
    assert.deepEqual(new Set(bodies.map(({ length }) => length)), new Set([LENGTH]))
    assert.equal(new Set(bodies.map(bytes => bytes.toString('latin1'))).size, 60)
    assert.ok(parsePeriod(AS_OF).end > OLD && parsePeriod(AS_OF).end < NEW)
  })

  it('are asked for in a random order that is the same every time', () => {
    assert.deepEqual(shuffled(places, 1), shuffled(places, 1))
    assert.notDeepEqual(shuffled(places, 1), places)
    assert.deepEqual(shuffled(places, 1).toSorted((a, b) => a.index - b.index), places)
  })

  it('are the same as files, as MBTiles and as versions', async () => {
    mkdirSync(path.join(folder.dir, 'files'))
    await writeTree(path.join(folder.dir, 'files'), places)
    writeMbtiles(path.join(folder.dir, 'tiles.mbtiles'), places)
    for (const name of [path.join('files', LAYER), 'tiles.mbtiles']) {
      const source = await openSource(path.join(folder.dir, name))
      const found = []
      for await (const { z, x, y, read } of source.tiles()) found.push({ z, x, y, bytes: Buffer.from(await read()) })
      await source.close()
      const expected = [...versions(places, NEW)].map(({ z, x, y, bytes }) => ({ z, x, y, bytes }))
      const sorted = list => list.toSorted((a, b) => a.x - b.x || a.y - b.y)
      assert.deepEqual(sorted(found), sorted(expected), name)
    }
  })

  it('are wanted as often as their rank says', () => {
    const draw = zipf(placesOf(100), 1)
    const counts = new Array(100).fill(0)
    for (let time = 0; time < 50_000; time++) counts[draw().index]++
    const first = 50_000 / Array.from({ length: 100 }, (_, rank) => 1 / (rank + 1)).reduce((sum, share) => sum + share)
    for (const rank of [1, 2, 5, 20]) assert.ok(Math.abs(counts[rank - 1] / (first / rank) - 1) < 0.15, `rank ${rank}: ${counts[rank - 1]}`)
    assert.ok(counts[99] > 0)
  })
})

describe('the random requests of the benchmark of memory', () => {
  it('are of every kind in its share, with the ETag that the store gives', () => {
    assert.ok(Math.abs(Object.values(KINDS).reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9)
    const places = placesOf(50)
    const requests = [...mixOf(places, 20_000, 1)]
    const share = test => requests.filter(test).length / requests.length
    const [first] = places
    const plain = new RegExp(`^/${LAYER}/14/5\\d{3}/\\d+\\.png$`)
    assert.ok(Math.abs(share(({ path: asked }) => plain.test(asked)) - 0.87) < 0.02)
    assert.ok(Math.abs(share(({ path: asked }) => /^\/(l\d|bench\/14\/[0-3]?\d{1,3}\/|\w+\/a\/b)/.test(asked)) - ERRORS) < 0.02)
    const known = requests.filter(({ etag }) => etag)
    assert.ok(Math.abs(known.length / requests.length - 0.08) < 0.01)
    const etag = `"${digestOf(bytesOf(first.index, NEW)).slice('md5-'.length)}"`
    assert.ok(known.filter(({ path: asked }) => asked === `/${LAYER}/${first.z}/${first.x}/${first.y}.png`).every(request => request.etag === etag))
    assert.notDeepEqual([...mixOf(places, 100, 2)], requests.slice(0, 100))
    assert.ok(isTileId(`${LAYER}:${first.z}:${first.x}:${first.y}`))
  })

  it('are too few to judge, flat, or let memory grow', () => {
    const samples = growth => Array.from({ length: 200 }, (_, at) => (at < 20 ? 50 + at * 5 : 150) + (at % 7) + growth * at)
    assert.deepEqual([flatness(samples(0)).flat, flatness(samples(0.5)).flat], [true, false])
    assert.equal(flatness(samples(0)).tenths.length, 10)
    assert.ok(flatness([...samples(0).slice(0, -3), 900, 900, 900]).flat, 'a peak is no growth')
    assert.throws(() => flatness([1, 2, 3]), /3 samples/)
  })
})

describe('the figures of the benchmark of servers', () => {
  it('are measured in turns, each round beginning with another one, after a warm-up that does not count', async () => {
    const order = []
    const contender = (name, rate) => ({ name, run: async ({ connections, seconds }) => { order.push(`${name}${connections}${seconds === 9 ? 'w' : ''}`); return sampleOf(rate, connections) } })
    const results = await measureRounds([contender('a', 10), contender('b', 20)], { levels: [1, 8], rounds: 2, seconds: 1, warm: 9, log: () => {} })
    assert.deepEqual(order, ['a1w', 'b1w', 'a1', 'b1', 'b1', 'a1', 'a8w', 'b8w', 'a8', 'b8', 'b8', 'a8'])
    order.length = 0
    await measureRounds([contender('a', 10)], { levels: [1], rounds: 1, seconds: 1, warm: 0, log: () => {} })
    assert.deepEqual(order, ['a1'], 'what is warm already')
    assert.deepEqual(results.b[8], { rates: [20, 20], rate: { median: 20, min: 20, max: 20 }, ms: { p50: 8, p90: 8, p99: 8, max: 8 } })
  })

  it('are medians of the rounds, and the longest of all', () => {
    const { rate, ms } = summarise([sampleOf(10, 1), sampleOf(30, 9), sampleOf(20, 2)])
    assert.deepEqual([rate, ms], [{ median: 20, min: 10, max: 30 }, { p50: 2, p90: 2, p99: 2, max: 9 }])
  })

  it('are judged round by round, against the quicker client, and never when something was not measured', () => {
    const [slow, quick] = Object.values(NODE)
    const results = { [slow]: { [AT]: figures([900, 900, 900]) }, [quick]: { [AT]: figures([1000, 2000, 1000]) }, [COLD]: { [AT]: figures([1600, 3200, 1600]) }, [COUCH]: { [AT]: figures([1500, 1500, 1500]) }, [HOT]: { [AT]: figures([14_000, 14_000, 20_000]) } }
    const [cold, crowd, hot, two, files] = judge(results)
    assert.deepEqual([cold.figure, cold.met, cold.what.includes(quick)], ['1.60x', true, true])
    assert.deepEqual([hot.figure, hot.target, hot.met], ['9.33x', '>= 10x', false])
    for (const { figure, met } of [crowd, two, files]) assert.deepEqual([figure, met], ['not measured', false])
    assert.deepEqual(judge({}).map(({ figure, met }) => [figure, met]), Array(6).fill(['not measured', false]))
    assert.equal(judge({ ...results, [FILES]: { [AT]: figures([28_000, 28_000, 28_000]) } })[4].met, true)
    assert.deepEqual(judge(results, [AT]).filter(({ what }) => what.includes(`${CROWD}`)), [], 'nothing is said of what was not asked for')
    assert.equal(judge(results, [AT]).length, 5)
    const [, at100] = judge({ [quick]: { [CROWD]: figures([10]) }, [COLD]: { [CROWD]: figures([12]) } })
    assert.deepEqual([at100.figure, at100.met], ['1.20x', false])
  })

  it('are shown with what was measured, what was not, and why', () => {
    const machine = { couchdb: '3.5.0', node: 'v20', cpu: 'a cpu', cores: 2, memory: '24 GiB', date: '2026-01-01' }
    const result = {
      quick: true, machine, tiles: 1000, bytes: 10_000, levels: [1, 32], rounds: 1, seconds: 1, wrk: '4.1.0',
      programs: { nginx: { version: '1.2', settings: 'as it is' } }, missing: { MapProxy: 'not installed' },
      results: { [HOT]: { 1: figures([12_345]), 32: figures([20_000, 22_000, 21_000]) } }, budgets: [{ what: 'w', target: 't', figure: 'f', met: false }]
    }
    const tables = serveTables(result, table)
    assert.match(tables.serveMachine, /A short run.*wrk 4\.1\.0; 1,000 tiles of 10,000 bytes/)
    assert.match(tables.serveRates, /1 connection \| 32 connections\ngateway, hot \| 12,345 \| 21,000 \(20,000–22,000\)/)
    assert.match(tables.serveLatencies, /gateway, hot \| 1\.0 \/ 1\.0 \/ 1\.0 \/ 1\.0/)
    assert.match(tables.servePrograms, /nginx \| 1\.2 \| as it is\nMapProxy \| {2}\| \*\*not measured\*\*: not installed/)
    assert.match(tables.serveBudgets, /falls short/)
    const memory = serveMemoryTables({ quick: false, machine, tiles: 5, memory: '64MB', requests: 3_600_000, seconds: 600, longest: 1500, changes: 7, tenths: [100.4, 101], peak: 120, budgets: [] }, table)
    assert.match(memory.serveMemory, /100 \| 101$/)
    assert.equal(memory.serveMemoryEnded, '')
  })
})

describe('the servers of the benchmark', () => {
  it('are an nginx that writes nothing outside its folder, and drops no privileges it does not have', () => {
    const conf = mainConf({ dir: '/tmp/x', http: filesConf('/tmp/files')(8000), workers: 2, root: false })
    assert.doesNotMatch(conf, /user root/)
    assert.match(conf, /server \{ listen 127\.0\.0\.1:8000; root \/tmp\/files; \}/)
    for (const [, file] of conf.matchAll(/(?:pid|error_log|_temp_path) (\/\S+?)[ ;]/g)) assert.ok(file.startsWith('/tmp/x/'), file)
    assert.match(mainConf({ dir: '/tmp/x', http: '', root: true }), /user root;/)
  })

  it('use the configuration of deploy/ with other addresses and folders alone', async () => {
    const conf = proxyCacheConf(await readProxyCacheConf(), { gateway: 'http://127.0.0.1:7777', cache: '/tmp/cache' })(8001)
    assert.match(conf, /listen 127\.0\.0\.1:8001/)
    assert.match(conf, /127\.0\.0\.1:7777/)
    assert.doesNotMatch(conf, /\/var\//)
    assert.throws(() => proxyCacheConf('events {}', { gateway: 'http://127.0.0.1:7777', cache: '/tmp/cache' })(8001), /has no/)
  })

  it('are a MapProxy that reads the documents as the manual says', () => {
    const manual = readFileSync(new URL('../../docs/mapproxy.md', import.meta.url), 'utf8')
    const yaml = configuration({ server: 'http://127.0.0.1:5984', db: 'tiles', tree: '/tmp/files', dir: '/tmp/x' })
    const [, id] = /tile_id: (".*?")/.exec(yaml) ?? []
    assert.ok(manual.includes(`tile_id: ${id.replace(LAYER, 'land')}`), id)
  })
})
