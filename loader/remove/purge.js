// Purges what was just deleted, so that nothing is left of it. A purge is told to nobody: it comes a while after the deletion,
// which whoever follows the store hears of.
import { setTimeout as sleep } from 'node:timers/promises'
import { TilecouchError } from '../../core/index.js'
import { PURGE_MOST } from './defaults.js'

/** @typedef {{id: string, rev: string, at: number}} Deleted rev: of the deletion; at: when, as performance.now() says */

export class Purger {
  #waiting = /** @type {Deleted[]} */ ([])

  /**
   * @param {import('../store/couch.js').Couch} couch
   * @param {{heard: number, onPurged: (documents: number) => void}} options heard: milliseconds a deletion stands
   */
  constructor (couch, { heard, onPurged }) {
    this.couch = couch
    this.heard = heard
    this.onPurged = onPurged
  }

  /** Throws before anything is deleted: whether the store can, and lets us. */
  async check () {
    try {
      await this.#ask({})
    } catch (error) {
      const { status } = error.details ?? {}
      if (status === 404 || status === 405 || status === 501) throw new TilecouchError('PURGE_UNSUPPORTED', { url: this.couch.url })
      if (error.code === 'FORBIDDEN') throw new TilecouchError('FORBIDDEN', { url: this.couch.url, reason: 'only an admin of the server may purge' })
      throw error
    }
  }

  /** @param {Map<string, string>} gone id -> revision of the deletion */
  async take (gone) {
    const at = performance.now()
    for (const [id, rev] of gone) this.#waiting.push({ id, rev, at })
    while (this.#waiting.length > PURGE_MOST && performance.now() - this.#waiting[PURGE_MOST - 1].at >= this.heard) await this.#purge()
  }

  async finish () {
    while (this.#waiting.length) {
      const { at } = this.#waiting[Math.min(PURGE_MOST, this.#waiting.length) - 1]
      await sleep(Math.max(0, at + this.heard - performance.now()))
      await this.#purge()
    }
  }

  async #purge () {
    const lot = this.#waiting.splice(0, PURGE_MOST)
    const { purged } = await this.#ask(Object.fromEntries(lot.map(({ id, rev }) => [id, [rev]])))
    this.onPurged(Object.values(purged).filter(revs => revs?.length).length)
  }

  #ask (body) {
    return this.couch.request({ method: 'POST', path: '_purge', body })
  }
}
