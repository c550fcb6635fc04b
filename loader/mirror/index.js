// One store made into another, all of it or a part, once or for good.
import { Replication, Selection } from '../../core/mirror/index.js'
import { Couch } from '../store/couch.js'
import { PRIVATE_SECURITY, PUBLIC_SECURITY, Store } from '../store/index.js'
import { publish, warmIndexes } from '../publish.js'
import { peerOf } from './peer.js'

/**
 * @typedef {object} MirrorOptions
 * @property {string[]} [layers]
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {boolean} [current] without the past
 * @property {string} [since] of the past, only what was still to be seen then or came later
 * @property {boolean} [live] goes on until the signal
 * @property {boolean} [dryRun]
 * @property {AbortSignal} [signal]
 * @property {(status: MirrorStatus) => void} [onProgress]
 * @property {(status: MirrorStatus) => void} [onState] told when it is reading, following or away, and of other errors
 * @property {(refused: import('../../core/mirror/peer.js').Refused) => void} [onRefused]
 * @property {Partial<typeof import('../../core/mirror/index.js').replicationDefaults>} [limits]
 *
 * @typedef {ReturnType<Replication['status']>} MirrorStatus
 */

export class Mirror {
  /** @type {Replication | undefined} */
  #replication

  /** @param {string} from URL of a database @param {string} to the same @param {MirrorOptions} [options] */
  constructor (from, to, options = {}) {
    const retries = options.live ? 2 : undefined
    this.source = new Couch(from, { ambient: false, ...(retries && { retries }) })
    this.target = new Couch(to, { ...(retries && { retries }) })
    this.options = options
  }

  /** @returns {MirrorStatus | undefined} nothing before it has begun */
  status () {
    return this.#replication?.status()
  }

  /** Resolves when the target has everything; a live one when the signal says so, by ABORTED. @returns {Promise<MirrorStatus>} */
  async run () {
    const { layers, area, zooms, current, since, live, dryRun, signal, onProgress, onState, onRefused, limits } = this.options
    const isNew = !dryRun && await this.#make()
    this.#replication = new Replication({
      source: peerOf(this.source), target: peerOf(this.target), selection: new Selection({ layers, area, zooms, current, since }),
      live, dryRun, signal, onProgress, onState, onRefused, limits, about: { from: this.source.url, to: this.target.url, live: Boolean(live) },
      onUpToDate: dryRun ? undefined : () => this.#ready(isNew)
    })
    return this.#replication.run()
  }

  /** @returns {Promise<boolean>} whether the database is a new one */
  async #make () {
    try {
      await this.target.request({ path: '' })
      return false
    } catch (error) {
      if (error.code !== 'DATABASE_NOT_FOUND') throw error
    }
    await this.target.request({ method: 'PUT' })
    await new Store(this.target).secure(PRIVATE_SECURITY)
    return true
  }

  /** An edge serves at once: design documents, indexes, and then the door. */
  async #ready (isNew) {
    const { signal } = this.options
    const store = new Store(this.target)
    await publish(store, { signal })
    await warmIndexes(store, { signal })
    if (isNew) await store.secure(PUBLIC_SECURITY)
  }
}

/** @param {string} from @param {string} to @param {MirrorOptions} [options] */
export const mirror = (from, to, options) => new Mirror(from, to, options).run()
