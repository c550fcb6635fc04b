// What the gateway has in memory, and the rules by which it stays true: what goes in, and what a change of the store takes
// out again. Heads and past versions stand under the ids of their documents, timelines under a key of their own.
import { headId, parseTileId } from '../../core/index.js'
import { Announced, timelineKey } from './announced.js'
import { entryOf } from './entry.js'
import { Memory } from './memory.js'

export const cacheDefaults = {
  missing: 10000, // milliseconds that "there is no tile" is remembered: changes drop it, this bounds what they might miss
  missingPart: 1 / 64, // of the memory for tiles that such answers may take besides: names that somebody makes up push out no tiles
  missingOverhead: 250, // bytes of such an answer
  moment: 250 // bytes of a version on a timeline
}

/** @typedef {import('./bulk.js').Moment} Moment */

export class TileCache {
  /**
   * @param {object} parts
   * @param {Memory<any>} parts.memory
   * @param {import('./layers.js').LayerBook} parts.layers
   * @param {import('./upstreams.js').Upstreams} parts.upstreams
   * @param {{now: () => number}} parts.clock
   * @param {() => boolean} parts.mayKeep whether changes of what is kept will be told
   * @param {Partial<typeof cacheDefaults>} [parts.limits]
   */
  constructor ({ memory, layers, upstreams, clock, mayKeep, limits }) {
    this.limits = { ...cacheDefaults, ...limits }
    this.memory = memory
    this.missing = /** @type {Memory<number>} */ (new Memory(memory.maxBytes * this.limits.missingPart, { overhead: this.limits.missingOverhead }))
    this.layers = layers
    this.upstreams = upstreams
    this.clock = clock
    this.mayKeep = mayKeep
    this.announced = new Announced()
    this.epoch = 0 // raised when layers change
  }

  /** @param {string} id of a head or a past version @returns {import('./entry.js').Entry | undefined} */
  entry (id) {
    const entry = this.memory.get(id)
    return entry === undefined || entry.epoch === this.epoch ? entry : this.#fit(entry)
  }

  /** @param {string} id of the head @returns {Moment[] | undefined} */
  timeline (id) {
    return this.memory.get(timelineKey(id)) ?? (this.isMissing(timelineKey(id)) ? [] : undefined)
  }

  /** The timeline turned out to be another than we thought. @param {string} id of the head */
  forgetTimeline (id) {
    this.memory.delete(timelineKey(id))
    this.missing.delete(timelineKey(id))
  }

  /** Whether it is known that there is nothing. @param {string} key */
  isMissing (key) {
    const until = this.missing.get(key)
    return until !== undefined && this.clock.now() < until
  }

  /** @param {string} key @param {number} [until] milliseconds since 1970 */
  setMissing (key, until = this.clock.now() + this.limits.missing) {
    if (this.mayKeep()) this.missing.set(key, until, 0)
  }

  /**
   * A document was read.
   * @param {string} id @param {any} doc null when there is none
   * @param {boolean} keep whether it is known to be what the store holds
   * @returns {import('./entry.js').Entry | null}
   */
  read (id, doc, keep) {
    if (!doc) {
      // where an upstream may have it, it is for the upstream to say
      if (keep && !this.#isCovered(id)) this.setMissing(id)
      return null
    }
    const entry = this.#fit(entryOf(doc))
    if (keep) this.#put(entry)
    return entry
  }

  /** @param {string} id of the head @param {Moment[]} moments @param {boolean} keep */
  readTimeline (id, moments, keep) {
    if (keep && !moments.length) this.setMissing(timelineKey(id))
    else if (keep && this.mayKeep()) this.memory.set(timelineKey(id), moments, moments.length * this.limits.moment)
    return moments
  }

  /**
   * A tile that we have just written, or could not write.
   * @param {import('./entry.js').Entry} entry its rev is null when the store has not taken it: then the first change of it drops it
   * @param {number} begun when, by `announced.begin()`
   */
  wrote (entry, begun) {
    this.#fit(entry)
    this.forgetTimeline(entry.id)
    const { id, rev } = entry
    // another revision was announced meanwhile: of an earlier writer, or of a later one
    if (this.announced.judge(id, rev ?? '', begun) === 'true' || (rev !== null && this.announced.isNewer(id, rev))) this.#put(entry)
    return entry
  }

  #put (entry) {
    if (!this.mayKeep()) return
    this.missing.delete(entry.id)
    this.memory.set(entry.id, entry, entry.cost)
  }

  #isCovered (id) {
    const { layer, z, x, y } = parseTileId(id)
    return this.upstreams.of(this.layers.look(layer))?.covers(z, x, y) ?? false
  }

  #fit (entry) {
    const layer = this.layers.look(entry.layer)
    entry.epoch = this.epoch
    return entry.fit(layer, this.upstreams.of(layer))
  }

  /**
   * The store has said that a document changed.
   * @param {{id: string, rev: string, deleted: boolean}} change
   */
  changed ({ id, rev, deleted }) {
    this.announced.announce(id, rev, deleted)
    const head = headId(id)
    this.missing.delete(head)
    this.forgetTimeline(head)
    const entry = this.memory.look(id)
    // our own write comes back, or it was read before it was announced
    if (entry !== undefined && (entry.rev !== rev || deleted)) this.memory.delete(id)
  }

  /** Nobody can tell what has changed. */
  reset () {
    this.announced.reset()
    this.memory.clear()
    this.missing.clear()
  }

  /** Layers say something else: when tiles expire, and whom to ask then. Each tile learns of it when it is next wanted. */
  refit () {
    this.epoch++
    this.missing.clear()
  }
}
