// Stores one batch of versions: reads what the heads are, decides, writes. Every step may be repeated, and whatever is
// killed between two of them, no version is lost:
//
//   1. new heads, back-fills, and copies of the heads that will be overwritten go out together: none of them destroys anything
//   2. only heads whose copy stands are overwritten, at the revision that was copied
//   3. whatever met a conflict is read again and decided again
import { TilecouchError } from '../errors.js'
import { compareIds, pastRange } from '../ids.js'
import { decide as byRule } from '../versions.js'
import { pastOf, shownBy, tileDocument, versionOf } from './documents.js'
import { isRefusal } from './refusals.js'

/**
 * @typedef {object} Tile a version on its way into the store
 * @property {string} id of its head
 * @property {string} layer
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {string} time
 * @property {string} [expires]
 * @property {Record<string, any>} [origin]
 * @property {string} [stored] when another store learnt it, or another layer
 * @property {Record<string, any>} [others] fields of other writers
 * @property {string} [type] content type
 * @property {Uint8Array} [bytes] none when gone
 * @property {string | null} digest as CouchDB writes it; null when gone
 * @property {string} [onto] the revision of the head that it is to follow; where another one stands it is left out, as unchanged
 * @property {number} attempts rounds of conflict
 * @property {'create' | 'advance' | 'backfill'} [tried] what a request that held it was to do, perhaps in vain
 *
 * @typedef {object} Couch the database; how bytes are sent is the caller's: Node and browsers do it differently
 * @property {string} url
 * @property {(ids: string[], options: {attachments?: boolean, signal?: AbortSignal}) => Promise<{id: string, doc?: any, deleted: boolean}[]>} docs the winner of each, in their order
 * @property {(request: {path: string, qs: Record<string, any>, signal?: AbortSignal}) => Promise<any>} request
 * @property {(path: string, queries: object[], signal?: AbortSignal) => Promise<any[][]>} queries the rows of each
 */
/** @typedef {'unchanged' | 'create' | 'advance' | 'backfill'} Outcome */
/** @typedef {{tile: Tile, action: string, head?: any, before?: any, removed?: boolean}} Step */

export const ATTEMPTS = 8 // rounds of conflict before a tile is given up as contended

export class Batch {
  /**
   * @param {Couch} couch
   * @param {object} options
   * @param {string} options.stored when the store learnt it
   * @param {AbortSignal} [options.signal]
   * @param {(docs: any[], signal?: AbortSignal) => Promise<{id: string, ok?: boolean, error?: string, reason?: string}[]>} options.send new revisions, with attachments whose `data` is as `docs` and the tiles have it
   * @param {(tile: any, outcome: Outcome | TilecouchError) => void} options.report
   * @param {typeof byRule} [options.decide] what a version means, unless it is what it always means
   */
  constructor (couch, { stored, signal, send, report, decide = byRule }) {
    this.couch = couch
    this.decide = decide
    this.send = send
    this.stored = stored
    this.signal = signal
    this.report = report
    this.newGround = true // whether the last tiles looked at were all new to the store
  }

  /** @param {Tile[]} tiles */
  async store (tiles) {
    let pending = tiles
    while (pending.length) {
      // several versions of one tile go round by round, oldest first
      const { first, later } = firstOfEach([...pending].sort((a, b) => compareIds(a.id, b.id) || compareIds(a.time, b.time)))
      const again = await this.#round(first)
      const contended = again.filter(tile => ++tile.attempts >= ATTEMPTS)
      for (const tile of contended) this.report(tile, new TilecouchError('CONTENDED', { id: tile.id, attempts: ATTEMPTS }))
      pending = [...again.filter(tile => !contended.includes(tile)), ...later]
    }
  }

  /**
   * One decision and one write for each tile. Answers those that must be decided again.
   * @param {Tile[]} tiles
   */
  async #round (tiles) {
    const steps = await this.#decide(tiles)
    const work = []
    for (const step of steps) {
      if (step.action === 'taken') this.report(step.tile, new TilecouchError('VERSION_TAKEN', { id: step.tile.id, time: step.tile.time }))
      // "unchanged" because an earlier try of ours got through although its answer did not
      else if (step.action === 'unchanged') this.report(step.tile, (this.#isOurs(step) && step.tile.tried) || 'unchanged')
      else work.push(step)
    }
    const { copies, again } = await this.#copies(work.filter(step => step.action === 'advance' && step.head.rev))
    const safe = await this.#writeFirst(work, copies, again)
    await this.#writeHeads(safe, again)
    return again
  }

  /** @param {Step} step */
  #isOurs ({ tile, head, before }) {
    return tile.time === head?.time || tile.time === before?.time
  }

  /** @param {Tile[]} tiles */
  async #decide (tiles) {
    if (this.newGround && tiles.length > 1 && await this.#isEmptyRange(tiles)) return tiles.map(tile => ({ tile, head: null, action: this.decide(tile, null) }))
    const rows = await this.couch.docs(tiles.map(tile => tile.id), { signal: this.signal })
    /** @type {Step[]} */
    const steps = rows.map((row, index) => {
      const tile = tiles[index]
      const head = row.doc ? versionOf(row.doc) : null
      if (tile.onto && tile.onto !== head?.rev) return { tile, head, action: 'unchanged' }
      return { tile, head, action: this.decide(tile, head), removed: row.deleted }
    })
    this.newGround = steps.every(step => !step.head && !step.removed)
    await this.#findNewestPast(steps.filter(step => step.removed))
    await this.#findBefore(steps.filter(step => step.action === 'ask'))
    return steps
  }

  // Loads walk new ground in order of ids: one look at the range tells that there is nothing to compare with. Should
  // somebody else write there meanwhile, the conflict leads back here. Of one tile, its head tells as much.
  async #isEmptyRange (tiles) {
    if (tiles[0].tried) return false
    // not the past of the last tile: that of row 1 comes after row 10
    const endkey = tiles.map(({ id }) => pastRange(id).endkey).reduce((a, b) => compareIds(a, b) > 0 ? a : b)
    const { rows } = await this.couch.request({ path: '_all_docs', qs: { startkey: tiles[0].id, endkey, limit: 1 }, signal: this.signal })
    return rows.length === 0
  }

  // A head that somebody deleted leaves its past behind: the newest past version then stands for the head
  async #findNewestPast (steps) {
    const found = await this.couch.queries('_all_docs', steps.map(({ tile }) => {
      const { startkey, endkey } = pastRange(tile.id)
      return { startkey: endkey, endkey: startkey, descending: true, limit: 1, include_docs: true }
    }), this.signal)
    steps.forEach((step, index) => {
      const doc = found[index][0]?.doc
      if (!doc) return
      step.head = { ...versionOf(doc), rev: undefined }
      step.action = this.decide(step.tile, step.head)
      if (step.action === 'unchanged' && step.tile.time >= step.head.time && step.tile.digest !== null) step.action = 'create'
    })
  }

  // An older time: only the version before it tells whether anything changed then
  async #findBefore (steps) {
    const found = await this.couch.queries('_all_docs', steps.map(({ tile }) => (
      { startkey: `${tile.id}@${tile.time}`, endkey: `${tile.id}@`, descending: true, limit: 1, include_docs: true }
    )), this.signal)
    steps.forEach((step, index) => {
      const doc = found[index][0]?.doc
      step.before = doc ? versionOf(doc) : null
      step.action = this.decide(step.tile, step.head, step.before)
    })
  }

  // The heads to be overwritten, with their bytes, at the very revision the decision was made on
  async #copies (steps) {
    const copies = new Map()
    const again = []
    if (!steps.length) return { copies, again }
    const rows = await this.couch.docs(steps.map(step => step.tile.id), { attachments: true, signal: this.signal })
    steps.forEach((step, index) => {
      const doc = rows[index]?.doc
      if (doc?._rev === step.head.rev) copies.set(step, pastOf(doc))
      else again.push(step.tile)
    })
    return { copies, again }
  }

  /** Step 1: everything that destroys nothing. Answers the advances whose copy stands. */
  async #writeFirst (work, copies, again) {
    const writes = []
    const safe = []
    for (const step of work) {
      if (copies.has(step)) writes.push({ step, doc: copies.get(step) })
      else if (step.action === 'advance' && step.head.rev) continue // changed while it was copied: in `again`
      else if (step.action === 'advance') safe.push(step) // the newest past stands already, there is no head to copy
      else writes.push({ step, doc: tileDocument(step.tile, { current: step.action === 'create', stored: this.stored }) })
    }
    const standing = []
    await this.#write(writes, ({ step, doc }, result) => {
      const copy = copies.has(step)
      if (result.ok) copy ? safe.push(step) : this.report(step.tile, step.action)
      else if (result.error !== 'conflict') this.#refused(step.tile, result, again)
      else if (copy) standing.push({ step, doc })
      else again.push(step.tile)
    })
    await this.#compareStanding(standing, safe)
    return safe
  }

  // A copy that is there already: an earlier try made it, or it holds something else and the head must stay. The same image
  // that was loaded for another time, and had to move here from a conflict, is something else: it may have to move on.
  async #compareStanding (standing, safe) {
    if (!standing.length) return
    const rows = await this.couch.docs(standing.map(({ doc }) => doc._id), { signal: this.signal })
    standing.forEach(({ step, doc }, index) => {
      const stands = rows[index]?.doc
      if (stands && shownBy(stands) === step.head.digest && stands.contested === doc.contested) safe.push(step)
      else this.report(step.tile, new TilecouchError('VERSION_TAKEN', { id: step.tile.id, time: doc.time }))
    })
  }

  /** Step 2: the heads. */
  async #writeHeads (steps, again) {
    const writes = steps.map(step => ({
      step, doc: { ...tileDocument(step.tile, { current: true, stored: this.stored }), ...(step.head.rev && { _rev: step.head.rev }) }
    }))
    await this.#write(writes, ({ step }, result) => {
      if (result.ok) this.report(step.tile, 'advance')
      else if (result.error === 'conflict') again.push(step.tile)
      else this.#refused(step.tile, result, again)
    })
  }

  async #write (writes, handle) {
    if (!writes.length) return
    writes.sort((a, b) => compareIds(a.doc._id, b.doc._id))
    for (const { step } of writes) step.tile.tried = step.action
    const results = await this.send(writes.map(write => write.doc), this.signal)
    if (results.length !== writes.length) throw new TilecouchError('BAD_ANSWER', { url: this.couch.url, why: 'results are missing' })
    // CouchDB answers in the order of the request, but does not promise it
    const byId = new Map(results.map(result => [result.id, result]))
    for (const write of writes) handle(write, byId.get(write.doc._id) ?? { error: 'no answer', reason: 'no answer' })
  }

  #refused (tile, { error, reason }, again) {
    if (isRefusal(error)) {
      this.report(tile, new TilecouchError('REFUSED', { id: tile.id, reason: reason || error }))
    } else again.push(tile) // a shard in trouble: the same as a conflict, read again
  }
}

function firstOfEach (tiles) {
  const first = []
  const later = []
  for (const tile of tiles) (first.at(-1)?.id === tile.id ? later : first).push(tile)
  return { first, later }
}
