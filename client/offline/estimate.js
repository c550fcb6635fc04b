// How much an area is, before anything of it is there: places, versions, bytes, and what goes over the net.
import { Listing, chosenIn } from './listing.js'

/** @typedef {{tiles: number, versions: number, bytes: number, transfer: number, requests: number}} Estimate */

const HEAD = 800 // bytes of a document and its MIME heads

/**
 * @param {import('../mirror/http.js').HttpCouch} couch
 * @param {import('../../core/mirror/index.js').Selection} selection of one layer
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Estimate>} tiles: places with an image now, or ever; versions: documents of tiles; bytes: of images; transfer: bytes of bodies
 */
export async function estimate (couch, selection, { signal } = {}) {
  const listing = new Listing(couch, selection, { signal })
  const zooms = (await listing.zooms()).map(({ z }) => z)
  const ranges = listing.within(await listing.columns(zooms))
  let [tiles, versions, bytes] = [0, 0, 0]
  for await (const parts of listing.read(ranges)) {
    for (const part of parts) {
      const imaged = new Set()
      for (const row of chosenIn(part.rows, selection, new Map())) {
        versions++
        bytes += row.bytes
        if (!row.gone) imaged.add(row.y)
      }
      tiles += imaged.size
    }
  }
  return { tiles, versions, bytes, transfer: bytes + versions * HEAD, requests: listing.requests }
}
