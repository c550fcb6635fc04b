// One batch of tiles from which versions go:
//
//   1. past versions go, copies of heads that go among them
//   2. heads with nothing left before them go
//   3. the others fall back: the newest version that stays is written over them, at the revision that was looked at, and then
//      its place in the past is ended (copies.js)
//
// A head whose past did not go as it should stays for the next run: no tile is left with a past and no head.
import { isRefusal } from '../../core/store/refusals.js'
import { readLeaves } from '../resolve/leaves.js'
import { endSome } from './copies.js'
import { asHead, endLeaves, listedOf, readTiles } from './documents.js'
import { itemOf } from './item.js'
import { CHANGED } from './tally.js'

const SEVERAL = 'it has several revisions: run `tilecouch resolve` first'

/**
 * @typedef {import('./item.js').Item} Item
 * @typedef {{living: any[], ended: any[]}} Leaves
 *
 * @typedef {object} LotParts
 * @property {import('./tally.js').Count} count
 * @property {import('./journal.js').Journal} journal
 * @property {AbortSignal} [signal] of reads before anything is written
 * @property {(gone: Map<string, string>) => unknown} onGone told of what was deleted: id -> revision of the deletion
 */

export class Lot {
  /** @type {import('./settle.js').Touched[]} */
  touched = []

  /** @param {import('../store/couch.js').Couch} couch @param {LotParts} parts */
  constructor (couch, { count, journal, signal, onGone }) {
    this.couch = couch
    this.count = count
    this.journal = journal
    this.signal = signal
    this.onGone = onGone
  }

  /**
   * @param {Item[]} items
   * @returns {Promise<Item[]>} those to be decided anew
   */
  async remove (items) {
    const leaves = await readLeaves(this.couch, items.flatMap(documentsOf), this.signal)
    const bytes = new Map(items.map(({ id }) => [id, /** @type {number[]} */ ([])]))
    const whole = await this.#endPast(items, leaves, bytes)
    const sound = whole.filter(item => item.falls && this.#mayGo(item, leaves))
    await this.#endHeads(sound.filter(({ heir }) => !heir), leaves, bytes)
    const again = await this.#fall(sound.filter(({ heir }) => heir), leaves, bytes)
    for (const sizes of bytes.values()) this.count.went(sizes)
    return this.#decideAnew(again)
  }

  /**
   * @param {Item[]} items @param {Map<string, Leaves>} leaves @param {Map<string, number[]>} bytes
   * @returns {Promise<Item[]>} those of which all went
   */
  async #endPast (items, leaves, bytes) {
    const ends = items.flatMap(item => documentsOf(item).filter(id => id !== item.id)).flatMap(id => leaves.get(id)?.living ?? [])
    const { gone, changed, refused } = await this.#end(ends)
    for (const { id, doomed } of items) {
      for (const { id: own, current, size } of doomed) if (!current && gone.has(own)) bytes.get(id)?.push(size)
    }
    const stay = new Set([...changed, ...refused.map(({ id }) => id)])
    return items.filter(item => !documentsOf(item).some(id => stay.has(id)))
  }

  /** Whether the head is the one that was looked at. @param {Item} item @param {Map<string, Leaves>} leaves */
  #mayGo ({ id, head, heir }, leaves) {
    const living = leaves.get(id)?.living ?? []
    if (!living.length) return Boolean(heir && !head) // gone already, unless it is to get one
    if (!head || living.some(({ time }) => time !== head.time)) {
      this.count.tell('changed', id, living.length > 1 ? SEVERAL : CHANGED)
      return false
    }
    if (living.length === 1 || !heir) return true
    this.count.tell('refused', id, SEVERAL)
    return false
  }

  /** @param {Item[]} items @param {Map<string, Leaves>} leaves @param {Map<string, number[]>} bytes */
  async #endHeads (items, leaves, bytes) {
    const { gone } = await this.#end(items.flatMap(({ id }) => leaves.get(id)?.living ?? []))
    for (const { id, head } of items) {
      if (!gone.has(id)) continue
      this.count.tally.heads++
      bytes.get(id)?.push(head?.size ?? 0)
      this.touched.push({ id, gone: leaves.get(id)?.living[0] })
    }
  }

  /**
   * @param {Item[]} items @param {Map<string, Leaves>} leaves @param {Map<string, number[]>} bytes
   * @returns {Promise<Item[]>} whose heir went meanwhile
   */
  async #fall (items, leaves, bytes) {
    if (!items.length) return []
    const heirs = await this.couch.docs(items.map(({ heir }) => `${heir?.id}`), { attachments: true, signal: this.signal })
    const again = items.filter((_, at) => !heirs[at].doc)
    const falls = items.flatMap((item, at) => heirs[at].doc ? [{ item, heir: heirs[at].doc, head: leaves.get(item.id)?.living[0] }] : [])
    if (!falls.length) return again
    await this.journal.note(new Map(falls.map(({ item: { id }, heir }) => [id, { time: heir.time, copy: heir._rev }])))
    const written = await this.#overwrite(falls)
    for (const { item: { id, head }, head: gone } of written) {
      if (gone) {
        this.count.tally.fallen++
        bytes.get(id)?.push(head?.size ?? 0)
      }
      this.touched.push({ id, gone })
    }
    const { absent, gone } = await endSome(this.couch, written.map(({ item: { id } }) => id), this.journal)
    await this.onGone(gone)
    return [...again, ...written.flatMap(({ item }) => absent.has(item.id) ? [item] : [])]
  }

  /** @param {{item: Item, heir: any, head?: any}[]} falls */
  async #overwrite (falls) {
    const answers = new Map((await this.couch.send(falls.map(({ heir, head }) => asHead(heir, head?._rev)))).map(answer => [answer.id, answer]))
    const unsure = falls.filter(({ item: { id } }) => answers.get(id)?.error)
    // an earlier try of the same request may have got through although its answer did not
    const now = await readLeaves(this.couch, unsure.map(({ item: { id } }) => id))
    return falls.filter(({ item: { id }, heir }) => {
      const { error, reason } = answers.get(id) ?? {}
      if (!error || now.get(id)?.living.some(({ time }) => time === heir.time)) return true
      this.count.tell(isRefusal(error) ? 'refused' : 'changed', id, isRefusal(error) ? reason || error : CHANGED)
      return false
    })
  }

  /** @param {any[]} docs */
  async #end (docs) {
    const ended = await endLeaves(this.couch, docs.map(({ _id: id, _rev: rev }) => ({ id, rev })))
    this.count.kept(ended)
    await this.onGone(ended.gone)
    return ended
  }

  /** The version that a head was to fall back to, or fell back to, was removed by somebody else at the same time. @param {Item[]} items @returns {Promise<Item[]>} */
  async #decideAnew (items) {
    if (!items.length) return []
    const tiles = await readTiles(this.couch, items.map(({ id }) => id))
    return items.flatMap(({ id, doomed, heir }, at) => {
      const { head, pasts } = tiles[at]
      const times = new Set([...doomed, ...heir ? [heir] : []].map(({ time }) => time))
      if (!head || !times.has(head.time) || pasts.some(({ time }) => time === heir?.time)) return []
      return [itemOf(id, [...pasts.filter(({ time }) => time < head.time), head].map(listedOf), times)]
    })
  }
}

/** Every document that goes, with the copy that a load may have put beside a head that goes. @param {Item} item */
const documentsOf = ({ id, doomed, head, falls }) =>
  [...doomed.filter(({ current }) => !current).map(({ id: own }) => own), ...head ? [`${id}@${head.time}`] : [], ...falls ? [id] : []]
