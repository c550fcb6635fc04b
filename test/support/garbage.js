// Collects garbage at once, and measures whether memory grows with the number of tiles.
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
export const collectGarbage = runInNewContext('gc')

/** @param {number} every tiles between two measurements */
export function measureHeap (every) {
  const heap = []
  let lastCount = 0
  return {
    onProgress ({ tiles }) {
      if (tiles < lastCount + every) return
      lastCount = tiles
      collectGarbage()
      heap.push(process.memoryUsage().heapUsed)
    },
    checkFlat () {
      assert.ok(heap[heap.length - 1] - heap[1] < 8e6, `${heap.map(bytes => Math.round(bytes / 1e6))} MB`)
    }
  }
}
