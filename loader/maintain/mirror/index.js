// Mirrors one store into another: all of it or a part, once or live. Used by `tilecouch mirror` and by edges.
import { setTimeout as sleep } from 'node:timers/promises'
import { layerId } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { Replication, Selection, visiblePastOf } from '../../../core/mirror/index.js'
import { Couch } from '../../store/couch.js'
import { LimitsNotes } from './limits.js'
import { initialFill } from './initial-fill.js'
import { ValidatingPeer, peerOf } from '../../store/peer.js'
import { readValidation } from '../../store/design-source.js'
import { checkSides, openSource } from './sides.js'
import { adoptEmpty, makeDatabase, makeReady } from './target.js'

const LIVE_RETRIES = 2 // of a request: a live mirror soon reports that a side is unreachable, and waits

/**
 * @typedef {object} MirrorOptions
 * @property {string[]} [layers]
 * @property {import('../../../core/area.js').Area} [area]
 * @property {import('../../../core/grid.js').Zooms} [zooms]
 * @property {boolean} [current] without the past
 * @property {string} [since] only past versions that were still visible at this time, and later ones
 * @property {boolean} [live] continues until the signal
 * @property {boolean} [dryRun]
 * @property {boolean} [public] makes the mirror public although the source is not
 * @property {AbortSignal} [signal]
 * @property {(status: MirrorStatus) => void} [onProgress]
 * @property {(status: MirrorStatus) => void} [onState] called when the state (reading, following, away) or the error
 *   changes
 * @property {(refused: import('../../../core/mirror/peer.js').Refused) => void} [onRefused]
 * @property {() => void} [onCopied] when all documents are copied, before the indexes are built
 * @property {(progress: {step?: string, done?: number, total?: number}) => void} [onIndex] called while they are built
 * @property {(ready: Ready) => void} [onReady] called when the mirror is complete and has its indexes
 * @property {Partial<typeof import('../../../core/mirror/index.js').replicationDefaults>} [limits]
 *
 * @typedef {import('./target.js').Ready} Ready
 * @typedef {import('../../../core/mirror/selection.js').Wanted} Wanted
 * @typedef {{lacked?: Record<string, number>, ready?: Ready, unknown: string[]}} TargetStatus lacked: documents that
 *   the target did not have, by kind; unknown: layers that the source does not have
 * @typedef {ReturnType<Replication['status']> & TargetStatus} MirrorStatus
 */

/** The selection of a mirror, as it is written in its checkpoint and task. @param {Wanted} wanted */
export const selectionOf = ({ layers, area, zooms, current, since }) =>
  ({ layers, bbox: area?.bbox, zooms, current, since })

export class Mirror {
  #replication
  #targetPeer
  /** @type {LimitsNotes | undefined} */
  #limits
  /** @type {{state: 'away', error: string, reason: string} | undefined} why it cannot begin yet */
  #waiting
  /** @type {Ready | undefined} */
  #ready
  #unknown = /** @type {string[]} */ ([])

  /**
   * @param {string} from URL of a database, or of the /db of a gateway; with the name and password in it, or
   *   TILECOUCH_FROM_USER
   * @param {string | null} to URL of a database, which need not exist yet; null: none, for a dry run
   * @param {MirrorOptions} [options]
   */
  constructor (from, to, options = {}) {
    const { layers, area, zooms, current, since, live = false, dryRun } = options
    const { signal, onProgress, onState, onRefused, limits } = options
    const requests = live ? { retries: LIVE_RETRIES } : {}
    this.options = options
    this.source = openSource(from, requests)
    this.target = to === null && dryRun ? null : new Couch(/** @type {string} */ (to), requests)
    this.#targetPeer = new ValidatingPeer(this.target && peerOf(this.target))
    const selection = new Selection({ layers, area, zooms, current, since })
    if (this.target && !dryRun) {
      const notes = this.#limits = new LimitsNotes(this.source, this.target, selection)
      this.#targetPeer.beforeWrite = docs => notes.note(docs)
    }
    this.#replication = new Replication({
      source: peerOf(this.source),
      target: this.#targetPeer,
      selection,
      visiblePast: selection.since === undefined ? undefined : visiblePastOf(this.source, selection.since),
      fill: initialFill(this.source, selection),
      live: live && !dryRun,
      dryRun,
      signal,
      onProgress: onProgress && (() => onProgress(this.status())),
      onState: onState && (() => onState(this.status())),
      onRefused,
      limits,
      about: {
        from: this.source.url,
        to: this.target?.url,
        live,
        selection: selectionOf({ layers, area, zooms, current, since }),
        notesLimits: true
      },
      onChanges: rows => this.#limits?.renew(rows),
      onUpToDate: dryRun ? undefined : () => this.#complete()
    })
  }

  /** @returns {MirrorStatus} */
  status () {
    const { lacked } = this.#targetPeer
    return { ...this.#replication.status(), lacked, ready: this.#ready, unknown: this.#unknown, ...this.#waiting }
  }

  /**
   * Resolves when the target is complete. A live mirror rejects with ABORTED on the signal.
   * @returns {Promise<MirrorStatus>}
   */
  async run () {
    await this.#open()
    await this.#replication.run()
    return this.status()
  }

  async #open () {
    const { dryRun, live, signal, onState } = this.options
    const { firstDelay, longestDelay } = this.#replication.limits
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#prepare()
        break
      } catch (error) {
        if (signal?.aborted) throw new TilecouchError('ABORTED')
        if (!live || dryRun || !isTemporary(error)) throw error
        const isNew = this.#waiting?.error !== error.code
        this.#waiting = { state: 'away', error: error.code, reason: error.message }
        if (isNew) onState?.(this.status())
      }
      await sleep(Math.min(firstDelay * 2 ** attempt, longestDelay), undefined, { signal }).catch(() => {})
    }
    if (this.#waiting) {
      this.#waiting = undefined
      onState?.(this.status())
    }
  }

  async #prepare () {
    const { dryRun, signal, public: isForAll, layers = [] } = this.options
    const { source, target } = this
    const { exists, validates } = await checkSides(source, target, { dryRun, isForAll, signal })
    const layerRows = await source.docs(layers.map(layerId), { signal })
    this.#unknown = layers.filter((_, index) => !layerRows[index].doc)
    this.#targetPeer.exists = exists || !dryRun
    if (target && !dryRun) await (exists ? adoptEmpty(target) : makeDatabase(target, signal))
    if (exists) await this.#limits?.catchUp()
    if (!validates) this.#targetPeer.validateWith(await readValidation())
  }

  async #complete () {
    const { signal, public: isForAll, onCopied, onIndex, onReady } = this.options
    if (!this.#ready) onCopied?.()
    await this.#limits?.complete()
    if (this.#ready) return
    this.#ready = await makeReady(this.source, /** @type {Couch} */ (this.target), { isForAll, signal, onIndex })
    onReady?.(this.#ready)
  }
}

/** Whether an error comes from a server that is down or overloaded. At the first request others are permanent. */
export const isTemporary = ({ code, details }) => code === 'UNREACHABLE' || code === 'NO_ANSWER' ||
  (code === 'COUCHDB_ERROR' && (details.status >= 500 || details.status === 429))

/** @param {string} from @param {string | null} to @param {MirrorOptions} [options] */
export const mirror = (from, to, options) => new Mirror(from, to, options).run()
