// Exports a layer, as it is now or as of a time, to files that need no store. An export may be stopped or killed at any
// moment and run again: a file gets its final name only when it is complete.
import { asOf, checkLayer, endOf, forbiddingHost, gridOf } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { withDigests } from '../store/fetch.js'
import { LATEST } from '../store/list.js'
import { openTarget } from './target.js'

/**
 * @typedef {object} ExportOptions
 * @property {string} [time] exports the layer as of this time; a partial time is the end of its period; by default now
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {'xyz' | 'tms'} [scheme] how a folder counts rows: xyz from the north (xyz)
 * @property {string} [format] folder, mbtiles or pmtiles; by default from the name of the target
 * @property {boolean} [cache] MBTiles with the times of fetching and expiry; equal tiles are then stored several times
 * @property {boolean} [force] replace existing files
 * @property {boolean} [permission] export although the terms of the layer's upstream forbid it
 * @property {number} [concurrency] requests in flight
 * @property {AbortSignal} [signal]
 * @property {(progress: ExportSummary & {total?: number}) => void} [onProgress] total: all tiles, once known
 *
 * @typedef {object} ExportSummary
 * @property {string} layer
 * @property {string} [time] exact
 * @property {string} target
 * @property {string} format
 * @property {number} tiles in the target
 * @property {number} bytes of these tiles
 * @property {number} written
 * @property {number} kept tiles that an earlier run wrote
 * @property {number} missing tiles that were deleted from the store after they were listed
 * @property {number} removed files of an earlier run that are no longer in the layer
 * @property {Record<string, number>} types tiles written, by content type
 * @property {number} [size] of the target
 * @property {number} [distinct] different images in the target
 * @property {number} [minzoom]
 * @property {number} [maxzoom]
 * @property {number[]} [bounds]
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} target
 * @param {ExportOptions} [options]
 * @returns {Promise<ExportSummary>}
 */
export async function exportLayer (store, layer, target, options = {}) {
  const { time, zooms, scheme = 'xyz', format, cache, force, permission, concurrency, signal, onProgress } = options
  const doc = await store.layer(checkLayer(layer))
  const area = options.area?.in(gridOf(doc))
  checkTerms(doc, permission)
  const endTime = time === undefined ? undefined : endOf(time)
  const selection = { time: endTime, area, zooms, signal }
  if (await isEmpty(store.list(layer, selection))) {
    throw new TilecouchError('NOTHING_TO_EXPORT', { layer: endTime ? `${layer}@${endTime}` : layer })
  }
  const run = JSON.stringify({ store: await store.identity(), layer, time: endTime, area: area?.key, zooms, scheme })
  const opened = await openTarget(target, {
    format, layer, doc, run, time: endTime, typedTime: time, area, zooms, scheme, cache, force
  })

  const counted = { written: 0, kept: 0, missing: 0, removed: 0 }
  const summaryOf = () => {
    const { tiles, bytes, types } = opened.facts
    return { layer, ...(endTime && { time: endTime }), target, format: opened.format, tiles, bytes, ...counted, types }
  }
  const counting = new AbortController()
  /** @type {number | undefined} */
  let total // counted during the export; the export reports errors
  if (onProgress) {
    store.count(layer, { ...selection, signal: counting.signal }).then(({ tiles }) => { total = tiles }, () => {})
  }
  const show = () => onProgress?.({ ...summaryOf(), total })
  try {
    await copyTiles(store, layer, opened, { ...selection, concurrency, counted, show })
    if (!opened.facts.tiles) throw new TilecouchError('NOTHING_TO_EXPORT', { layer })
    if (opened.tidies) await removeOldFiles(store, layer, opened, { ...selection, counted })
    const { minzoom, maxzoom, bounds } = opened.facts
    return { ...summaryOf(), ...await opened.finish(), minzoom, maxzoom, bounds }
  } catch (error) {
    throw Object.assign(error, { summary: summaryOf() })
  } finally {
    counting.abort()
    await opened.stop().catch(() => {}) // an earlier error is more important
  }
}

/** Throws if the terms of the upstream forbid seeding, because they forbid archives then, too. */
export function checkTerms (doc, permission) {
  const host = permission ? undefined : forbiddingHost(doc)
  if (host) throw new TilecouchError('EXPORT_FORBIDDEN', { layer: doc.layer, host })
}

async function isEmpty (list) {
  for await (const entry of list) return !entry
  return true
}

/** @param {import('../store/index.js').Store} store */
async function copyTiles (store, layer, opened, { concurrency, counted, show, ...selection }) {
  // files of an earlier run are recognised by their times, which the index of the present does not have
  const time = selection.time ?? (opened.resumed ? LATEST : undefined)
  async function * missingTiles () {
    const listed = store.list(layer, { ...selection, time })
    if (!opened.resumed) return yield * listed
    for await (const tile of withDigests(store, listed, selection.signal)) {
      if (await opened.has(tile)) {
        counted.kept++
        show()
      } else yield tile
    }
  }
  const onMissing = () => { counted.missing++ }
  for await (const tile of store.fetch(missingTiles(), { signal: selection.signal, concurrency, onMissing })) {
    await opened.add(tile)
    counted.written++
    show()
  }
}

/** @param {import('../store/index.js').Store} store */
async function removeOldFiles (store, layer, opened, { counted, time = LATEST, ...selection }) {
  for await (const tile of store.listTiles(layer, selection)) {
    const shown = asOf(tile.versions, time)
    counted.removed += await opened.tidy(tile, shown && !shown.gone ? shown.time : undefined)
  }
}
