// What the databases of the device hold of a layer, counted. PouchDB has no index for it that would be cheap: what was
// counted is kept until something is written.
import { isTileId, parseTileId, toSeconds } from '../../core/index.js'

/** @typedef {{first?: string, last?: string}} Times */

export class Census {
  /** @type {WeakMap<object, Map<string, {since: number | string, times: Times, turn: Promise<any>}>>} database -> layer -> how far it was read */
  #read = new WeakMap()
  /** @type {Map<string, {places: string, stats: Awaited<ReturnType<typeof count>>}>} */
  #counted = new Map()

  /**
   * First and last time of a layer in a database, of its editions as well: they tell of more than an area. Reads on from
   * where it was; what has gone since is not missed.
   * @param {object} db @param {import('./reader.js').Reader} reader @param {string} layer
   * @returns {Promise<Times>}
   */
  times (db, reader, layer) {
    const layers = this.#read.get(db) ?? new Map()
    this.#read.set(db, layers)
    const known = layers.get(layer) ?? { since: 0, times: {}, turn: Promise.resolve() }
    layers.set(layer, known)
    const next = known.turn.then(async () => {
      for await (const { docs, since } of reader.since(known.since)) {
        for (const doc of docs) widen(known.times, timeOf(doc, layer))
        known.since = since
      }
      return { ...known.times }
    })
    known.turn = next.catch(() => {})
    return next
  }

  /**
   * @param {string} layer
   * @param {import('./reader.js').Reader[]} readers of what overlaps is counted once
   */
  async stats (layer, readers) {
    const places = JSON.stringify(await Promise.all(readers.map(reader => reader.place().catch(() => 'closed'))))
    const known = this.#counted.get(layer)
    if (known?.places === places) return known.stats
    const stats = await count(layer, readers)
    this.#counted.set(layer, { places, stats })
    return stats
  }
}

/** In the shape of the view sizes/by_zoom, added up. */
async function count (layer, readers) {
  const stats = { tiles: 0, versions: 0, bytes: 0, first: Infinity, last: -Infinity, zooms: /** @type {{z: number, tiles: number, x0: number, x1: number, y0: number, y1: number}[]} */ ([]) }
  const seen = new Set()
  const zooms = new Map()
  for (const reader of readers) {
    try {
      for await (const versions of reader.all(layer)) {
        for (const { z, x, y, time, bytes, gone, current } of versions) {
          const key = `${z}/${x}/${y}${current ? '' : time}`
          if (seen.has(key)) continue
          seen.add(key)
          stats.versions++
          stats.bytes += bytes
          stats.first = Math.min(stats.first, toSeconds(time))
          stats.last = Math.max(stats.last, toSeconds(time))
          if (!current || gone) continue
          stats.tiles++
          const zoom = zooms.get(z) ?? { z, tiles: 0, x0: x, x1: x, y0: y, y1: y }
          zooms.set(z, { z, tiles: zoom.tiles + 1, x0: Math.min(zoom.x0, x), x1: Math.max(zoom.x1, x), y0: Math.min(zoom.y0, y), y1: Math.max(zoom.y1, y) })
        }
      }
    } catch {
      // closed or removed in the middle
    }
  }
  stats.zooms = [...zooms.values()].sort((a, b) => a.z - b.z)
  return stats
}

function timeOf (doc, layer) {
  if (doc?.layer !== layer || doc._deleted) return undefined
  if (doc.type === 'edition') return doc.time
  return isTileId(doc._id) ? parseTileId(doc._id).time ?? doc.time : undefined
}

function widen (times, time) {
  if (typeof time !== 'string') return
  if (!times.first || time < times.first) times.first = time
  if (!times.last || time > times.last) times.last = time
}
