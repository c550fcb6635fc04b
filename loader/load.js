// Loads a source as one edition of a layer. May be killed at any moment and run again: what is there is skipped.
import { TilecouchError, checkLayer, compareIds, formats, now, selector, startOf, tileBounds, tileId } from '../core/index.js'
import { union } from './store/stats.js'

const extensionOf = contentType => Object.values(formats).find(({ type }) => type === contentType)?.ext

/**
 * @typedef {object} LoadOptions
 * @property {string} layer
 * @property {string} [time] when the map looked like this; a partial time is the start of its period; now unless given
 * @property {string} [title] of the edition
 * @property {number} [ttl] seconds until a tile of the layer expires
 * @property {boolean} [complete] the source is the whole layer at that time: what it lacks is gone
 * @property {import('../core/grid.js').Bbox} [bbox] what the source was opened with, for `complete`
 * @property {import('../core/grid.js').Zooms} [zooms]
 * @property {Record<string, any>} [fields] of the layer document
 * @property {number} [batch]
 * @property {number} [concurrency]
 * @property {AbortSignal} [signal]
 * @property {(summary: import('./store/writer.js').WriteSummary, tuner: import('./store/tuner.js').Tuner) => void} [onProgress]
 * @property {(failure: {id: string, code: string, reason: string}) => void} [onFailure]
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {import('./sources/index.js').Source} source
 * @param {LoadOptions} options
 */
export async function load (store, source, { layer, time, title, ttl, complete = false, bbox, zooms, fields, ...writing }) {
  checkLayer(layer)
  if (complete && source.diff) throw new TilecouchError('BAD_OPTION', { option: '--complete', value: source.name, why: 'it is a diff: what it lacks has not changed' })
  const begun = now()
  const when = time ? startOf(time) : await unfinishedTime(store, layer, source.name) ?? begun
  // what the source says of itself fills gaps; what the operator says counts
  await store.defineLayer(layer, stored => ({ ...source.fields, ...stored, ...fields, ...(ttl !== undefined && { ttl }) }))
  await store.putEdition(layer, when, { ...(title && { title }), source: source.name, complete, started: begun, finished: undefined })

  const extent = new Extent()
  const summary = await store.write(versions(source, layer, when, extent), { ...writing, stored: begun })
  if (!summary.tiles && !source.diff) throw new TilecouchError('SOURCE_EMPTY', { value: source.name })
  if (complete) await removeMissing(store, source, { layer, time: when, select: selector({ bbox, zooms }), summary, writing: { ...writing, stored: begun } })

  await store.defineLayer(layer, stored => widen(stored, extent, summary))
  const { tiles, created, advanced, backfilled, unchanged, failed, gone, bytes } = summary
  const edition = await store.putEdition(layer, when, { tiles, created, advanced, backfilled, unchanged, failed, gone, bytes, finished: now() })
  return { ...summary, layer, time: when, edition }
}

// A load without a time that was stopped goes on with the time it began with
async function unfinishedTime (store, layer, name) {
  const editions = await store.editions(layer)
  return editions.findLast(edition => edition.source === name && !edition.finished)?.time
}

async function * versions (source, layer, time, extent) {
  for await (const { z, x, y, read, gone, expires, origin } of source.tiles()) {
    if (!gone) extent.add(z, x, y)
    yield { layer, z, x, y, time, read, gone, expires, origin }
  }
}

/** Tiles of the layer that a complete source no longer has become gone. */
async function removeMissing (store, source, { layer, time, select, summary, writing }) {
  const removed = await store.write(missing(store, source, layer, time, select, writing.signal), writing)
  for (const field of ['tiles', 'advanced', 'backfilled', 'unchanged', 'failed', 'gone']) summary[field] += removed[field]
  summary.failures.push(...removed.failures)
}

// Both sides come in the order of their ids, so that walking them together needs no memory
async function * missing (store, source, layer, time, select, signal) {
  const present = source.tiles()[Symbol.asyncIterator]()
  const nextId = async () => {
    const { done, value } = await present.next()
    return done ? null : tileId(layer, value.z, value.x, value.y)
  }
  let id = await nextId()
  for await (const head of store.heads(layer, { signal })) {
    if (!select(head.z, head.x, head.y)) continue
    while (id !== null && compareIds(id, head.id) < 0) {
      const next = await nextId()
      if (next !== null && compareIds(next, id) < 0) throw new TilecouchError('INTERNAL', { why: `${source.name} does not give its tiles in order` })
      id = next
    }
    if (id !== head.id) yield { layer, z: head.z, x: head.x, y: head.y, time, gone: true }
  }
}

/** The box of columns and rows seen at each zoom. */
class Extent {
  zooms = new Map()

  add (z, x, y) {
    const box = this.zooms.get(z)
    if (!box) this.zooms.set(z, [x, y, x, y])
    else {
      if (x < box[0]) box[0] = x
      if (y < box[1]) box[1] = y
      if (x > box[2]) box[2] = x
      if (y > box[3]) box[3] = y
    }
  }

  // the finest zoom says most exactly where the map is; coarse tiles reach far beyond it
  get bounds () {
    const z = Math.max(...this.zooms.keys())
    const [x0, y0, x1, y1] = this.zooms.get(z)
    const [west, , , north] = tileBounds(z, x0, y0)
    const [, south, east] = tileBounds(z, x1, y1)
    return [west, south, east, north].map((value, index) => Math.min(Math.max(value, index % 2 ? -90 : -180), index % 2 ? 90 : 180))
  }
}

function widen (stored, extent, { types }) {
  const levels = [...extent.zooms.keys()].filter(z => z <= 30)
  if (!levels.length) return stored
  const [commonest] = Object.entries(types).sort((a, b) => b[1] - a[1])
  return {
    ...stored,
    minzoom: Math.min(stored.minzoom ?? Infinity, ...levels),
    maxzoom: Math.max(stored.maxzoom ?? 0, ...levels),
    bounds: union(stored.bounds, extent.bounds),
    ...(!stored.format && commonest && { format: extensionOf(commonest[0]) })
  }
}
