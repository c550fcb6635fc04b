// Copies a store or a part of it into the browser's PouchDB, or from there to a store. One request has many tiles. It
// writes the same documents, revisions and attachments as PouchDB.replicate. The page passes its PouchDB.
import { TilecouchError, parseArea, parseZooms } from '../../core/index.js'
import { CouchPeer, Replication, Selection, visiblePastOf } from '../../core/mirror/index.js'
import { HttpCouch, ReadOnlyPeer, codec } from './http.js'
import { PouchPeer, whileOpen } from './pouch-peer.js'

/** Lower limits than in Node: the rest of the page needs the browser as well. */
const mirrorLimits = {
  page: 1000, // changes read at once
  concurrency: 3 // batches under way: a browser opens six connections to a server, and the map needs some
}

const LIVE_RETRIES = 1 // of a request: a live mirror reports soon that the store is away, and waits

/**
 * @typedef {object} MirrorOptions
 * @property {string[]} [layers] only these
 * @property {import('../../core/grid.js').Bbox | string} [bbox] only tiles that touch it: west, south, east, north
 * @property {object} [polygon] only tiles that touch it: GeoJSON
 * @property {import('../../core/grid.js').Zooms | string | number} [zooms] only these: `0-14`
 * @property {boolean} [current] copy no past versions
 * @property {string | Date} [since] copy only past versions that were still visible then, and later ones
 * @property {boolean} [live] follow changes until the signal aborts
 * @property {boolean} [dryRun] count the missing documents, and write nothing
 * @property {RequestInit} [fetchOptions] for every request, as fetch takes them
 * @property {AbortSignal} [signal]
 * @property {(status: MirrorStatus) => void} [onProgress]
 * @property {(status: MirrorStatus) => void} [onState] called when the state (reading, following, away) or the error
 *   changes
 * @property {(refused: import('../../core/mirror/peer.js').Refused) => void} [onRefused]
 * @property {Partial<typeof import('../../core/mirror/index.js').replicationDefaults>} [limits]
 *
 * @typedef {ReturnType<Replication['status']>} MirrorStatus
 */

export class Mirror {
  #replication
  #stop = new AbortController()

  /**
   * @param {any} from address of a store, or a PouchDB
   * @param {any} to the same
   * @param {MirrorOptions} [options]
   */
  constructor (from, to, options = {}) {
    const { layers, bbox, polygon, zooms, current, since, live = false, fetchOptions } = options
    const { dryRun, signal, limits, onProgress, onState, onRefused } = options
    const selection = new Selection({
      layers, current, since: /** @type {any} */ (since),
      area: bbox === undefined && polygon === undefined ? undefined : parseArea({ bbox, polygon }),
      zooms: zooms === undefined ? undefined : parseZooms(zooms)
    })
    const http = { ...(fetchOptions && { fetchOptions }), ...(live && { retries: LIVE_RETRIES }) }
    const couch = isPouch(from) ? undefined : new HttpCouch(from, http)
    const source = couch ? new ReadOnlyPeer(couch, codec) : new PouchPeer(from)
    if (selection.since && !couch) {
      const why = 'a PouchDB cannot tell which versions were visible then'
      throw new TilecouchError('BAD_OPTION', { option: 'since', value: since, why })
    }
    const target = isPouch(to) ? new PouchPeer(to) : new CouchPeer(new HttpCouch(to, http), codec)
    this.from = source.name
    this.to = target.name
    this.signal = signal
    this.databases = [from, to].filter(isPouch)
    this.#replication = new Replication({
      source, target, selection, live, dryRun, onProgress, onState, onRefused,
      visiblePast: couch && selection.since ? visiblePastOf(couch, selection.since) : undefined,
      signal: this.#stop.signal,
      about: { from: source.name, to: target.name, live, selection: JSON.parse(selection.key) },
      limits: { ...mirrorLimits, ...limits }
    })
  }

  /** @returns {MirrorStatus} */
  status () {
    return this.#replication.status()
  }

  /**
   * Resolves when the target has everything; a live mirror rejects with ABORTED on the signal. Another mirror between
   * the same stores continues where this one ended.
   * @returns {Promise<MirrorStatus>}
   */
  run () {
    return whileOpen(this.databases, this.signal, this.#stop, () => this.#replication.run())
  }
}

/** Whether a side is a PouchDB. A PouchDB that opens a URL is refused: the URL itself is faster. */
function isPouch (side) {
  if (typeof side?.bulkDocs !== 'function') return false
  if (/^https?$/.test(side.adapter)) throw new TilecouchError('BAD_DATABASE', { value: side.name })
  return true
}

/**
 * Copies a store into a PouchDB, or a PouchDB into a store.
 * @param {any} from @param {any} to @param {MirrorOptions} [options]
 */
export const mirror = (from, to, options) => new Mirror(from, to, options).run()
