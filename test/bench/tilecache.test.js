// What is asked for in the benchmark of 780 tiles, that no wrong answer counts, and how its figures are told.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'node:path/posix'
import sharp from 'sharp'
import { deviation, mean, percentiles, turns } from '../../bench/measure.js'
import { table } from '../../bench/plots/words.js'
import { checkErrors } from '../../bench/serve/check.js'
import { runLap, spread, summarise } from '../../bench/tilecache/lap.js'
import { BLOCKS, describe as describeTiles, drawTiles, placesOf } from '../../bench/tilecache/map.js'
import * as names from '../../bench/tilecache/names.js'
import { ADVISE, DROP, filesIn, openPageCache } from '../../bench/tilecache/page-cache.js'
import { plots, settingsOf, tables } from '../../bench/tilecache/page.js'
import { fileOf, writeFiles } from '../../bench/tilecache/seeding.js'
import { measureLaps } from '../../bench/tilecache/rounds.js'
import { tilesOf, usersAt } from '../../bench/tilecache/users.js'
import { findProgram } from '../../bench/programs/program.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'

const tiles = Array.from({ length: 12 }, (_, x) => ({ z: 5, x, y: 7, bytes: Buffer.alloc(100 + x, x) }))
const few = tiles.slice(0, 3)
const { signal } = new AbortController()

describe('the tiles of the benchmark of 780 tiles', () => {
  it('are 780, no place twice, all of the map, in the order a seeding script asks', () => {
    const places = placesOf()
    assert.equal(places.length, 780)
    assert.equal(new Set(places.map(({ z, x, y }) => `${z}/${x}/${y}`)).size, 780)
    for (const { z, x, y } of places) assert.ok(x >= 0 && y >= 0 && x < 2 ** z && y < 2 ** z, `${z}/${x}/${y}`)
    assert.deepEqual(places, places.toSorted((a, b) => a.z - b.z || a.y - b.y || a.x - b.x))
  })

  it('are cut out of the drawing where they lie, enlarged where it is that of another zoom', async () => {
    const enlarged = { z: 2, drawn: 1, left: 2, top: 0, columns: 2, rows: 2 } // the north-east of the world
    const drawn = await drawTiles({ blocks: [BLOCKS[0], enlarged] })
    assert.deepEqual(drawn.map(({ z, x, y }) => [z, x, y]), placesOf([BLOCKS[0], enlarged]).map(({ z, x, y }) => [z, x, y]))
    for (const { bytes } of drawn) {
      const { width, height, format } = await sharp(bytes).metadata()
      assert.deepEqual([width, height, format], [256, 256, 'png'])
    }
    const quarter = drawn.find(({ z, x, y }) => z === 1 && x === 1 && y === 0)
    const small = bytes => sharp(bytes).resize(32, 32).raw().toBuffer()
    for (const { x, y, bytes } of drawn.slice(4)) {
      const part = await sharp(quarter?.bytes).extract({ left: (x - 2) * 128, top: y * 128, width: 128, height: 128 }).toBuffer()
      const [one, other] = await Promise.all([small(bytes), small(part)])
      assert.ok(mean(Array.from(one, (value, index) => Math.abs(value - other[index]))) < 6, `${x}/${y} shows another part`)
    }
    const { tiles: count, distinct, bytes } = describeTiles(drawn)
    assert.deepEqual([count, distinct, bytes.total], [8, 8, drawn.reduce((sum, tile) => sum + tile.bytes.length, 0)])
  }).timeout(20_000)
})

describe('a lap', () => {
  it('asks for everything once, in order, so many at a time', async () => {
    const asked = []
    let [now, most] = [0, 0]
    const get = async tile => {
      asked.push(tile.x)
      most = Math.max(most, ++now)
      await new Promise(resolve => { setTimeout(resolve, 2) })
      now--
      return Uint8Array.from(tile.bytes).buffer
    }
    const lap = await runLap('x', tiles, { get, connections: 3 })
    assert.deepEqual(asked, tiles.map(({ x }) => x))
    assert.equal(most, 3)
    assert.equal(lap.ms.length, 12)
    assert.ok(lap.seconds >= 0.006 && Math.min(...lap.ms) >= 1, JSON.stringify(lap))
  })

  it('does not count when one byte is wrong, or an answer is missing, and stops when told', async () => {
    const wrong = async ({ x, bytes }) => x === 11 ? Buffer.concat([bytes.subarray(1), Buffer.from('!')]) : bytes
    await assert.rejects(runLap('x', tiles, { get: wrong, connections: 1 }), /x: 5\/11\/7: 111 bytes that are not the 111 of the source/)
    await assert.rejects(runLap('x', tiles, { get: async () => { throw new Error('404') }, connections: 6 }), /404/)
    await assert.rejects(runLap('x', tiles, { get: async tile => tile.bytes, connections: 1, signal: AbortSignal.abort() }), { name: 'AbortError' })
  })

  it('is told with mean and deviation as in the original, and with the median and percentiles of all its tiles', () => {
    assert.deepEqual(spread([1, 2, 3, 6]), { seconds: [1, 2, 3, 6], mean: 3, deviation: 2.1602, median: 2.5, min: 1, max: 6 })
    assert.equal(deviation([4]), 0)
    const laps = [[1, 2], [3, 4]].map(ms => ({ seconds: 1, user: 0.5, sys: 0.25, ms }))
    const { user, sys, sysDeviation, ms } = summarise(laps)
    assert.deepEqual({ user, sys, sysDeviation, ms }, { user: 0.5, sys: 0.25, sysDeviation: 0, ms: { count: 4, p50: 2, p90: 4, p99: 4, max: 4 } })
    assert.equal(percentiles([0.0456], 3).p50, 0.046)
  })

  it('is run in turns, and behind a dropped page cache only where it should be', async () => {
    const events = []
    const contenders = ['a', 'b'].map(name => ({ name, get: async tile => { if (!tile.x) events.push(name); return tile.bytes } }))
    const results = await measureLaps(contenders, tiles, {
      states: { warm: { rounds: 2, connections: [1] }, dropped: { rounds: 1, connections: [2] } }, drop: async () => { events.push('drop') }, signal, log () {}
    })
    assert.deepEqual(events, ['a', 'b', 'b', 'a', 'drop', 'a', 'drop', 'b'])
    assert.deepEqual(settingsOf({ laps: results }), [['warm', '1'], ['dropped', '2']])
    assert.equal(results.a.warm[1].seconds.length, 2)
    assert.deepEqual([...turns([1, 2, 3], 2)].map(({ contender }) => contender), [1, 2, 3, 2, 3, 1])
  })
})

describe('the page cache', () => {
  const folder = useFolder()
  const control = () => path.join(folder.dir, 'drop_caches')

  it('is dropped by the kernel where that may be told so', async () => {
    writeFileSync(control(), '')
    const cache = await openPageCache(async () => [], { control: control() })
    await cache.drop()
    assert.equal(cache.how, DROP)
    assert.equal(readFileSync(control(), 'utf8'), '3')
  })

  it('is dropped file by file where it may not', async function () {
    if (!findProgram(process.env.PYTHON, 'python3') || process.platform !== 'linux') return skip(this, 'python3 on Linux is not there')
    await writeFiles(path.join(folder.dir, 'files'), few)
    const cache = await openPageCache(() => filesIn(folder.dir), { control: path.join(folder.dir, 'none', 'x') })
    assert.equal(cache.how, ADVISE)
    const before = await cache.look()
    await cache.drop()
    const after = await cache.look()
    if (!before || !after) return skip(this, 'fincore is not installed')
    assert.equal(before.bytes, few.reduce((sum, { bytes }) => sum + bytes.length, 0))
    assert.ok(before.resident >= before.bytes, JSON.stringify(before))
    if (after.resident) return skip(this, 'the file system of temporary files is memory')
    await assert.rejects((await openPageCache(async () => [path.join(folder.dir, 'gone')], { control: '/' })).drop(), /python3: .*gone/s)
  })

  it('is said not to be dropped where nobody can', async () => {
    const { how, why } = await openPageCache(async () => [], { control: path.join(folder.dir, 'none', 'x'), env: { PATH: '', PYTHON: '/nowhere/python' } })
    assert.equal(how, undefined)
    assert.match(/** @type {string} */ (why), /may not be written, and there is no python3/)
  })

  it('is about the files that were written, with their bytes', async () => {
    mkdirSync(path.join(folder.dir, 'files'))
    await writeFiles(path.join(folder.dir, 'files'), tiles, { synced: true })
    assert.deepEqual(readdirSync(path.dirname(fileOf(path.join(folder.dir, 'files'), tiles[0])), { recursive: true }), ['7.png'])
    for (const tile of tiles) assert.deepEqual(readFileSync(fileOf(path.join(folder.dir, 'files'), tile)), tile.bytes)
    assert.deepEqual((await filesIn(folder.dir, name => parse(name).name === '7')).length, 12)
  })
})

describe('the figures of the benchmark of 780 tiles', () => {
  const figures = seconds => ({ ...spread(seconds), user: 0.1, userDeviation: 0.01, sys: 0.02, sysDeviation: 0.001, ms: { count: 780, p50: 1, p90: 2, p99: 3, max: 40 } })
  const everywhere = seconds => ({ warm: { 1: figures(seconds), 6: figures(seconds.map(value => value / 2)) }, dropped: { 1: figures(seconds.map(value => value * 3)) } })
  const result = {
    quick: false, machine: { couchdb: '3.5.0', node: 'v20', cpu: 'cpu', cores: 2, memory: '1 GiB', date: '2026-01-01' },
    ...{ tiles: 780, distinct: 600, bytes: { total: 4e6, min: 100, median: 3000, max: 26000 }, rounds: 2 },
    scale: { warm: { rounds: 2, connections: [1, 6] }, dropped: { rounds: 2, connections: [1] }, seedings: 1 },
    pageCache: { how: ADVISE, bytes: 8e6, before: 9e6, after: 0 },
    programs: { nginx: { version: '1', settings: 'own' } }, missing: {},
    seeding: { [names.SEED_FILES]: spread([0.2]), [names.SEED_LOAD]: spread([0.5]) },
    laps: { [names.FILES]: everywhere([0.1, 0.1]), [names.COUCH]: everywhere([0.7, 0.9]), [names.REWRITE]: everywhere([1, 1]), [names.COLD]: everywhere([1, 1]), [names.HOT]: everywhere([0.2, 0.2]), [names.NGINX]: everywhere([0.15, 0.15]) },
    users: { users: 10, connections: 6, screen: { width: 1920, height: 1080, tiles: tilesOf(), pace: 5 }, results: { [names.COUCH]: { rate: { median: 1080, min: 1000, max: 1200 }, ms: { p50: 1, p90: 2, p99: 3, max: 4 } } } }
  }

  it('are ratios, screens and users of what was measured', () => {
    const made = tables(result, table)
    assert.match(made.tilecacheMeaning, /CouchDB takes 8 times as long as the file system read directly \(8\.66 times in the original\): 0\.800 s instead of 0\.100 s/)
    assert.match(made.tilecacheMeaning, /CouchDB takes 3 times as long as with a warm one, the file system 3 times, and between the two 8 times are left/)
    assert.match(made.tilecacheMeaning, /at most 54 tiles\. With 6 at a time, as a browser asks, it is complete 28 ms/)
    assert.match(made.tilecacheLaps, /\| CouchDB, attachment \| 0\.800 \(0\.141\) \| 0\.100 \(0\.010\) \| 0\.020 \(0\.001\) \| 2\.40 \(0\.424\) \|/)
    assert.match(made.tilecacheUsers, /\| CouchDB, attachment \| 1,080 \(1,000–1,200\) \| 108 \| .* \| 100 \|/)
    assert.match(made.tilecacheSeeding, /tilecouch load \| 0\.500 \| 0\.500 \| 1,560 \|/)
    assert.match(made.tilecacheLosses, /cold gateway takes 1\.25 times as long one at a time and 1\.25 times as long 6 at a time as from CouchDB itself; .* hot gateway takes 1\.33 times/)
    assert.match(made.tilecacheCache, /posix_fadvise.*8 MB were in memory before, 0 MB after/)
    assert.equal(usersAt(1080), 100)
  })

  it('stand on the page, all of them, and no others', () => {
    const page = readFileSync(new URL('../../docs/benchmarks/tilecache.md', import.meta.url), 'utf8')
    assert.deepEqual([...page.matchAll(/<!-- table: (\w+) -->/g)].map(([, name]) => name).sort(), Object.keys(tables(result, table)).sort())
    assert.deepEqual([...page.matchAll(/!\[.+?\]\(\.\.\/images\/bench\/([\w-]+)\.svg\)/g)].map(([, name]) => name).sort(), Object.keys(plots(result)).sort())
  })

  it('are told without what was not measured', () => {
    const laps = Object.fromEntries(Object.entries(result.laps).filter(([name]) => name !== names.NGINX).map(([name, { warm }]) => [name, { warm }]))
    const made = tables({ ...result, laps, pageCache: { how: null, why: 'no right' }, users: { ...result.users, results: undefined, missing: 'no wrk' } }, table)
    assert.match(made.tilecacheCache, /\*\*Not dropped in this run\*\*: no right/)
    assert.equal(made.tilecacheUsers, 'Not measured: no wrk')
    for (const text of Object.values(made)) assert.doesNotMatch(text, /undefined|NaN|page cache dropped/)
  })

  it('are none where a request of many users failed', () => {
    assert.throws(() => checkErrors('x', { requests: 5, errors: { connect: 0, read: 0, write: 0, timeout: 0, status: 2 } }), /x: of 5 requests 2 status errors/)
  })
})
