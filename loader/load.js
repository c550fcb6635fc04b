// Loads a source as one edition of a layer. May be killed at any moment and run again: what is there is skipped.
import { TilecouchError, checkLayer, now, parseArea, selectorOf, startOf } from '../core/index.js'
import { widen } from '../core/store/extent.js'
import { missingTiles } from './load/missing.js'
import { Pass } from './load/pass.js'

/**
 * @typedef {object} LoadOptions
 * @property {string} layer
 * @property {string} [time] when the map looked like this; a partial time is the start of its period; unless given what the source says, else now
 * @property {string} [title] of the edition
 * @property {number} [ttl] seconds until a tile of the layer expires
 * @property {boolean} [complete] the source is the whole layer at that time: what it lacks is gone
 * @property {import('../core/grid.js').Bbox} [bbox] what the source was opened with, for `complete`
 * @property {import('../core/area.js').Area} [area] the same
 * @property {import('../core/grid.js').Zooms} [zooms] the same
 * @property {Record<string, any>} [fields] of the layer document
 * @property {string} [of] which state of the source it is, for whoever loads it again
 * @property {number} [batch]
 * @property {number} [concurrency]
 * @property {AbortSignal} [signal]
 * @property {(edition: {layer: string, time: string}) => void} [onBegin]
 * @property {(summary: import('./store/writer.js').WriteSummary, tuner: import('./store/tuner.js').Tuner) => void} [onProgress]
 * @property {(failure: {id: string, code: string, reason: string}) => void} [onFailure]
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {import('./sources/index.js').Source} source
 * @param {LoadOptions} options
 */
export async function load (store, source, {
  layer, time, title, ttl, complete = false, bbox, area = bbox && parseArea({ bbox }), zooms, fields, of, onBegin, ...writing
}) {
  checkLayer(layer)
  if (complete && source.diff) throw new TilecouchError('BAD_OPTION', { option: '--complete', value: source.name, why: 'it is a diff: what it lacks has not changed' })
  if (!source.diff && await isEmpty(source)) throw new TilecouchError('SOURCE_EMPTY', { value: source.name })
  const begun = now()
  const when = time ? startOf(time) : source.time ?? await unfinishedTime(store, layer, source.name) ?? begun
  // what the source says of itself fills gaps; what the operator says counts
  const doc = await store.defineLayer(layer, stored => ({ ...source.fields, ...stored, ...fields, ...(ttl !== undefined && { ttl }) }))
  const before = await store.edition(layer, when)
  await store.putEdition(layer, when, { ...(title && { title }), source: source.name, complete, started: begun, finished: undefined, of })
  onBegin?.({ layer, time: when })

  const pass = new Pass(store, source, { layer: doc, time: when, complete, again: Boolean(before) })
  const options = { ...writing, stored: begun }
  try {
    const summary = pass.count(await store.write(pass.versions(), options))
    if (!summary.tiles && !source.diff) throw new TilecouchError('SOURCE_EMPTY', { value: source.name })
    // a source of which nothing can be read is in trouble, not empty
    if (complete && summary.failed < summary.tiles) await remove(store, source, { layer, time: when, selected: selectorOf(area, zooms), absent: await pass.absent, summary, options })
    await store.defineLayer(layer, stored => widen(stored, pass.extent, summary))
    const { types, failures, ...counts } = summary
    // a load that found everything there says nothing new: the edition keeps what the one says that put it there
    const isRepeated = before?.tiles !== undefined && !counts.created && !counts.advanced && !counts.backfilled
    const { started = begun, finished = now() } = isRepeated ? before : {}
    const edition = await store.putEdition(layer, when, { ...(!isRepeated && counts), started, finished })
    return { ...summary, ...(source.ignored && { ignored: source.ignored }), layer, time: when, edition }
  } catch (error) {
    if (error.summary) pass.count(error.summary)
    throw error
  } finally {
    await pass.close()
  }
}

/** Whether a source has no tiles at all of what was selected. @param {import('./sources/index.js').Source} source */
export async function isEmpty (source) {
  if (source.total) return false
  for await (const _ of source.tiles()) return false
  return true
}

// A load without a time that was stopped goes on with the time it began with
async function unfinishedTime (store, layer, name) {
  const editions = await store.editions(layer)
  return editions.findLast(edition => edition.source === name && !edition.finished)?.time
}

/** Tiles of the layer that a complete source no longer has become gone. */
async function remove (store, source, { layer, time, selected, absent, summary, options }) {
  const versions = async function * () {
    for await (const tile of missingTiles(store, source, { layer, selected, absent, signal: options.signal })) yield { layer, time, ...tile, gone: true }
  }
  const removed = await store.write(versions(), options)
  for (const field of ['advanced', 'backfilled', 'failed', 'gone']) summary[field] += removed[field]
  summary.tiles += removed.tiles - removed.unchanged // what was gone before is no news
  summary.failures.push(...removed.failures)
}
