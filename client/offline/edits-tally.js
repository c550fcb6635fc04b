// What became of the versions of an edition, counted as the edition's document at the store counts a load.

const counters = { create: 'created', advance: 'advanced', backfill: 'backfilled', unchanged: 'unchanged' }

/**
 * @typedef {{tiles: number, created: number, advanced: number, backfilled: number, unchanged: number, failed: number, missing: number, gone: number, bytes: number}} Tally
 * failed: refused by the store; gone, bytes: of those that were written
 */

/**
 * @param {import('./edits-index.js').Entry[]} versions
 * @param {{upload?: {left?: Tally}}} [edition] its document: with what was sent and is not kept here any more
 * @returns {Tally}
 */
export function tally (versions, { upload = {} } = {}) {
  const sum = { tiles: 0, created: 0, advanced: 0, backfilled: 0, unchanged: 0, failed: 0, missing: 0, gone: 0, bytes: 0, ...upload.left }
  for (const { bytes, upload: { outcome, error } = {} } of versions) {
    if (!outcome && !error) continue
    sum.tiles++
    if (error) sum.failed++
    else sum[counters[/** @type {string} */ (outcome)]]++
    if (error || outcome === 'unchanged') continue
    sum.bytes += bytes
    if (!bytes) sum.gone++
  }
  return sum
}

/** Tiles by content type. @param {{type?: string}[]} tiles @returns {Record<string, number>} */
export function typesOf (tiles) {
  const types = /** @type {Record<string, number>} */ ({})
  for (const { type } of tiles) if (type) types[type] = (types[type] ?? 0) + 1
  return types
}
