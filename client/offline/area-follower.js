// Keeps live areas up to date: one long poll for all of them, since browsers open only six connections to a server, and
// in one tab for all tabs.
import { LAYER_KINDS } from '../../core/ids.js'
import { isPassing } from '../source/failure.js'
import { pollChanges } from '../source/follow.js'
import { backoff, wait } from '../source/wait.js'

export const followDefaults = {
  poll: 20000, // milliseconds the store may wait for a change
  silence: 10000, // milliseconds beyond that after which the line counts as dead
  gather: 1000, // milliseconds in which changes are gathered: a load changes thousands of tiles
  page: 5000 // changes read at once
}

export class AreaFollower {
  #store
  #stop = /** @type {AbortController | undefined} */ (undefined)
  #layers = '' // that are followed
  #live = /** @type {Set<string>} */ (new Set()) // areas that were live before
  #isFollowing = false // and not another tab
  #outdated = /** @type {Set<string>} */ (new Set())
  #isWorking = false
  #reported = /** @type {string | undefined} */ (undefined)

  /** @param {any} store the OfflineStore @param {Partial<typeof followDefaults>} [limits] */
  constructor (store, limits = {}) {
    this.#store = store
    this.limits = { ...followDefaults, ...limits }
  }

  /** Starts, continues or ends, depending on which areas are live. */
  update () {
    const areas = this.#areas()
    const layers = [...new Set(areas.map(({ layer }) => layer))].sort().join()
    const added = areas.filter(({ id }) => !this.#live.has(id))
    this.#live = new Set(areas.map(({ id }) => id))
    if (layers === this.#layers) return this.#isFollowing && this.#refresh(added)
    this.#layers = layers
    this.#stop?.abort()
    this.#stop = undefined
    if (!layers) return
    const { signal } = this.#stop = new AbortController()
    // that the signal ended it
    this.#store.locks.hold('live', () => this.#follow(layers.split(','), signal), { signal }).catch(() => {})
  }

  close () {
    this.#stop?.abort()
  }

  #areas () {
    return this.#store.areas.list().filter(({ document: { live, state } }) => live && state !== 'removing')
  }

  #refresh (areas) {
    for (const { id } of areas) this.#outdated.add(id)
    if (this.#stop) this.#work(this.#stop.signal)
  }

  async #follow (layers, signal) {
    this.#isFollowing = true
    signal.addEventListener('abort', () => { this.#isFollowing = false })
    const answers = pollChanges((since, waits) => this.#changes(layers, since, { signal, waits }), {
      signal,
      onError: error => this.#report(error),
      onBack: () => { this.#reported = undefined }
    })
    for await (const { isFirst, results } of answers) {
      // what came before, each finds out by itself
      const areas = this.#areas().filter(area => isFirst || results.some(({ id }) => mayHold(area, id)))
      if (areas.length && !isFirst) await wait(this.limits.gather, signal)
      this.#refresh(areas)
    }
  }

  async #changes (layers, since, { signal, waits }) {
    const { poll, silence, page } = this.limits
    const query = { since, limit: page, seq_interval: page, ...(waits && { feed: 'longpoll', timeout: poll }) }
    const ask = () => this.#store.couch.changes(query, {
      // By id: what is deleted has no fields left. Some ids of other layers match as well: mayHold() leaves them out.
      selector: { _id: { $regex: `^((${LAYER_KINDS.join('|')}):)?(${layers.join('|')})([:@]|$)` } },
      retries: 0,
      timeout: poll + silence,
      signal
    })
    const answer = await this.#store.watch(ask, signal, isPassing)
    return { results: answer.results, since: answer.last_seq }
  }

  /** One after the other, beside the poll. */
  async #work (signal) {
    if (this.#isWorking) return
    this.#isWorking = true
    try {
      for (let failures = 0; this.#outdated.size && !signal.aborted;) {
        const [id] = this.#outdated
        this.#outdated.delete(id)
        const area = this.#store.areas.get(id)
        if (!area?.wantsToFollow) continue
        try {
          await area.follow()
          failures = 0
        } catch (error) {
          if (!isPassing(error)) continue // it was reported, and is tried again at the next change
          this.#outdated.add(id)
          await wait(backoff(failures++), signal)
        }
      }
    } catch {
      // only the signal ends the waiting
    } finally {
      this.#isWorking = false
    }
  }

  /** Once for each kind. */
  #report (error) {
    if (error.code === this.#reported) return
    this.#reported = error.code
    if (!isPassing(error)) this.#store.fire('failure', { area: undefined, error })
  }
}

/** Whether a document may belong to an area. In a page without proj4js an area in another grid says so itself. */
function mayHold (area, id) {
  try {
    return area.selection.has(id)
  } catch {
    return true
  }
}
