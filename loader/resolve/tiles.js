// Puts tiles right. What destroys nothing is written first: copies in the past. Only what is seen to stand there is then
// ended at its old place. So a run that is killed has lost nothing, and another one finishes what it began.
import { headId } from '../../core/index.js'
import { batchesOf } from '../../core/batches.js'
import { shownBy } from '../../core/store/documents.js'
import { checkDocument } from '../verify/store/document.js'
import { compareRevs, headOf, leafOf, pastAt, tombstone, written } from './content.js'
import { readLeaves, readTiles } from './leaves.js'
import { planTile } from './plan.js'

/**
 * @typedef {import('./content.js').Leaf} Leaf
 * @typedef {import('./plan.js').Copy} Copy
 *
 * @typedef {object} Parts
 * @property {import('./index.js').Tally} tally
 * @property {typeof import('./index.js').resolveDefaults} limits
 * @property {boolean} [dryRun]
 * @property {AbortSignal} [signal]
 * @property {(id: string, reason: string) => void} onLeft
 * @property {(id: string, reason: string) => void} onRefused
 */

/** Whether two leaves show different images for one time. @param {{heads: any[], pasts: any[]}} state */
function isContested ({ heads, pasts }) {
  const shown = new Map()
  return [...heads, ...pasts].some(doc => {
    const before = shown.get(doc.time)
    shown.set(doc.time, shownBy(doc))
    return before !== undefined && before !== shownBy(doc)
  })
}

export class Tiles {
  #standing = /** @type {Set<Copy>} */ (new Set())

  /**
   * @param {import('../store/couch.js').Couch} couch
   * @param {import('../../core/mirror/peer.js').Peer} peer the same database, as replication speaks with it
   * @param {Parts} parts
   */
  constructor (couch, peer, { tally, limits, dryRun, signal, onLeft, onRefused }) {
    this.couch = couch
    this.peer = peer
    this.tally = tally
    this.limits = limits
    this.dryRun = dryRun
    this.signal = signal
    this.onLeft = onLeft
    this.onRefused = onRefused
  }

  /** @param {string[]} ids of heads @returns {Promise<string[]>} those that were looked at */
  async resolve (ids) {
    const states = (await readTiles(this.couch, ids, this.signal)).filter(isContested)
    const plans = states.map(state => this.#plan(state)).filter(plan => plan !== undefined)
    this.#standing = new Set()
    const [copies, ends] = [plans.flatMap(plan => plan.copies), plans.flatMap(plan => plan.ends)]
    const promotes = plans.flatMap(({ promote }) => promote ? [promote] : [])
    const looked = states.map(({ id }) => id)
    if (this.dryRun) {
      this.#count(copies, promotes.length, ends.length)
      return looked
    }
    await this.#copy(copies)
    const safe = (/** @type {{needs?: Copy}} */ { needs }) => !needs || this.#standing.has(needs)
    const promoted = await this.#write(promotes.filter(safe), ({ over }, doc) => written(headOf(doc), over))
    const ended = await this.#send(ends.filter(safe).map(({ leaf: { id, rev } }) => tombstone(id, rev)))
    this.#count([...this.#standing], promoted, ended)
    return looked
  }

  #count (copies, promoted, ended) {
    this.tally.past += copies.filter(({ contested }) => !contested).length
    this.tally.contested += copies.filter(({ contested }) => contested).length
    this.tally.promoted += promoted
    this.tally.ended += ended
  }

  /** @param {{id: string, heads: any[], pasts: any[]}} state @returns {import('./plan.js').Plan | undefined} */
  #plan ({ id, heads, pasts }) {
    for (const doc of [...heads, ...pasts]) {
      const { problems: [problem] } = checkDocument(doc)
      if (problem) return void this.onLeft(doc._id, `it is no valid tile: ${problem.filter(Boolean).join(', ')}`)
    }
    try {
      return planTile(heads.map(leafOf), pasts.map(leafOf))
    } catch (error) {
      if (error.code !== 'BAD_TIME') throw error
      this.onLeft(id, 'there is no second left before its first version')
    }
  }

  /** @param {Copy[]} copies */
  async #copy (copies) {
    await this.#write(copies.map(copy => ({ copy, leaf: copy.from })), ({ copy }, doc) => written(pastAt(doc, copy.time)))
    const missing = await this.#look(copies)
    if (!missing.length) return
    // the very same was there once and was ended: it goes on below that
    await this.#write(missing.map(({ copy, end }) => ({ copy, end, leaf: copy.from })), ({ copy, end }, doc) => written(pastAt(doc, copy.time), end))
    await this.#look(missing.map(({ copy }) => copy))
  }

  /** Notes which copies stand. @param {Copy[]} copies @returns {Promise<{copy: Copy, end: string}[]>} those that were ended there before */
  async #look (copies) {
    const placeOf = ({ from, time }) => `${headId(from.id)}@${time}`
    const leaves = await readLeaves(this.couch, [...new Set(copies.map(placeOf))], this.signal)
    const missing = []
    for (const copy of copies) {
      const { living, ended } = leaves.get(placeOf(copy)) ?? { living: [], ended: [] }
      if (living.some(doc => leafOf(doc).key === copy.from.key)) this.#standing.add(copy)
      else if (ended.length) missing.push({ copy, end: ended.map(({ _rev }) => _rev).sort(compareRevs)[ended.length - 1] })
    }
    return missing
  }

  /**
   * Writes what is made of leaves, with their bytes, so many at once.
   * @param {({leaf: Leaf} & Record<string, any>)[]} items
   * @param {(item: any, doc: any) => any} make of the leaf's document
   * @returns {Promise<number>} how many were taken
   */
  async #write (items, make) {
    const { batch: most, bytes } = this.limits
    let taken = 0
    for await (const lot of batchesOf(items, { most, bytes, sizeOf: ({ leaf }) => leaf.doc._attachments?.tile?.length ?? 0 })) {
      const asked = [...new Map(lot.map(({ leaf: { id, rev } }) => [`${id} ${rev}`, { id, rev }])).values()]
      const { docs } = await this.peer.fetch(asked, { signal: this.signal })
      const found = new Map(docs.map(doc => [`${doc._id} ${doc._rev}`, doc]))
      // a leaf that somebody went on with meanwhile is another tile to look at
      const there = lot.filter(({ leaf: { id, rev } }) => found.has(`${id} ${rev}`))
      taken += await this.#send(there.map(item => make(item, found.get(`${item.leaf.id} ${item.leaf.rev}`))))
    }
    return taken
  }

  /** @param {any[]} docs @returns {Promise<number>} how many were taken */
  async #send (docs) {
    if (!docs.length) return 0
    const refused = await this.peer.write(docs, this.signal)
    for (const { id, error, reason } of refused) this.onRefused(id, reason || error)
    return docs.length - refused.length
  }
}
