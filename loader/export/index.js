// Exports a layer, as it is or as it was, to files that need no store. An export may be stopped or killed at any moment
// and run again: a file gets its final name only when it is complete.
import { asOf, checkLayer, endOf, forbiddingHost, gridOf } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { withDigests } from '../store/fetch.js'
import { LATEST } from '../store/list.js'
import { openTarget } from './target.js'

export { targetFormats } from './target.js'

/**
 * @typedef {object} ExportOptions
 * @property {string} [time] as of which; a partial time is the end of its period; as it is now unless given
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {'xyz' | 'tms'} [scheme] how a folder counts rows: xyz from the north (xyz)
 * @property {string} [format] folder, mbtiles or pmtiles; from the name of the target unless given
 * @property {boolean} [cache] MBTiles with when tiles were fetched and expire, instead of equal tiles once
 * @property {boolean} [force] replace what is there
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
 * @property {number} bytes of them
 * @property {number} written
 * @property {number} kept there already from a run before
 * @property {number} missing listed, and deleted from the store before they could be read
 * @property {number} removed files of a run before that are no more in the layer
 * @property {Record<string, number>} types tiles written, by content type
 * @property {number} [size] of the target
 * @property {number} [distinct] contents in it
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
  const when = time === undefined ? undefined : endOf(time)
  const selection = { time: when, area, zooms, signal }
  if (await isEmpty(store.list(layer, selection))) {
    throw new TilecouchError('NOTHING_TO_EXPORT', { layer: when ? `${layer}@${when}` : layer })
  }
  const run = JSON.stringify({ store: await store.identity(), layer, time: when, area: area?.key, zooms, scheme })
  const opened = await openTarget(target, {
    format, layer, doc, run, time: when, named: time, area, zooms, scheme, cache, force
  })

  const counted = { written: 0, kept: 0, missing: 0, removed: 0 }
  const summaryOf = () => {
    const { tiles, bytes, types } = opened.facts
    return { layer, ...(when && { time: when }), target, format: opened.format, tiles, bytes, ...counted, types }
  }
  const counting = new AbortController()
  /** @type {number | undefined} */
  let total // counted beside the export, which reports what fails
  if (onProgress) {
    store.count(layer, { ...selection, signal: counting.signal }).then(({ tiles }) => { total = tiles }, () => {})
  }
  const show = () => onProgress?.({ ...summaryOf(), total })
  try {
    await copy(store, layer, opened, { ...selection, concurrency, counted, show })
    if (!opened.facts.tiles) throw new TilecouchError('NOTHING_TO_EXPORT', { layer })
    if (opened.tidies) await tidy(store, layer, opened, { ...selection, counted })
    const { minzoom, maxzoom, bounds } = opened.facts
    return { ...summaryOf(), ...await opened.finish(), minzoom, maxzoom, bounds }
  } catch (error) {
    throw Object.assign(error, { summary: summaryOf() })
  } finally {
    counting.abort()
    await opened.stop().catch(() => {}) // what went wrong before says more
  }
}

/** Where the terms of an upstream forbid to fetch tiles in advance, they forbid archives, too. */
export function checkTerms (doc, permission) {
  const host = permission ? undefined : forbiddingHost(doc)
  if (host) throw new TilecouchError('EXPORT_FORBIDDEN', { layer: doc.layer, host })
}

async function isEmpty (list) {
  for await (const one of list) return !one
  return true
}

/** @param {import('../store/index.js').Store} store */
async function copy (store, layer, opened, { concurrency, counted, show, ...wanted }) {
  // what an earlier run left is recognised by times, which the index of the present alone does not know
  const time = wanted.time ?? (opened.resumed ? LATEST : undefined)
  async function * lacking () {
    const listed = store.list(layer, { ...wanted, time })
    if (!opened.resumed) return yield * listed
    for await (const tile of withDigests(store, listed, wanted.signal)) {
      if (await opened.has(tile)) {
        counted.kept++
        show()
      } else yield tile
    }
  }
  const onMissing = () => { counted.missing++ }
  for await (const tile of store.fetch(lacking(), { signal: wanted.signal, concurrency, onMissing })) {
    await opened.add(tile)
    counted.written++
    show()
  }
}

/** @param {import('../store/index.js').Store} store */
async function tidy (store, layer, opened, { counted, time = LATEST, ...wanted }) {
  for await (const tile of store.listTiles(layer, wanted)) {
    const shown = asOf(tile.versions, time)
    counted.removed += await opened.tidy(tile, shown && !shown.gone ? shown.time : undefined)
  }
}
