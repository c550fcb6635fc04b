// What a step of the clock costs: the history client, which fetches the versions that differ, beside reloading every tile
// of the view, which is Leaflet.TimeDimension's way, on the same data and over the same six connections.
import { addSeconds } from '../../core/index.js'
import { ImageCache } from '../../client/history/image-cache.js'
import { VersionIndex } from '../../client/history/version-index.js'
import { CouchSource } from '../../client/source/couch-source.js'
import { tileDocument } from '../../core/store/documents.js'
import { Tile } from '../../loader/store/tile.js'
import { interleaveLatencies } from '../measure.js'
import { noiseTile, random } from '../tiles.js'
import { columnsOf } from './viewport.js'
import { CONNECTIONS, Wire } from './wire.js'

const BYTES = 10_000 // of a tile
const BLOCK = { z: 14, x: 5000, y: 5000, columns: 20, rows: 16 }
const EDITIONS = 13
export const STEPS = EDITIONS - 1
const START = '2015-01-01T00:00:00Z'
export const SHARES = [0.05, 0.2, 1] // of the tiles that an edition changes

export const layerOf = share => `p${Math.round(share * 100)}`
export const blockOf = share => ({ layer: layerOf(share), ...BLOCK })
export const times = Array.from({ length: EDITIONS }, (_, index) => addSeconds(START, index * 30 * 86400))

/** Documents of a layer in which every edition changes so many of the tiles, in the order of their ids. */
export function * history (share) {
  const next = random(Math.round(share * 1000))
  const { z, columns, rows } = BLOCK
  for (let x = BLOCK.x; x < BLOCK.x + columns; x++) {
    for (let y = BLOCK.y; y < BLOCK.y + rows; y++) {
      const docs = times.filter((_, index) => next() < share || index === 0).map((time, index, all) => {
        const bytes = noiseTile(((x * 65536 + y) * 100 + index) ^ Math.round(share * 1000), BYTES)
        return tileDocument(new Tile({ layer: layerOf(share), z, x, y, time, type: 'image/png', bytes }), { current: index === all.length - 1, stored: time })
      })
      yield * [docs[docs.length - 1], ...docs.slice(0, -1)]
    }
  }
}

const tilesOf = view => columnsOf(view).flatMap(({ z, x, y0, y1 }) => Array.from({ length: y1 - y0 + 1 }, (_, row) => ({ z, x, y: y0 + row })))

/**
 * One map window with its history, each contender having shown the first edition.
 * @param {string} db @param {import('./viewport.js').View} view @param {AbortSignal} signal
 */
async function windowOf (db, view, signal) {
  const columns = columnsOf(view)
  const source = new CouchSource(db)
  const index = new VersionIndex()
  const start = performance.now()
  const missing = index.missing(columns)
  const answers = await source.versions(view.layer, missing, signal)
  missing.forEach((column, at) => index.add(column, answers[at]))
  const indexed = performance.now() - start
  const at = time => tilesOf(view).map(({ z, x, y }) => /** @type {import('../../client/source/couch-source.js').Version} */ (index.at(z, x, y, time)))

  const ours = new Wire()
  // what arrives stays as it is: a browser makes blobs outside of its script
  const tile = async (version, abort) => /** @type {any} */ ({ size: (await ours.get(source.tileUrl(version), abort))?.length })
  const store = new ImageCache({ tile }, { requests: CONNECTIONS })
  const differing = step => index.changedTiles(columns, times[step - 1], times[step])
  const all = (wire, urls) => Promise.all(urls.map(url => wire.get(url, signal)))
  const redirected = step => tilesOf(view).map(({ z, x, y }) => `${db}/_design/tiles/_rewrite/${view.layer}@${times[step]}/${z}/${x}/${y}.png`)
  const plain = step => at(times[step]).map(version => source.tileUrl(version))
  const reload = (name, urls, revalidate) => {
    const wire = new Wire({ revalidate })
    return { name, wire, show: step => all(wire, urls(step)) }
  }
  const ways = [
    {
      name: 'history client: only versions that differ',
      wire: ours,
      show: step => Promise.all((step ? differing(step).map(({ after }) => after) : at(times[0])).map(version => version && store.load(version)))
    },
    reload('reload all, layer@time/z/x/y.png and its 302', redirected, false),
    reload('reload all, layer@time/z/x/y.png and its 302, known images revalidated', redirected, true),
    reload('reload all, plain attachments', plain, false),
    reload('reload all, plain attachments, known images revalidated', plain, true)
  ]
  for (const { show } of ways) await show(0)
  return { ways, indexed, differing, close: () => ways.forEach(({ wire }) => wire.close()) }
}

/**
 * @param {string} db @param {import('./viewport.js').View[]} views @param {number} steps of each view
 * @param {AbortSignal} signal
 */
export async function measureSteps (db, views, steps, signal) {
  const windows = []
  try {
    for (const view of views) windows.push(await windowOf(db, view, signal))
    const expected = windows.flatMap(({ differing }) => Array.from({ length: steps }, (_, step) => differing(step + 1).length))
    const results = await interleaveLatencies(windows[0].ways.map(({ name }, way) => ({
      name,
      run: async round => {
        const { wire, show } = windows[Math.floor(round / steps)].ways[way]
        const before = { requests: wire.requests, bytes: wire.received, unchanged: wire.unchanged }
        await show(round % steps + 1)
        return { requests: wire.requests - before.requests, bytes: wire.received - before.bytes, unchanged: wire.unchanged - before.unchanged }
      }
    })), windows.length * steps, signal)
    const total = way => windows.reduce((sum, { ways }) => sum + ways[way].wire.requests, 0)
    const shown = windows.length * tilesOf(views[0]).length
    const differing = expected.reduce((sum, count) => sum + count, 0)
    // each version that differs, once, and nothing else
    const exact = total(0) - shown === differing
    return { steps: expected.length, differing, requested: total(0) - shown, exact, indexed: Math.round(Math.max(...windows.map(({ indexed }) => indexed))), results }
  } finally {
    for (const { close } of windows) close()
  }
}
