// What the last prune of a layer left (load/baseline.js), so that the next one looks only at what may have changed
// since: tiles that were written, and tiles that had a version for a moment that is kept no longer.
import { AFTER, headId, isKept, isTileId, parseTileId } from '../../../core/index.js'
import { lowerBound } from '../../../core/lists.js'
import { feedPositionOf, lastRun, noteRun } from '../../load/baseline.js'
import { BY_TIME } from '../../store/reader.js'
import { Changes, changeDefaults, readChanges } from '../../export/tree/changes.js'

const MOST_KEPT = 10_000 // moments that are remembered

const nameOf = layer => `prune-${layer}`

/**
 * @typedef {import('../../../core/retention.js').Kept} Kept
 * @typedef {Awaited<ReturnType<typeof lastRun>>['now']} Position
 *
 * @typedef {object} Last
 * @property {string | number} since position in the feed: of every tile that was not written since, only what the kept
 *   moments need is left
 * @property {Kept} kept
 * @property {Idle} [idle] of a run that found nothing to do
 *
 * @typedef {object} Idle with the same policy, there is nothing to do until then, unless something is written
 * @property {string} at when it was found
 * @property {string} until
 * @property {string} policy as JSON
 * @property {number} total moments
 * @property {number} stay of them
 */

export class LastPrune {
  /** Where the feed is: before anything is read. @type {Position} */
  #now = /** @type {any} */ (undefined)
  /** @type {Last | undefined} */
  #last

  constructor (couch, layer, { page, signal }) {
    this.couch = couch
    this.layer = layer
    this.page = page
    this.signal = signal
    this.changes = new Changes(layer, { selected: () => true })
  }

  /** Reads what was left, and what was written since. */
  async read () {
    const { couch, layer, changes, signal } = this
    const { now, last } = await lastRun(couch, nameOf(layer), signal)
    this.#now = now
    if (!isSound(last)) return this
    // a version that was deleted leaves nothing to prune, unless one that says "gone" is now the first of its tile:
    // then there is a removal
    const onChange = (id, deleted) => { if (!deleted || !isTileId(id)) changes.add(id) }
    if (last.since !== now.since) await readChanges(couch, last.since, { signal, onChange })
    if (!changes.overflow && !changes.removals) this.#last = last
    return this
  }

  /**
   * The summary of the last plan, if there is nothing to do.
   * @param {import('../../../core/retention.js').Retention} policy
   * @param {string} now
   * @returns {import('./plan.js').PlanSummary | undefined}
   */
  idle (policy, now) {
    const { idle, kept } = this.#last ?? {}
    if (!idle || !kept || this.changes.any || idle.policy !== JSON.stringify(policy)) return undefined
    if (now < idle.at || now >= idle.until) return undefined
    const { total, stay } = idle
    return { policy, from: kept.from, missing: [], moments: { total, kept: stay, going: total - stay, listed: [] } }
  }

  /**
   * The tiles that may have something to prune, in the order of columns; undefined: all.
   * @param {Kept} kept
   * @param {number} versions of the layer: reading tiles by name takes twice as long as reading all in turn
   * @returns {Promise<{z: number, x: number, ys: number[]}[] | undefined>}
   */
  async tiles (kept, versions) {
    if (!this.#last) return undefined
    const most = Math.min(changeDefaults.most, versions / 2)
    const ids = new Set(this.changes.tiles.keys())
    for (const [after, until] of spansLost(this.#last.kept, kept)) {
      const range = { startkey: [this.layer, after, {}], endkey: [this.layer, until, {}] }
      for await (const rows of this.couch.viewPages(BY_TIME, range, { page: this.page, signal: this.signal })) {
        for (const { id } of rows) if (isTileId(id)) ids.add(headId(id))
        if (ids.size > most) return undefined
      }
    }
    return ids.size > most ? undefined : columnsOf(ids)
  }

  /**
   * After a run that left nothing to do.
   * @param {Kept} kept
   * @param {Idle} [idle]
   */
  async write (kept, idle) {
    if (kept.moments.length > MOST_KEPT) return
    const { couch, layer, signal } = this
    const { purged } = await feedPositionOf(couch, signal) // what this run purged counts
    await noteRun(couch, nameOf(layer), this.#now, { purged, kept, ...(idle && { idle }) }, signal)
  }
}

/** Everybody who may write can write it. @returns {last is Last} */
function isSound (last) {
  const { kept, idle } = last ?? {}
  const areTimes = times => Array.isArray(times) && times.every(time => typeof time === 'string')
  const areKept = areTimes(kept?.moments) && (kept.from === null || areTimes([kept.from]))
  const isIdle = ({ at, until, policy, total, stay }) =>
    areTimes([at, until, policy]) && [total, stay].every(Number.isInteger)
  return areKept && (idle === undefined || isIdle(idle ?? {}))
}

/**
 * The spans of time in which a version ends that a kept moment showed before, and none shows now: after the first
 * time, up to and including the second. A version is shown until the next one of its tile begins, so such a tile has
 * a version in the span.
 * @param {Kept} before
 * @param {Kept} kept
 * @returns {[string, string][]}
 */
export function spansLost (before, kept) {
  const { moments, from } = kept
  const next = time => moments[lowerBound(moments, time)] ?? from ?? AFTER // `from` is after all of them
  /** @type {[string, string][]} */
  const spans = before.moments.filter(time => !isKept(kept, time)).map(time => [time, next(time)])
  if (before.from !== null && (from === null || from > before.from)) spans.push([before.from, from ?? AFTER])
  /** @type {[string, string][]} */
  const merged = []
  for (const [after, until] of spans.sort()) {
    const last = merged.at(-1)
    if (last && after <= last[1]) last[1] = until > last[1] ? until : last[1]
    else merged.push([after, until])
  }
  return merged
}

/** @param {Iterable<string>} ids of heads */
function columnsOf (ids) {
  const columns = new Map()
  for (const id of ids) {
    const { z, x, y } = parseTileId(id)
    const column = columns.get(`${z}:${x}`) ?? { z, x, ys: [] }
    column.ys.push(y)
    columns.set(`${z}:${x}`, column)
  }
  return [...columns.values()]
}
