// A hundred thousand tiles of a server must not need more memory than ten thousand, fetched one by one or as metatiles.
import assert from 'node:assert/strict'
import { parseArea } from '../../core/index.js'
import { openSource } from '../../loader/index.js'
import { collectGarbage } from '../support/garbage.js'

/** Tiles of 20 kB each, in squares of so many. */
const fakeUpstream = side => () => {
  const groupOf = (z, x,
    y) => (
      { key: '', tiles: Array.from({ length: side * side },
        (_, index) => ({ z, x: x - x % side + Math.floor(index / side), y: y - y % side + index % side })) }
    )
  return {
    covers: () => true,
    groupOf,
    fetch: async ({ z, x, y }) => (
      { kind: 'tiles', tiles: groupOf(z, x, y).tiles.map(
        tile => ({ ...tile, bytes: Buffer.alloc(20000, x), type: 'image/png' })
      ), origin: { url: '' }, expires: null }
    ),
    close () {}
  }
}

describe('the memory of a load from a tile server', () => {
  for (const side of [1, 4]) {
    it(`does not grow with the number of tiles, ${side * side} in a request`, async function () {
      this.timeout(120000)
      const area =
        parseArea({ polygon: { type: 'Polygon', coordinates: [[[-80, -60], [90, -40], [40, 70], [-80, -60]]] } })
      const zooms = { min: 10, max: 10 }
      const source = await openSource('http://127.0.0.1:1/{z}/{x}/{y}.png',
        { area, zooms, connect: /** @type {any} */ (fakeUpstream(side)) })
      const used = []
      const held = () => {
        collectGarbage()
        const { heapUsed, arrayBuffers } = process.memoryUsage()
        return { heap: heapUsed, tiles: arrayBuffers }
      }
      const before = held() // of all that was tested before
      let tiles = 0
      for await (const { x, y, read } of source.walk()) {
        assert.ok(area.has(10, x, y))
        assert.equal((await read()).length, 20000)
        if (++tiles % 10000) continue
        used.push(held())
      }
      assert.equal(tiles, source.total)
      assert.ok(tiles > 90000)
      const heap = used.map(({ heap: bytes }) => bytes - before.heap)
      assert.ok(Math.min(...heap.slice(-4)) - Math.min(...heap.slice(0, 4)) < 8e6,
        `${heap.map(bytes => Math.round(bytes / 1e6))} MB`)
      // buffers that nobody holds are given back some time after; all tiles would be 1,800 MB
      const buffers = used.map(({ tiles: bytes }) => bytes - before.tiles)
      assert.ok(Math.max(...buffers) < 150e6, `${buffers.map(bytes => Math.round(bytes / 1e6))} MB`)
    })
  }
})
