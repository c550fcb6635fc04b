// The memory of a seed does not grow with the number of tiles. The store and the upstream only count, so that the test
// measures the seed itself.
import assert from 'node:assert/strict'
import { openSource, parseArea, seed } from '../../loader/index.js'
import { png } from '../support/tiles.js'
import { counts } from '../support/seeding.js'
import { collectGarbage, measureHeap } from '../support/garbage.js'

const area = parseArea({ polygon: { type: 'Polygon', coordinates: [[[-80, -60], [90, -40], [40, 70], [-80, -60]]] } })
const zooms = { min: 10, max: 10 }

const fakeUpstream = answer => () => ({
  covers: () => true,
  groupOf: (z, x, y) => ({ key: `${z}/${x}/${y}`, tiles: [{ z, x, y }] }),
  fetch: async tile => answer(tile),
  close () {}
})

function fakeStore () {
  const counters = { tiles: 0, batches: 0, largest: 0 }
  const store = {
    written: counters,
    layer: async () =>
      ({ layer: 'map', format: 'png', upstream: { url: 'https://example.org/{z}/{x}/{y}.png', concurrency: 16 } }),
    stats: async () => ({ zooms: [] }),
    couch: { docs: async ids => ids.map(id => ({ id, deleted: false })) },
    async write (versions) {
      counters.tiles += versions.length
      counters.batches++
      counters.largest = Math.max(counters.largest, versions.length)
      return {
        created: versions.length, advanced: 0, backfilled: 0, unchanged: 0, failed: 0, bytes: 0, types: {}, failures: []
      }
    }
  }
  return store
}

describe('the memory of a seed', () => {
  for (const [outcome, answer] of Object.entries({
    fetches: ({ z, x, y }) =>
      ({ kind: 'tiles', tiles: [{ z, x, y, bytes: png(1), type: 'image/png' }], origin: { url: 'x' }, expires: null }),
    misses: () => ({ kind: 'missing', until: 0 }),
    fails: () => { throw Object.assign(new Error('no'), { code: 'UPSTREAM_FAILED', details: {} }) }
  })) {
    it(`does not grow with the tiles it ${outcome}`, async () => {
      const store = fakeStore()
      const heap = measureHeap(10000)
      const summary = await seed(store, 'map', {
        area, zooms, openUpstream: fakeUpstream(answer), fetching: { attempts: 1, failures: Infinity },
        onProgress: heap.onProgress
      })
      assert.ok(summary.tiles > 90000, JSON.stringify(counts(summary)))
      assert.equal(summary.tiles, area.count(zooms))
      assert.equal(store.written.tiles, summary.new)
      assert.ok(store.written.largest <= 200)
      heap.checkFlat()
    }).timeout(120000)
  }
})

// The memory of a load from a tile server does not grow from ten thousand to a hundred thousand tiles, fetched one by
// one or as metatiles.

/** A server of tiles of 20 kB each, in metatiles of side x side tiles. */
const metatileServer = side => () => {
  const groupOf = (z, x, y) => ({ key: '', tiles: Array.from({ length: side * side },
    (_, index) => ({ z, x: x - x % side + Math.floor(index / side), y: y - y % side + index % side })) })
  const fetch = async ({ z, x, y }) => {
    const tiles = groupOf(z, x, y).tiles.map(tile => ({ ...tile, bytes: Buffer.alloc(20000, x), type: 'image/png' }))
    return { kind: 'tiles', tiles, origin: { url: '' }, expires: null }
  }
  return { covers: () => true, groupOf, fetch, close () {} }
}

describe('the memory of a load from a tile server', () => {
  for (const side of [1, 4]) {
    it(`does not grow with the number of tiles, ${side * side} in a request`, async () => {
      const connect = metatileServer(side)
      const source = await openSource('http://127.0.0.1:1/{z}/{x}/{y}.png', { area, zooms, connect })
      const samples = []
      const memoryInUse = () => {
        collectGarbage()
        const { heapUsed, arrayBuffers } = process.memoryUsage()
        return { heap: heapUsed, tiles: arrayBuffers }
      }
      const before = memoryInUse() // memory of earlier tests
      let tiles = 0
      for await (const { x, y, read } of source.walk()) {
        assert.ok(area.has(10, x, y))
        assert.equal((await read()).length, 20000)
        if (++tiles % 10000) continue
        samples.push(memoryInUse())
      }
      assert.equal(tiles, source.total)
      assert.ok(tiles > 90000)
      const heap = samples.map(({ heap: bytes }) => bytes - before.heap)
      assert.ok(Math.min(...heap.slice(-4)) - Math.min(...heap.slice(0, 4)) < 8e6,
        `${heap.map(bytes => Math.round(bytes / 1e6))} MB`)
      // unused buffers are freed with a delay; all tiles would be 1,800 MB
      const buffers = samples.map(({ tiles: bytes }) => bytes - before.tiles)
      assert.ok(Math.max(...buffers) < 150e6, `${buffers.map(bytes => Math.round(bytes / 1e6))} MB`)
    }).timeout(120000)
  }
})
