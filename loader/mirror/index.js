// One store made into another, all of it or a part, once or for good.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { TilecouchError, layerId } from '../../core/index.js'
import { Replication, Selection, lookBackOf } from '../../core/mirror/index.js'
import { Couch } from '../store/couch.js'
import { examine, openSource } from './open.js'
import { peerOf } from './peer.js'
import { adoptEmpty, makeDatabase, makeReady } from './ready.js'
import { Receiver } from './receiver.js'
import { shortcutOf } from './shortcut.js'

const LIVE_RETRIES = 2 // of a request: that a side is away is said soon, and waited out
const VALIDATION = new URL('../../_design/tiles/validate_doc_update.js', import.meta.url)

/**
 * @typedef {object} MirrorOptions
 * @property {string[]} [layers]
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {boolean} [current] without the past
 * @property {string} [since] of the past, only what was still to be seen then or came later
 * @property {boolean} [live] goes on until the signal
 * @property {boolean} [dryRun]
 * @property {boolean} [public] everybody may read the mirror, although not everybody may read the source
 * @property {AbortSignal} [signal]
 * @property {(status: MirrorStatus) => void} [onProgress]
 * @property {(status: MirrorStatus) => void} [onState] told when it is reading, following or away, and of other errors
 * @property {(refused: import('../../core/mirror/peer.js').Refused) => void} [onRefused]
 * @property {() => void} [onThere] when everything is there, before the design documents and indexes
 * @property {(ready: import('./ready.js').Ready) => void} [onReady] when everything is there and the mirror serves
 * @property {Partial<typeof import('../../core/mirror/index.js').replicationDefaults>} [limits]
 *
 * @typedef {ReturnType<Replication['status']> & {lacked?: Record<string, number>, ready?: import('./ready.js').Ready, unknown: string[]}} MirrorStatus lacked: documents that the target did not have, by kind; unknown: layers that the source does not have
 */

export class Mirror {
  #replication
  #receiver
  /** @type {{state: 'away', error: string, reason: string} | undefined} what keeps it from beginning */
  #waiting
  /** @type {import('./ready.js').Ready | undefined} */
  #ready
  #unknown = /** @type {string[]} */ ([])

  /**
   * @param {string} from URL of a database, or of the /db of a gateway; opened with its own name and password, or with those of TILECOUCH_FROM_USER
   * @param {string | null} to URL of a database, which need not be there yet; null: nothing, for a dry run
   * @param {MirrorOptions} [options]
   */
  constructor (from, to, options = {}) {
    const { layers, area, zooms, current, since, live = false, dryRun, signal, onProgress, onState, onRefused, limits } = options
    this.options = options
    this.source = openSource(from, live ? { retries: LIVE_RETRIES } : {})
    this.target = to === null && dryRun ? null : new Couch(/** @type {string} */ (to), live ? { retries: LIVE_RETRIES } : {})
    this.#receiver = new Receiver(this.target && peerOf(this.target))
    const selection = new Selection({ layers, area, zooms, current, since })
    this.#replication = new Replication({
      source: peerOf(this.source),
      target: this.#receiver,
      selection,
      lookBack: selection.since === undefined ? undefined : lookBackOf(this.source, selection.since),
      begin: shortcutOf(this.source, selection),
      live: live && !dryRun,
      dryRun,
      signal,
      onProgress: onProgress && (() => onProgress(this.status())),
      onState: onState && (() => onState(this.status())),
      onRefused,
      limits,
      about: { from: this.source.url, to: this.target?.url, live, selection: { layers, bbox: area?.bbox, zooms, current, since } },
      onUpToDate: dryRun ? undefined : () => this.#makeReady()
    })
  }

  /** @returns {MirrorStatus} */
  status () {
    return { ...this.#replication.status(), lacked: this.#receiver.lacked, ready: this.#ready, unknown: this.#unknown, ...this.#waiting }
  }

  /** Resolves when the target has everything; a live one when the signal says so, by ABORTED. @returns {Promise<MirrorStatus>} */
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
        if (!live || dryRun || !isPassing(error)) throw error
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
    const { isThere, validates } = await examine(source, target, { dryRun, isForAll, signal })
    const found = await source.docs(layers.map(layerId), { signal })
    this.#unknown = layers.filter((_, index) => !found[index].doc)
    this.#receiver.isThere = isThere || !dryRun
    if (target && !dryRun) await (isThere ? adoptEmpty(target) : makeDatabase(target, signal))
    if (!validates) this.#receiver.validateWith(await readFile(VALIDATION, 'utf8'))
  }

  /** An edge serves at once. */
  async #makeReady () {
    const { signal, public: isForAll, onThere, onReady } = this.options
    onThere?.()
    this.#ready = await makeReady(this.source, /** @type {Couch} */ (this.target), { isForAll, signal })
    onReady?.(this.#ready)
  }
}

/** A server that is not up, or has trouble: an address that is wrong in any other way stays so. */
export const isPassing = ({ code, details }) => code === 'UNREACHABLE' || code === 'NO_ANSWER' || (code === 'COUCHDB_ERROR' && (details.status >= 500 || details.status === 429))

/** @param {string} from @param {string | null} to @param {MirrorOptions} [options] */
export const mirror = (from, to, options) => new Mirror(from, to, options).run()
