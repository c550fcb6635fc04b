// The memory of exports and diffs does not grow with the number of tiles. The stores are fakes that generate tiles.
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { asOf, diff, exportLayer } from '../../loader/index.js'
import { GeoJsonReport, ListReport } from '../../loader/export/diff/reports.js'
import { digestOf } from '../../loader/store/tile.js'
import { useFolder } from '../support/folder.js'
import { collectGarbage, measureHeap } from '../support/garbage.js'
import { png } from '../support/tiles.js'

const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
const COLUMNS = 500

/** A fake store with a layer of `count` different tiles. */
function storeOf (count) {
  const tiles = async function * () {
    for (let n = 0; n < count; n++) {
      yield {
        id: `osm:16:${n >> 8}:${n & 255}`, layer: 'osm', z: 16, x: n >> 8,
        y: n & 255, time: T1, size: 0, current: true, gone: false
      }
    }
  }
  return {
    identity: async () => 'made up',
    layer: async () => ({ layer: 'osm', format: 'png' }),
    list: tiles,
    count: async () => ({ tiles: count }),
    async * fetch (listed) {
      for await (const tile of listed) {
        // bytes after the end of an image are allowed, and make it different
        const bytes = Buffer.concat([png(tile.y), Buffer.from(tile.id)])
        yield { ...tile, bytes, type: 'image/png', digest: digestOf(bytes), stored: T1 }
      }
    }
  }
}

describe('the memory of an export', () => {
  const folder = useFolder()
  for (const [target, count] of Object.entries(
    { out: 20000, 'out.mbtiles': 40000, 'cache.mbtiles': 40000, 'out.pmtiles': 40000 }
  )) {
    it(`does not grow with its tiles: ${target}`, async () => {
      const heap = []
      await exportLayer(storeOf(count), 'osm', folder.path(target), {
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
    }).timeout(120000)
  }
})

/**
 * A fake store. At T2 every fourth tile has a new version of the same size. Half of these have the same bytes, and some
 * tiles are gone.
 */
function storeOfLayers () {
  const version = (layer, z, x, y, time, current, gone = false) => (
    {
      id: `${layer}:${z}:${x}:${y}${current ? '' : `@${time}`}`, layer, z, x, y, time, current, gone,
      size: gone ? 0 : 1000
    }
  )
  const isChanging = (x, y) => (x + y) % 4 === 0
  const store = {
    peeked: 0,
    largest: 0,
    layer: async () => ({}),
    couch: { ranges: async ranges => ranges.map(() => []) }, // there are no manifests
    async * listTiles (layer) {
      for (let x = 1000; x < 1000 + COLUMNS; x++) {
        for (let y = 1000; y < 1500; y++) {
          const versions = isChanging(x, y)
            ? [version(layer, 11, x, y, T1, false),
              version(layer, 11, x, y, T2, true, (x + y) % 8 === 0 && y % 16 === 0)]
            : [version(layer, 11, x, y, T1, true)]
          yield { z: 11, x, y, versions }
        }
      }
    },
    async * list (layer, { time }) {
      for await (const { versions } of store.listTiles(layer)) {
        const visible = asOf(versions, time)
        if (!visible.gone) yield visible
      }
    },
    async versionsById (ids) {
      store.peeked += ids.length
      store.largest = Math.max(store.largest, ids.length)
      return new Map(ids.map(id => {
        const [, , x, y, ...time] = id.split(/[:@]/)
        const isOld = time.length > 0 || !isChanging(+x, +y)
        return [id, { time: isOld ? T1 : T2, digest: isOld || (+x + +y) % 8 === 4 ? 'a' : 'b' }]
      }))
    }
  }
  return store
}

describe('the memory of a diff', () => {
  const folder = useFolder()

  for (const [comparisonName, to] of Object.entries({ 'two times': 'map@2024', 'two layers': 'other' })) {
    it(`does not grow with the tiles of ${comparisonName}`, async () => {
      const store = storeOfLayers()
      const list = await ListReport.open(folder.path('l.jsonl'), process.stdout)
      const polygons = await GeoJsonReport.open(folder.path('g.geojson'), { name: 'x', everyZoom: true })
      const heap = measureHeap(25000)
      const summary = await diff(store, 'map@2023', to, {
        async onTile (change) {
          await list.add(change)
          await polygons.add(change)
        },
        onProgress: heap.onProgress
      })
      await list.finish()
      await polygons.finish()
      const { added, removed, changed, same } = summary.tiles
      assert.ok(added + removed + changed + same > COLUMNS * 400, JSON.stringify(summary.tiles))
      assert.ok(changed + removed > 10000 && store.peeked > 10000, JSON.stringify([summary.tiles, store.peeked]))
      assert.ok(store.largest <= 1000)
      assert.ok(statSync(folder.path('g.geojson')).size > 1e6)
      heap.checkFlat()
    }).timeout(120000)
  }
})
