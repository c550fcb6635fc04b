// The state that the last prune of a layer stored (load/baseline.js). With it the next prune checks only tiles that
// were written since, and tiles that had a version for a moment that is no longer kept.
import { AFTER, headId, isKept, isTileId, parseTileId } from '../../../core/index.js'
import { lowerBound } from '../../../core/lists.js'
import { feedPositionOf, lastRun, noteRun } from '../../load/baseline.js'
import { BY_TIME } from '../../store/reader.js'
import { Changes, changeDefaults, readChanges } from '../../export/tree/changes.js'

const MOST_KEPT = 10_000 // moments in the stored state

const nameOf = layer => `prune-${layer}`

/**
 * @typedef {import('../../../core/retention.js').Kept} Kept
 * @typedef {Awaited<ReturnType<typeof lastRun>>['now']} Position
 *
 * @typedef {object} Last
 * @property {string | number} since position in the feed: tiles that were not written since only have versions that
 *   the kept moments need
 * @property {Kept} kept
 * @property {Idle} [idle] set by a run that removed nothing
 *
 * @typedef {object} Idle with the same policy and without writes, there is nothing to remove until `until`
 * @property {string} at the time of the run
 * @property {string} until
 * @property {string} policy as JSON
 * @property {number} total moments
 * @property {number} stay kept moments
 */

export class LastPrune {
  /** The position of the feed before the first read. @type {Position} */
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

  /** Reads the stored state, and the changes since then. */
  async read () {
    const { couch, layer, changes, signal } = this
    const { now, last } = await lastRun(couch, nameOf(layer), signal)
    this.#now = now
    if (!isValid(last)) return this
    // a deleted version leaves nothing to prune, unless a "gone" version is now the first one of its tile: then there
    // is a removal
    const onChange = (id, deleted) => { if (!deleted || !isTileId(id)) changes.add(id) }
    if (last.since !== now.since) await readChanges(couch, last.since, { signal, onChange })
    if (!changes.overflow && !changes.removals) this.#last = last
    return this
  }

  /**
   * The summary of the last plan, if there is nothing to remove.
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
   * @param {number} versions number in the layer: reading tiles by id takes twice as long as reading all in order
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
   * Stores the state, after a run that removed all that it had to.
   * @param {Kept} kept
   * @param {Idle} [idle]
   */
  async write (kept, idle) {
    if (kept.moments.length > MOST_KEPT) return
    const { couch, layer, signal } = this
    const { purged } = await feedPositionOf(couch, signal) // after the purges of this run
    await noteRun(couch, nameOf(layer), this.#now, { purged, kept, ...(idle && { idle }) }, signal)
  }
}

/** Checks the stored state, because all writers may change it. @returns {last is Last} */
function isValid (last) {
  const { kept, idle } = last ?? {}
  const areTimes = times => Array.isArray(times) && times.every(time => typeof time === 'string')
  const areKept = areTimes(kept?.moments) && (kept.from === null || areTimes([kept.from]))
  const isIdle = ({ at, until, policy, total, stay }) =>
    areTimes([at, until, policy]) && [total, stay].every(Number.isInteger)
  return areKept && (idle === undefined || isIdle(idle ?? {}))
}

/**
 * The spans of time in which versions end that a moment kept before showed and no moment kept now shows. A span begins
 * after its first time and includes its second one. A version is shown until the next one of its tile begins, so such a
 * tile has a version in the span.
 * @param {Kept} lastKept
 * @param {Kept} kept
 * @returns {[string, string][]}
 */
export function spansLost (lastKept, kept) {
  const { moments, from } = kept
  const nextKept = time => moments[lowerBound(moments, time)] ?? from ?? AFTER // `from` is after all moments
  /** @type {[string, string][]} */
  const spans = lastKept.moments.filter(time => !isKept(kept, time)).map(time => [time, nextKept(time)])
  if (lastKept.from !== null && (from === null || from > lastKept.from)) spans.push([lastKept.from, from ?? AFTER])
  /** @type {[string, string][]} */
  const merged = []
  for (const [after, until] of spans.sort()) {
    const lastSpan = merged.at(-1)
    if (lastSpan && after <= lastSpan[1]) lastSpan[1] = until > lastSpan[1] ? until : lastSpan[1]
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
