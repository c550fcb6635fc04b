// Estimates an area before its download: tiles, versions and bytes of images as the views of the store sum them, and
// about how many bytes the download transfers.
import { bytesOfStyles, fetchStyles } from './area-styles.js'
import { StoreListing, selectedRows } from './store-listing.js'

const BY_ZOOM = '_design/versions/_view/by_zoom'
const BY_AREA = '_design/versions/_view/by_area'
const REST_BY_AREA = '_design/versions/_view/rest_by_area'

const DOCUMENT_BYTES = 1000 // bytes of a listing row and of a document without its image

/**
 * @typedef {{tiles: number, versions: number, bytes: number, styles: number, transfer: number}} Estimate
 * @typedef {{count: number, bytes: number}} Sum
 */

/**
 * @param {import('../mirror/http.js').HttpCouch} couch
 * @param {import('../../core/mirror/index.js').Selection} selection of one layer
 * @param {{signal?: AbortSignal, limits?: Partial<typeof import('./store-listing.js').listingDefaults>}} [options]
 * @returns {Promise<Estimate>} tiles: with an image now; versions: documents of tiles; bytes: of images; styles: bytes
 *   of styles, sprites and glyphs at most: only glyphs that labels need are downloaded; transfer: about how many bytes
 *   a download transfers
 */
export async function estimate (couch, selection, { signal, limits } = {}) {
  const listing = new StoreListing(couch, selection, { signal, limits })
  const counts = await (selection.since ? countRows(listing) : sumViews(listing).catch(error => {
    if (error.code !== 'INDEX_MISSING') throw error
    return countRows(listing) // the design documents of the store are older
  }))
  const { documents, styles: rows } = await listing.layerDocuments()
  const styles = bytesOfStyles((await fetchStyles(couch, rows, signal)).styles)
  const transfer = counts.bytes + (counts.versions + documents.length) * DOCUMENT_BYTES + styles
  return { ...counts, styles, transfer }
}

/** @param {StoreListing} listing */
async function sumViews (listing) {
  const zooms = await listing.zooms(BY_ZOOM, 3)
  const zoomsOf = kind => zooms.filter(zoom => zoom.kind === kind)
  const views = [sumView(listing, BY_AREA, zoomsOf('current')), sumView(listing, REST_BY_AREA, zoomsOf('gone'), 'gone')]
  if (!listing.selection.current) {
    views.push(sumView(listing, REST_BY_AREA, zoomsOf('past'), 'past'))
    views.push(sumView(listing, REST_BY_AREA, zoomsOf('gone'), 'past gone'))
  }
  const sums = await Promise.all(views)
  return {
    tiles: sums[0].count,
    versions: sums.reduce((total, { count }) => total + count, 0),
    bytes: sums.reduce((total, { bytes }) => total + bytes, 0)
  }
}

/**
 * The sum of the rows of an area in a view with keys [layer, zoom, (kind,) column, row].
 * @param {StoreListing} listing @param {string} view
 * @param {{z: number, value: any}[]} zooms with statistics of their times, columns and rows
 * @param {string} [kind]
 * @returns {Promise<Sum>}
 */
async function sumView (listing, view, zooms, kind) {
  const sum = { count: 0, bytes: 0 }
  const add = value => {
    sum.count += value.count
    sum.bytes += value.sum
  }
  if (!zooms.length) return sum
  const columns = await listing.columns(zooms.map(({ z }) => z), view, kind)
  const keyOf = (z, x, y) => [listing.layer, z, ...(kind === undefined ? [] : [kind]), x, y]
  const queries = []
  for (const { z, value: [, , , { min, max }] } of zooms) {
    for (const [x, value] of columns.get(z) ?? []) {
      for (const [y0, y1] of listing.runsOf(z, x)) {
        if (y0 <= min && y1 >= max) add(value)
        else if (y0 <= max && y1 >= min) queries.push({ startkey: keyOf(z, x, y0), endkey: keyOf(z, x, y1) })
      }
    }
  }
  for (const [row] of await listing.ask(view, queries)) if (row) add(row.value)
  return sum
}

/**
 * Reads every row: which versions belong to a `since` depends on all versions of the tile.
 * @param {StoreListing} listing
 */
async function countRows (listing) {
  const counts = { tiles: 0, versions: 0, bytes: 0 }
  const zooms = (await listing.zooms()).map(({ z }) => z)
  for await (const { parts } of listing.read(listing.ranges(await listing.columns(zooms)))) {
    for (const { id, bytes, gone } of parts.flatMap(({ rows }) => [...selectedRows(rows, listing.selection)])) {
      counts.versions++
      counts.bytes += bytes
      if (!gone && !id.includes('@')) counts.tiles++
    }
  }
  return counts
}
