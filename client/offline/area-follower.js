// Keeps live areas up to date. One tab runs one long poll for all live areas, because a browser opens only six
// connections to a server. The OfflineStore uses it.
import { LAYER_KINDS } from '../../core/ids.js'
import { attempt } from '../../core/values.js'
import { isPassing } from '../source/failure.js'
import { pollChanges } from '../source/follow.js'
import { backoff, wait } from '../source/wait.js'

const POLL_TIME = 20000 // milliseconds the store may wait for a change
const SILENCE = 10000 // further milliseconds after which the connection counts as dead
const GATHER_TIME = 1000 // milliseconds to wait for further changes: a load changes thousands of tiles
const PAGE = 5000 // changes per request

export class AreaFollower {
  #store
  #stop = /** @type {AbortController | undefined} */ (undefined)
  #layers = '' // followed layers, separated by commas
  #live = /** @type {Set<string>} */ (new Set()) // ids of the areas that were live at the last update
  #isFollowing = false // whether this tab holds the lock and polls
  #outdatedIds = /** @type {Set<string>} */ (new Set())
  #isRefreshing = false
  #reportedCode = /** @type {string | undefined} */ (undefined)

  /** @param {any} store the OfflineStore */
  constructor (store) {
    this.#store = store
  }

  /** Starts, continues or stops the poll, depending on which areas are live. */
  update () {
    const areas = this.#areas()
    const layers = [...new Set(areas.map(({ layer }) => layer))].sort().join()
    const added = areas.filter(({ id }) => !this.#live.has(id))
    this.#live = new Set(areas.map(({ id }) => id))
    if (layers === this.#layers) return this.#isFollowing && this.#markOutdated(added)
    this.#layers = layers
    this.#stop?.abort()
    this.#stop = undefined
    if (!layers) return
    const { signal } = this.#stop = new AbortController()
    // the signal ended the poll
    this.#store.locks.hold('live', () => this.#follow(layers.split(','), signal), { signal }).catch(() => {})
  }

  close () {
    this.#stop?.abort()
  }

  #areas () {
    return this.#store.areas.list().filter(({ document: { live, state } }) => live && state !== 'removing')
  }

  #markOutdated (areas) {
    for (const { id } of areas) this.#outdatedIds.add(id)
    if (this.#stop) this.#refreshOutdated(this.#stop.signal)
  }

  async #follow (layers, signal) {
    this.#isFollowing = true
    signal.addEventListener('abort', () => { this.#isFollowing = false })
    const answers = pollChanges((since, waits) => this.#changes(layers, since, { signal, waits }), {
      signal,
      onError: error => this.#report(error),
      onBack: () => { this.#reportedCode = undefined }
    })
    for await (const { isFirst, results } of answers) {
      // the first answer does not list earlier changes: refresh every area
      const areas = this.#areas().filter(area => isFirst || results.some(({ id }) => mayHold(area, id)))
      if (areas.length && !isFirst) await wait(GATHER_TIME, signal)
      this.#markOutdated(areas)
    }
  }

  async #changes (layers, since, { signal, waits }) {
    const query = { since, limit: PAGE, seq_interval: PAGE, ...(waits && { feed: 'longpoll', timeout: POLL_TIME }) }
    const ask = () => this.#store.couch.changes(query, {
      // By id: a deleted document has no fields. Some ids of other layers match too; mayHold() leaves them out.
      selector: { _id: { $regex: `^((${LAYER_KINDS.join('|')}):)?(${layers.join('|')})([:@]|$)` } },
      retries: 0,
      timeout: POLL_TIME + SILENCE,
      signal
    })
    const answer = await this.#store.watch(ask, signal, isPassing)
    return { results: answer.results, since: answer.last_seq }
  }

  /** Refreshes outdated areas one after the other while the poll continues. */
  async #refreshOutdated (signal) {
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    try {
      for (let failures = 0; this.#outdatedIds.size && !signal.aborted;) {
        const [id] = this.#outdatedIds
        this.#outdatedIds.delete(id)
        const area = this.#store.areas.get(id)
        if (!area?.wantsToFollow) continue
        try {
          await area.follow()
          failures = 0
        } catch (error) {
          if (!isPassing(error)) continue // already reported; the next change tries again
          this.#outdatedIds.add(id)
          await wait(backoff(failures++), signal)
        }
      }
    } catch {
      // the signal aborted the wait
    } finally {
      this.#isRefreshing = false
    }
    // a newer poll may have marked areas meanwhile
    if (this.#isFollowing && this.#outdatedIds.size) this.#markOutdated([])
  }

  /** Reports an error unless the one before it had the same code. */
  #report (error) {
    if (error.code === this.#reportedCode) return
    this.#reportedCode = error.code
    if (!isPassing(error)) this.#store.fire('failure', { area: undefined, error })
  }
}

/** Whether a document may belong to an area. True for other grids without proj4js: the refresh reports that error. */
const mayHold = (area, id) => attempt(() => area.selection.has(id)) ?? true
