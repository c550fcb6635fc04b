// A million tiles must not need more memory than thousands. With a store that only makes tiles up, so that the test is
// about targets alone.
import assert from 'node:assert/strict'
import path from 'node:path'
import { exportLayer } from '../../loader/export/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { collectGarbage } from '../support/garbage.js'

const TIME = '2021-01-01T00:00:00Z'

function fakeStore (count) {
  const tiles = async function * () {
    for (let n = 0; n < count; n++) {
      yield {
        id: `osm:16:${n >> 8}:${n & 255}`, layer: 'osm', z: 16, x: n >> 8,
        y: n & 255, time: TIME, size: 0, current: true, gone: false
      }
    }
  }
  return /** @type {any} */ ({
    identity: async () => 'made up',
    layer: async () => ({ layer: 'osm', format: 'png' }),
    list: tiles,
    count: async () => ({ tiles: count }),
    async * fetch (listed) {
      for await (const tile of listed) {
        // behind the end of the image anything may stand
        const bytes = Buffer.concat([png(tile.y), Buffer.from(tile.id)])
        yield { ...tile, bytes, type: 'image/png', digest: digestOf(bytes), stored: TIME }
      }
    }
  })
}

describe('the memory of an export', () => {
  const folder = useFolder()
  for (const [target, count] of Object.entries(
    { out: 20000, 'out.mbtiles': 40000, 'cache.mbtiles': 40000, 'out.pmtiles': 40000 }
  )) {
    it(`does not grow with its tiles: ${target}`, async function () {
      this.timeout(120000)
      const heap = []
      await exportLayer(fakeStore(count), 'osm', path.join(folder.dir, target), {
        cache: target.startsWith('cache'),
        onProgress ({ tiles }) {
          if (tiles % (count / 10)) return
          collectGarbage()
          const { heapUsed, external, arrayBuffers } = process.memoryUsage()
          heap.push(heapUsed + external + arrayBuffers)
        }
      })
      assert.ok(heap.length >= 10)
      const growth = heap[9] - heap[2]
      assert.ok(growth < 8e6, `${heap.map(bytes => Math.round(bytes / 1e6))} MB`)
    })
  }
})
