// The benchmark of 780 tiles: its tiles, its laps and their figures, and the page cache. No wrong answer counts.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import sharp from 'sharp'
import { deviation, mean, percentiles, turns } from '../../bench/measure.js'
import { runLap, spread, summarise } from '../../bench/tilecache/lap.js'
import { BLOCKS, describe as describeTiles, drawTiles, placesOf } from '../../bench/tilecache/map.js'
import { openPageCache } from '../../bench/tilecache/page-cache.js'
import { settingsOf } from '../../bench/tilecache/page.js'
import { fileOf, writeFiles } from '../../bench/tilecache/seeding.js'
import { measureLaps } from '../../bench/tilecache/rounds.js'
import { useFolder } from '../support/folder.js'

const tiles = Array.from({ length: 12 }, (_, x) => ({ z: 5, x, y: 7, bytes: Buffer.alloc(100 + x, x) }))
const { signal } = new AbortController()

describe('the tiles of the benchmark of 780 tiles', () => {
  it('are 780 distinct places of the map, in the order of zoom, row and column', () => {
    const places = placesOf()
    assert.equal(places.length, 780)
    assert.equal(new Set(places.map(({ z, x, y }) => `${z}/${x}/${y}`)).size, 780)
    for (const { z, x, y } of places) assert.ok(x >= 0 && y >= 0 && x < 2 ** z && y < 2 ** z, `${z}/${x}/${y}`)
    assert.deepEqual(places, places.toSorted((a, b) => a.z - b.z || a.y - b.y || a.x - b.x))
  })

  it('are cut out of the drawing at their place, and enlarged from a drawing of another zoom', async () => {
    const enlarged = { z: 2, drawn: 1, left: 2, top: 0, columns: 2, rows: 2 } // the north-east of the world
    const drawn = await drawTiles({ blocks: [BLOCKS[0], enlarged] })
    assert.deepEqual(drawn.map(({ z, x, y }) => [z, x, y]),
      placesOf([BLOCKS[0], enlarged]).map(({ z, x, y }) => [z, x, y]))
    for (const { bytes } of drawn) {
      const { width, height, format } = await sharp(bytes).metadata()
      assert.deepEqual([width, height, format], [256, 256, 'png'])
    }
    const quarter = drawn.find(({ z, x, y }) => z === 1 && x === 1 && y === 0)
    const thumbnail = bytes => sharp(bytes).resize(32, 32).raw().toBuffer()
    for (const { x, y, bytes } of drawn.slice(4)) {
      const part = await sharp(quarter?.bytes).extract({ left: (x - 2) * 128, top: y * 128, width: 128, height: 128 })
        .toBuffer()
      const [actual, expected] = await Promise.all([thumbnail(bytes), thumbnail(part)])
      assert.ok(mean(Array.from(actual, (value, index) => Math.abs(value - expected[index]))) < 6,
        `${x}/${y} shows another part`)
    }
    const { tiles: count, distinct, bytes } = describeTiles(drawn)
    assert.deepEqual([count, distinct, bytes.total], [8, 8, drawn.reduce((sum, tile) => sum + tile.bytes.length, 0)])
  }).timeout(20_000)
})

describe('a lap', () => {
  it('requests every tile once, in order, and is reported with mean, deviation and percentiles', async () => {
    const requested = []
    let [running, maxRunning] = [0, 0]
    const get = async tile => {
      requested.push(tile.x)
      maxRunning = Math.max(maxRunning, ++running)
      await new Promise(resolve => { setTimeout(resolve, 2) })
      running--
      return Uint8Array.from(tile.bytes).buffer
    }
    const lap = await runLap('x', tiles, { get, connections: 3 })
    assert.deepEqual(requested, tiles.map(({ x }) => x))
    assert.equal(maxRunning, 3)
    assert.equal(lap.ms.length, 12)
    assert.ok(lap.seconds >= 0.006 && Math.min(...lap.ms) >= 1, JSON.stringify(lap))
    assert.deepEqual(spread([1, 2, 3, 6]),
      { seconds: [1, 2, 3, 6], mean: 3, deviation: 2.1602, median: 2.5, min: 1, max: 6 })
    assert.equal(deviation([4]), 0)
    const laps = [[1, 2], [3, 4]].map(ms => ({ seconds: 1, user: 0.5, sys: 0.25, ms }))
    const { user, sys, sysDeviation, ms } = summarise(laps)
    assert.deepEqual({ user, sys, sysDeviation, ms },
      { user: 0.5, sys: 0.25, sysDeviation: 0, ms: { count: 4, p50: 2, p90: 4, p99: 4, max: 4 } })
    assert.equal(percentiles([0.0456], 3).p50, 0.046)
  })

  it('fails when a byte is wrong or an answer is missing, and stops when aborted', async () => {
    const wrongGet = async ({ x, bytes }) => x === 11 ? Buffer.concat([bytes.subarray(1), Buffer.from('!')]) : bytes
    await assert.rejects(runLap('x', tiles, { get: wrongGet, connections: 1 }),
      /x: 5\/11\/7: 111 bytes that are not the 111 of the source/)
    await assert.rejects(runLap('x', tiles, { get: async () => { throw new Error('404') }, connections: 6 }), /404/)
    await assert.rejects(runLap('x', tiles,
      { get: async tile => tile.bytes, connections: 1, signal: AbortSignal.abort() }), { name: 'AbortError' })
  })

  it('is run by contenders in turns, and drops the page cache only in that state', async () => {
    const events = []
    const contenders =
      ['a', 'b'].map(name => ({ name, get: async tile => { if (!tile.x) events.push(name); return tile.bytes } }))
    const results = await measureLaps(contenders, tiles, {
      states: { warm: { rounds: 2, connections: [1] }, dropped: { rounds: 1, connections: [2] } },
      drop: async () => { events.push('drop') }, signal, log () {}
    })
    assert.deepEqual(events, ['a', 'b', 'b', 'a', 'drop', 'a', 'drop', 'b'])
    assert.deepEqual(settingsOf({ laps: results }), [['warm', '1'], ['dropped', '2']])
    assert.equal(results.a.warm[1].seconds.length, 2)
    assert.deepEqual([...turns([1, 2, 3], 2)].map(({ contender }) => contender), [1, 2, 3, 2, 3, 1])
  })
})

describe('the page cache', () => {
  const folder = useFolder()

  it('is dropped through the control file, or not, with a reason; files hold the bytes of the tiles', async () => {
    const control = folder.path('drop_caches')
    writeFileSync(control, '')
    const cache = await openPageCache('http://127.0.0.1:5984', control)
    await cache.drop()
    assert.equal(cache.why, undefined)
    assert.equal(readFileSync(control, 'utf8'), '3')
    assert.match((await openPageCache('http://localhost', path.join(folder.dir, 'none', 'x'))).why ?? '',
      /may not be written/)
    assert.match((await openPageCache('http://tiles.example', folder.path('drop_caches'))).why ?? '',
      /another machine/)
    await writeFiles(folder.dir, tiles, { synced: true })
    for (const tile of tiles) assert.deepEqual(readFileSync(fileOf(folder.dir, tile)), tile.bytes)
  })
})
