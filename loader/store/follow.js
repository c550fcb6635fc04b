// Follows the change feed of a store across interruptions, so that data in memory stays correct. Reports when changes
// may have been missed.
import { TilecouchError } from '../errors.js'
import { canContinue, feedPosition, sequenceNumber } from '../../core/feed-position.js'
import { pause, timeoutSignal } from '../../core/promises.js'
import { readFeed } from '../../core/couch/feed.js'

export const followDefaults = {
  heartbeat: 1000, // milliseconds between two heartbeats, requested from CouchDB
  silence: 5000, // milliseconds without any byte after which a connection counts as dead
  poll: 20000, // milliseconds a long poll waits for a change
  renew: 30000, // milliseconds a connection is used; before the next one, the purges of the store are checked
  silentTries: 2, // continuous feeds in a row without a byte, before long polls are used: a proxy may buffer answers
  firstDelay: 100, // milliseconds before the first new try, doubled each time
  longestDelay: 5000 // milliseconds between two tries at most
}

/**
 * @typedef {object} FollowerState
 * @property {'starting' | 'following' | 'away' | 'closed'} state
 * @property {boolean} up changes arrive
 * @property {number} lag seconds since the store last answered
 * @property {'continuous' | 'longpoll'} feed
 * @property {string | undefined} since
 * @property {number} changes in all
 * @property {number} connections in all
 * @property {number} resets times when changes may have been missed
 * @property {string | undefined} error code of the error that keeps it away
 */

/** @typedef {import('../../core/feed-position.js').FeedPosition} FeedPosition */

export class Follower {
  #stop = new AbortController()
  /** @type {string | number | undefined} all changes up to here were reported; undefined: nothing may be kept */
  #since
  #identity = '' // of the database, not of its name
  #purged = /** @type {string | undefined} */ (undefined) // number of purges of the database
  #heard = Date.now()
  #hasHeard = /** @type {boolean | undefined} */ (undefined) // any byte of this connection; undefined: no connection
  #state = /** @type {FollowerState['state']} */ ('starting')
  #feed = /** @type {FollowerState['feed']} */ ('continuous')
  #silent = 0
  #counts = { changes: 0, connections: 0, resets: 0 }
  #error
  #running

  /**
   * @param {import('./index.js').Store} store
   * @param {object} options
   * @param {(change: {id: string, rev: string, deleted: boolean}) => void} options.onChange
   * @param {() => void} options.onReset all kept data may be wrong: another database, or missed changes
   * @param {FeedPosition} [options.position] start here instead of at the present; no reset if that is possible
   * @param {any} [options.log]
   * @param {Partial<typeof followDefaults>} [options.limits]
   */
  constructor (store, { onChange, onReset, position, log, limits }) {
    this.#since = position?.since
    this.#identity = position?.identity ?? ''
    this.#purged = position?.purged
    this.couch = store.couch
    this.onChange = onChange
    this.onReset = onReset
    this.log = log
    this.limits = { ...followDefaults, ...limits }
  }

  /** Resolves when the follower knows its position, or when the first try has failed. More tries follow. */
  start () {
    return new Promise(resolve => {
      if (!this.#running) this.#running = this.#run(() => resolve(undefined)) // it never rejects
    })
  }

  async close () {
    this.#stop.abort()
    await this.#running
    this.#state = 'closed'
  }

  /** Whether documents read from now on may be kept: every later change of them will be reported. */
  get isAnchored () {
    return this.#since !== undefined
  }

  /** The position up to which all changes were reported, if known. @returns {FeedPosition | undefined} */
  get position () {
    if (this.#since === undefined) return undefined
    const purged = this.#purged
    return { since: this.#since, identity: this.#identity, ...(purged !== undefined && { purged }) }
  }

  /** @returns {FollowerState} */
  get state () {
    return {
      state: this.#state,
      up: this.#state === 'following',
      lag: (Date.now() - this.#heard) / 1000,
      feed: this.#feed,
      since: this.#since === undefined ? undefined : String(this.#since),
      ...this.#counts,
      error: this.#error
    }
  }

  async #run (onFirst) {
    const { signal } = this.#stop
    for (let attempt = 0; !signal.aborted;) {
      this.#hasHeard = undefined
      try {
        await this.#anchor()
        onFirst()
        await this.#listen()
      } catch (error) {
        if (signal.aborted) break
        this.#fail(error)
        onFirst()
      }
      attempt = this.#hasHeard ? 0 : attempt + 1
      // also after a feed that ended normally: a feed that always ends at once must not be requested without a pause
      if (this.#feed === 'continuous' || attempt) await this.#pause(attempt)
    }
    onFirst()
  }

  #pause (attempt) {
    const { firstDelay, longestDelay } = this.limits
    const delay = Math.min(firstDelay * 2 ** attempt, longestDelay)
    return pause(delay * (0.5 + Math.random() / 2), this.#stop.signal)
  }

  /** Checks that the database is still the same one, and finds the position to start from. */
  async #anchor () {
    const request = { path: '', retries: 0, timeout: this.limits.silence, signal: this.#stop.signal }
    const position = feedPosition(await this.couch.request(request))
    if (this.position && !canContinue(this.position, position)) {
      // the feed does not report purges
      const isPurged = canContinue({ ...this.position, purged: undefined }, position)
      this.#drop(isPurged ? 'the store was purged meanwhile' : 'the store is another one')
    }
    this.#identity = position.identity
    this.#purged = position.purged
    if (this.#since === undefined) {
      // set the position before the reset: documents kept after the reset are newer, and reads in progress are dropped
      this.#since = position.since
      this.onReset()
    }
  }

  /** Changes may have been missed: nothing may be kept until there is a new position. */
  #drop (why) {
    this.#since = undefined
    this.#counts.resets++
    this.log?.warn?.({ db: this.couch.url, why }, 'everything in memory is dropped')
    this.onReset()
  }

  async #listen () {
    const isContinuous = this.#feed === 'continuous'
    const { heartbeat, silence, poll, renew } = this.limits
    const timeLimit = timeoutSignal(renew, this.#stop.signal)
    this.#counts.connections++
    this.#hasHeard = false
    if (!isContinuous) this.#sign() // a long poll sends nothing before its answer
    try {
      const last = await readFeed(this.couch, {
        query: { feed: this.#feed, since: this.#since, ...(isContinuous ? { heartbeat } : { timeout: poll }) },
        silence: isContinuous ? silence : poll + silence,
        signal: timeLimit.signal,
        onSign: () => {
          this.#silent = 0
          this.#hasHeard = true
          this.#sign()
        },
        onChange: change => this.#handleChange(change)
      })
      if (last !== undefined) this.#since = last
    } catch (error) {
      if (!timeLimit.isOver || error.code !== 'ABORTED') throw error
    } finally {
      timeLimit.end()
    }
  }

  /** @param {import('../../core/couch/feed.js').Change} change */
  #handleChange ({ id, changes, deleted = false, seq }) {
    if (seq !== null && seq !== undefined) {
      // these changes were reported before: the store does not know the position, and started elsewhere
      if (!(sequenceNumber(seq) > sequenceNumber(this.#since))) {
        const why = `the feed has begun again at ${sequenceNumber(seq)}`
        this.#drop(why)
        throw new TilecouchError('BAD_ANSWER', { url: this.couch.url, why })
      }
      this.#since = seq
    }
    this.#counts.changes++
    this.onChange({ id, rev: changes[0].rev, deleted })
  }

  #sign () {
    this.#heard = Date.now()
    this.#error = undefined
    if (this.#state === 'following') return
    this.#state = 'following'
    this.log?.info?.({ db: this.couch.url, since: sequenceNumber(this.#since) }, 'following the changes of the store')
  }

  #fail (error) {
    const { code, message } = error
    const why = dropReason(error)
    if (why && this.#since !== undefined) this.#drop(why)
    if (error.details?.silent && this.#hasHeard === false) this.#silent++
    if (this.#silent >= this.limits.silentTries) this.#feed = 'longpoll'
    if (this.#error !== code) {
      this.log?.warn?.({ db: this.couch.url, code, reason: message }, 'the changes of the store cannot be followed')
    }
    this.#state = 'away'
    this.#error = code ?? 'INTERNAL'
  }
}

/** Why the position in the feed cannot be used after an error. @returns {string | undefined} */
function dropReason ({ code, details }) {
  if (!code) return 'a change could not be handled'
  if (code === 'DATABASE_NOT_FOUND') return 'there is no such database'
  const isUnknown = code === 'COUCHDB_ERROR' && details.status === 400
  return isUnknown ? 'the store does not know the position in its feed' : undefined
}
