// What a prune would remove by a policy, computed in the page as `tilecouch prune --dry-run` does it. Of a small layer
// every version is looked at; of a large one only its moments, which says how much would go at most.
import { faultIn } from '../../../core/documents.js'
import { MomentSelector, versionsToPrune } from '../../../core/retention.js'
import { addSeconds } from '../../../core/times.js'

export const previewDefaults = {
  moments: 5000, // read with one request
  mostMoments: 50_000, // that are looked at
  versions: 2000, // read with one request
  mostVersions: 20_000, // of a layer of which every version is looked at
  loading: 86400 // seconds after the start of an edition in which it may still be loading, as in loader/prune/plan.js
}

const VIEW = '_design/versions/_view/'

/** @typedef {{time: string, versions: number, bytes: number, edition?: any}} Moment */
/** @typedef {Moment & {by: string[]}} Judged by: the rules that keep it; none: it goes */

/**
 * The times at which a layer changed, newest first.
 * @param {import('../couch.js').Couch} couch @param {string} layer @param {AbortSignal} signal
 * @returns {Promise<{moments: Moment[], isWhole: boolean}>}
 */
export async function readMoments (couch, layer, signal, limits = previewDefaults) {
  /** @type {Moment[]} */
  const moments = []
  for (let startkey = [layer, {}]; ;) {
    const query = { startkey, endkey: [layer], descending: true, group_level: 2, limit: limits.moments }
    const { rows } = await couch.ask(`${VIEW}by_time`, { query, signal })
    for (const { key: [, time], value } of rows) moments.push({ time, versions: value.count, bytes: value.sum })
    if (rows.length < limits.moments) return { moments, isWhole: true }
    if (moments.length >= limits.mostMoments) return { moments, isWhole: false }
    startkey = [layer, rows[rows.length - 1].key[1]]
  }
}

/**
 * Which moments stay.
 * @param {import('../../../core/retention.js').Retention} policy
 * @param {Moment[]} moments newest first @param {any[]} editions documents of the layer @param {string} now
 * @returns {{judged: Judged[], kept: import('../../../core/retention.js').Kept, missing: string[]}}
 */
export function judge (policy, moments, editions, now, limits = previewDefaults) {
  const byTime = new Map(moments.map(moment => [moment.time, moment]))
  for (const edition of editions) {
    const { time } = edition
    byTime.set(time, { versions: 0, bytes: 0, ...byTime.get(time), time, edition })
  }
  const selector = new MomentSelector(policy, { now: () => now })
  const begun = addSeconds(now, -limits.loading)
  const isLoading = edition => edition !== undefined &&
    (Boolean(faultIn(edition)) || (!edition.finished && edition.started > begun))
  const judged = [...byTime.values()].sort((a, b) => a.time < b.time ? 1 : -1).map(moment => {
    const { time, edition } = moment
    return { ...moment, by: selector.take({ time, edition: Boolean(edition), always: isLoading(edition) }) }
  })
  const { moments: times, from, oldest, missing } = selector.end()
  if (judged.length) judged[judged.length - 1].by.push(...oldest)
  return { judged, kept: { moments: times, from }, missing }
}

/** At most so much goes: versions of moments that stay are always shown. @param {Judged[]} judged */
export function atMost (judged) {
  const going = judged.filter(({ by }) => !by.length)
  const sum = field => going.reduce((total, moment) => total + moment[field], 0)
  return { versions: sum('versions'), bytes: sum('bytes') }
}

/**
 * The versions of a layer, tile by tile. Read once, for every policy that is tried.
 * @param {import('../couch.js').Couch} couch @param {string} layer @param {AbortSignal} signal
 * @returns {Promise<{time: string, size: number, gone: boolean}[][]>} of each tile, oldest first
 */
export async function readVersions (couch, layer, signal, limits = previewDefaults) {
  const tiles = []
  let last = ''
  for (let startkey = /** @type {any[]} */ ([layer]); ;) {
    const query = { startkey, endkey: [layer, {}], reduce: false, limit: limits.versions }
    const { rows } = await couch.ask(`${VIEW}by_tile`, { query, signal })
    for (const { key: [, z, x, y, time], value: { bytes, gone } } of rows) {
      const tile = `${z}/${x}/${y}`
      if (tile !== last) tiles.push([])
      last = tile
      tiles[tiles.length - 1].push({ time, size: bytes, gone })
    }
    if (rows.length < limits.versions) return tiles
    startkey = [...rows[rows.length - 1].key, null] // after this one
  }
}

/** What goes of these versions. @param {{time: string, size: number, gone: boolean}[][]} tiles */
export function exactly (tiles, kept) {
  const going = tiles.flatMap(versions => versionsToPrune(versions, kept))
  return { versions: going.length, bytes: going.reduce((sum, { size }) => sum + size, 0) }
}
