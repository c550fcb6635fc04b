// How often a password may be wrong. CouchDB (from 3.4 on) locks a name out for an address after five wrong passwords within
// five minutes, and for CouchDB all visitors have one address: the gateway's. So the gateway asks less often than that.
import { TilecouchError } from '../../../core/index.js'

export const guessDefaults = {
  window: 310000, // milliseconds a wrong password counts: CouchDB forgets 300 s after the first one
  each: 3, // wrong passwords of one name in that time, of all visitors together
  reserve: 1, // more of them for passwords that were right before: they may have been changed
  free: 5, // wrong passwords of one address, whatever the name, before it has to wait
  firstDelay: 5000, // milliseconds it then waits before the next; four times as long after each one
  most: 10000 // names, and addresses, that are counted; when all are taken new passwords have to wait
}

const GROWTH = 4

export class Guesses {
  /** Times of wrong passwords, the oldest entry first. @type {Map<string, number[]>} */
  #names = new Map()
  /** @type {Map<string, number[]>} */
  #peers = new Map()

  /** @param {Partial<typeof guessDefaults> & {now?: () => number}} [options] */
  constructor ({ now = () => performance.now(), ...limits } = {}) {
    this.now = now
    this.limits = { ...guessDefaults, ...limits }
  }

  /**
   * Counts a password as wrong until it is known to be right: many may be asked about at once. Throws when it has to wait.
   * @param {string} name digest of a name @param {string | null} peer null: nobody knows who it is
   * @param {boolean} [wasRight] a short time ago
   * @returns {() => void} takes it back
   */
  begin (name, peer, wasRight = false) {
    const { each, reserve, free, firstDelay, window } = this.limits
    const now = this.now()
    const ofName = this.#recent(this.#names, name, now)
    const ofPeer = wasRight || peer === null ? [] : this.#recent(this.#peers, peer, now)
    const most = each + (wasRight ? reserve : 0)
    const delay = ofPeer.length < free ? 0 : Math.min(window, firstDelay * GROWTH ** (ofPeer.length - free))
    const wait = Math.max(
      ofName.length < most ? 0 : ofName[ofName.length - most] + window - now,
      delay && ofPeer[ofPeer.length - 1] + delay - now,
      !wasRight && (this.#isFull(this.#names, name, now) || (peer !== null && this.#isFull(this.#peers, peer, now))) ? window : 0
    )
    if (wait > 0) throw new TilecouchError('TOO_MANY_GUESSES', { seconds: Math.ceil(wait / 1000) })
    const undo = [count(this.#names, name, ofName, now), ...(wasRight || peer === null ? [] : [count(this.#peers, peer, ofPeer, now)])]
    return () => { for (const takeBack of undo.splice(0)) takeBack() }
  }

  /** The times that still count; the same list for as long as there are any. */
  #recent (map, key, now) {
    const times = map.get(key) ?? []
    times.splice(0, times.filter(time => time <= now - this.limits.window).length)
    return times
  }

  /** Nothing that still counts makes room for something new: floods of made-up names would take the counts away. */
  #isFull (map, key, now) {
    if (map.size < this.limits.most || map.has(key)) return false
    for (const [other, times] of map) {
      if (times.at(-1) > now - this.limits.window) break
      map.delete(other)
    }
    return map.size >= this.limits.most
  }
}

/** @param {Map<string, number[]>} map @param {string} key @param {number[]} times @param {number} now @returns {() => void} takes it back */
function count (map, key, times, now) {
  times.push(now)
  map.delete(key) // the last that was wrong comes last
  map.set(key, times)
  return () => {
    const at = times.indexOf(now)
    if (at >= 0) times.splice(at, 1)
    if (times.length === 0 && map.get(key) === times) map.delete(key)
  }
}
