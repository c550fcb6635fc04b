// How much an area is, before anything of it is there: places, versions, bytes, and what goes over the net. Summed by the store:
// whole columns where the area holds all that is in them, else one sum a column.
import { Listing, chosenIn, isHead } from './listing.js'
import { Sample } from './sample.js'
import { Sums } from './sums.js'

const BY_ZOOM = '_design/sizes/_view/by_zoom'

/** @typedef {{tiles: number, versions: number, bytes: number, transfer: number, requests: number}} Estimate */

/**
 * @param {import('../mirror/http.js').HttpCouch} couch
 * @param {import('../../core/mirror/index.js').Selection} selection of one layer
 * @param {{signal?: AbortSignal, limits?: Partial<typeof import('./listing.js').listingDefaults>}} [options]
 * @returns {Promise<Estimate>} tiles: places with an image now, or ever; versions: documents of tiles; bytes: of images; transfer: of bodies,
 *   the listing, documents and images as _bulk_get answers them. Places whose head somebody has deleted, and not its past, are not among the tiles
 */
export async function estimate (couch, selection, { signal, limits } = {}) {
  const listing = new Listing(couch, selection, { signal, limits })
  const sample = new Sample(couch, listing, signal)
  const counts = await (selection.since ? list : sum)(listing, sample)
  const transfer = await sample.weigh()
  return { ...counts, transfer, requests: listing.requests + sample.requests }
}

/** @param {Listing} listing @param {Sample} sample */
async function sum (listing, sample) {
  const { current } = listing.selection
  const zooms = (await listing.zooms(BY_ZOOM, 3)).map(({ z, kind, value }) => ({ z, kind, ySpan: [value[3].min, value[3].max] }))
  const of = kind => zooms.filter(zoom => zoom.kind === kind)
  const now = await new Sums(listing).read(of('current'))
  const beside = await restOf(listing, of).catch(error => { if (error.code !== 'INDEX_MISSING') throw error })
  if (!beside) return list(listing, sample) // a store whose design documents are older
  sample.take('head', now)
  // also what is not taken is listed
  const before = beside.past.count + beside['past gone'].count
  sample.listed = { rows: now.count + beside.gone.count + before, past: before, columns: now.ranges.length }
  const rest = current ? { ...beside, past: NOTHING, 'past gone': NOTHING } : beside
  for (const [kind, found] of Object.entries(rest)) sample.take(kind, found)
  const all = [now, ...Object.values(rest)]
  return {
    tiles: now.count + (rest.past.count && rest.gone.count ? await onceImaged(listing, /** @type {Sums} */ (rest.gone)) : 0),
    versions: all.reduce((total, { count }) => total + count, 0),
    bytes: all.reduce((total, { bytes }) => total + bytes, 0)
  }
}

/** What there is beside the images of now, by kinds. @param {Listing} listing @param {(kind: string) => any[]} of */
async function restOf (listing, of) {
  const read = async (kind, among) => new Sums(listing, kind).read(of(among))
  const [gone, past, pastGone] = await Promise.all([read('gone', 'gone'), read('past', 'past'), read('past gone', 'gone')])
  return { past, gone, 'past gone': pastGone }
}

const NOTHING = { count: 0, bytes: 0, spots: async () => /** @type {{id: string, bytes: number}[]} */ ([]) }

/** Places where there is no tile any more, and was one. @param {Listing} listing @param {Sums} gone */
async function onceImaged (listing, gone) {
  let count = 0
  for await (const places of gone.places()) count += await new Sums(listing, 'past').countOf(places)
  return count
}

/** Row by row: what belongs depends on all versions of a tile. @param {Listing} listing @param {Sample} sample */
async function list (listing, sample) {
  const zooms = (await listing.zooms()).map(({ z }) => z)
  let [tiles, versions, bytes] = [0, 0, 0]
  for await (const { parts } of listing.read(listing.within(await listing.columns(zooms)))) {
    for (const part of parts) {
      const imaged = new Set()
      sample.listed.columns++
      sample.listed.rows += part.rows.length
      sample.listed.past += part.rows.filter(row => !isHead(row)).length
      for (const row of chosenIn(part.rows, listing.selection, new Map())) {
        versions++
        bytes += row.bytes
        if (!row.gone) imaged.add(row.y)
        sample.add(row.gone ? isHead(row) ? 'gone' : 'past gone' : isHead(row) ? 'head' : 'past', row)
      }
      tiles += imaged.size
    }
  }
  return { tiles, versions, bytes }
}
