// Merges the conflicting revisions of small documents into one: layers, editions and the mark of the store.
import { STORE_ID, compareIds, faultIn } from '../../core/index.js'
import { union } from '../../core/store/extent.js'
import { lastPrune } from '../prune/mark.js'
import { readLeaves } from '../store/revisions.js'
import { winnerFirst } from '../../core/mirror/index.js'
import { canonical, fieldsOf, tombstone, written } from '../store/revisions.js'

const least = (a, b) => a === undefined ? b : b === undefined ? a : Math.min(a, b)
const most = (a, b) => a === undefined ? b : b === undefined ? a : Math.max(a, b)

const fewest = (a, b) => compareIds(a ?? '~', b ?? '~')

/** @type {Record<string, {order: (a: any, b: any) => number, merge: (first: any, others: any[]) => any}>} */
const kinds = {
  // it reaches as far as any of them; a field that only one has stays
  layer: {
    order: winnerFirst,
    merge: (first, others) => others.reduce((doc, other) => Object.fromEntries(Object.entries({
      ...other,
      ...doc,
      bounds: union(doc.bounds, other.bounds) ?? undefined,
      minzoom: least(doc.minzoom, other.minzoom),
      maxzoom: most(doc.maxzoom, other.maxzoom),
      pruned: lastPrune(doc, other)
    }).filter(([, value]) => value !== undefined)), first)
  },
  // the load that got further; a title was written by a person
  edition: {
    order: (a, b) => Number(Boolean(b.finished)) - Number(Boolean(a.finished)) || Number(Boolean(b.complete)) - Number(Boolean(a.complete)) ||
      (b.tiles ?? 0) - (a.tiles ?? 0) || compareIds(b.finished ?? '', a.finished ?? '') || compareIds(canonical(fieldsOf(b)), canonical(fieldsOf(a))) || winnerFirst(a, b),
    merge (first, others) {
      const title = [first, ...others].find(doc => doc.title)?.title
      return title === undefined ? first : { ...first, title }
    }
  },
  // the store that was there first
  store: {
    order: (a, b) => fewest(a.created, b.created) || fewest(a.uuid, b.uuid) || winnerFirst(a, b),
    merge (first, others) {
      const [published] = [first, ...others].map(doc => doc.published).filter(Boolean).sort()
      return { ...first, schema: others.reduce((schema, other) => most(schema, other.schema), first.schema), ...(published && { published }) }
    }
  }
}

const kindOf = id => id === STORE_ID ? 'store' : /^(layer|edition):/.exec(id)?.[1]

/**
 * @param {any[]} leaves living ones, two or more, of one document
 * @returns {{write?: any, ends: any[]} | undefined} nothing when one is not ours, or not valid
 */
export function planMerge (leaves) {
  const [{ _id: id }] = leaves
  const kind = /** @type {string} */ (kindOf(id))
  if (leaves.some(doc => doc.type !== kind || doc._attachments || (kind !== 'store' && faultIn(doc)))) return undefined
  const [first, ...others] = [...leaves].sort(kinds[kind].order)
  const fields = kinds[kind].merge(fieldsOf(first), others.map(fieldsOf))
  return {
    ...(canonical(fields) !== canonical(fieldsOf(first)) && { write: written({ _id: id, ...fields }, first._rev) }),
    ends: others.map(({ _rev }) => tombstone(id, _rev))
  }
}

/**
 * @typedef {object} Parts
 * @property {{merged: number, ended: number}} tally
 * @property {boolean} [dryRun]
 * @property {AbortSignal} [signal]
 * @property {(id: string, reason: string) => void} onLeft
 * @property {(id: string, reason: string) => void} onRefused
 */

export class DocumentMerger {
  /**
   * @param {import('../store/couch.js').Couch} couch
   * @param {import('../../core/mirror/peer.js').Peer} peer
   * @param {Parts} parts
   */
  constructor (couch, peer, { tally, dryRun, signal, onLeft, onRefused }) {
    this.couch = couch
    this.peer = peer
    this.tally = tally
    this.dryRun = dryRun
    this.signal = signal
    this.onLeft = onLeft
    this.onRefused = onRefused
  }

  /** Whether a document can be merged. @param {string} id */
  static has (id) {
    return kindOf(id) !== undefined
  }

  /** @param {string[]} ids */
  async resolve (ids) {
    const leaves = await readLeaves(this.couch, ids, this.signal)
    for (const id of ids) {
      const living = leaves.get(id)?.living ?? []
      if (living.length < 2) continue
      const plan = planMerge(living)
      if (!plan) this.onLeft(id, living.map(doc => kindOf(id) === 'store' ? undefined : faultIn(doc)).find(Boolean) ?? 'not all of its leaves are of a tile store')
      else if (this.dryRun || await this.#write(plan)) {
        this.tally.merged++
        this.tally.ended += plan.ends.length
      }
    }
  }

  /** Writes the merged document before the others are deleted. @param {{write?: any, ends: any[]}} plan */
  async #write ({ write, ends }) {
    for (const docs of write ? [[write], ends] : [ends]) {
      const refused = await this.peer.write(docs, this.signal)
      for (const { id, error, reason } of refused) this.onRefused(id, reason || error)
      if (refused.length) return false
    }
    return true
  }
}
