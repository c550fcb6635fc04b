// Takes revisions across: asks which the target lacks, reads those in batches, writes them. Every step may be repeated.
import { UNSAID, noAnswer } from '../couch/answers.js'
import { TilecouchError } from '../errors.js'
import { isTileId } from '../ids.js'
import { isUnsaid } from './doubts.js'
import { pause } from '../abort.js'
import { hasStubs, isParentOf, missingIn, parentOf } from './revisions.js'
import { REFUSALS } from '../couch/answers.js'
import { Slots } from './slots.js'

const FIRST = 20 // documents of the first batch, before anything is known of their size
const FINAL = new Set([...REFUSALS, 'bad_request', 'illegal_docid']) // what will be refused again
const SILENT_ROUNDS = 2 // of batches, each half as large, before a line that is slow is taken for one that is dead
const SPOILT = new Set([400, 412, 413]) // statuses of a request that one document makes fail
const GROWTH = 1.05 // of what a line that broke is asked for, with every batch that gets across
const LEAST = 0.001 // part of batchBytes
const LITTLE = 16384 // bytes: less takes no less time
const SAYING = 4 // part of batchTime after which a batch says how much fits: before, it is the way there and back that counts
const WEIGHT = 0.2 // of the newest batch in what a document is expected to measure, when it measures less

/**
 * @typedef {object} Tally
 * @property {number} changes looked at
 * @property {number} selected documents among them that belong to the mirror
 * @property {number} checked revisions that the target was asked about
 * @property {number} missing revisions that it did not have
 * @property {number} docs written
 * @property {number} deleted among them: tombstones
 * @property {number} bytes received from the source for them
 * @property {number} tiles versions of tiles among them
 * @property {number} absent revisions that the source does not have any more
 * @property {number} refused times that the target did not take a revision
 */

export class Carrier {
  #slots
  #size = 0 // bytes a document is expected to measure
  #silences = 0 // batches without an answer since the last that got across
  #pace = 1 // part of batchBytes that the line gets across in time
  #first = FIRST
  #bound = Infinity // bytes of a batch: half of what was on its way when the line broke, and then slowly more

  /**
   * @param {object} parts
   * @param {import('./peer.js').Giver} parts.source
   * @param {import('./peer.js').Peer} parts.target
   * @param {Tally} parts.tally
   * @param {boolean} parts.dryRun
   * @param {typeof import('./replication.js').replicationDefaults} parts.limits
   * @param {(refused: import('./peer.js').Refused) => void} [parts.onRefused]
   * @param {(kept: any[]) => void} [parts.onProgress] with the documents that are there now
   * @param {import('./doubts.js').Doubts} [parts.doubts] passes over single documents that a side has trouble with, instead of giving up
   */
  constructor ({ source, target, tally, dryRun, limits, onRefused, onProgress, doubts }) {
    this.onRefused = onRefused
    this.doubts = doubts
    this.onProgress = onProgress
    this.source = source
    this.target = target
    this.tally = tally
    this.dryRun = dryRun
    this.limits = limits
    this.#slots = new Slots(limits.concurrency)
  }

  /** @param {{id: string, revs: string[]}[]} rows @param {AbortSignal} signal */
  async carry (rows, signal) {
    const asked = await this.#missing(rows, signal)
    if (this.dryRun || !asked.length) return this.onProgress?.([])
    await this.bring(asked, signal)
  }

  /** What the target is known to lack. @param {import('./peer.js').Asked[]} asked @param {AbortSignal} signal */
  async bring (asked, signal) {
    const under = new Set()
    let failure
    for (let at = 0; at < asked.length && !failure;) {
      const release = await this.#slots.take()
      // cut when its turn has come: by then more is known of the size of a document
      const batch = asked.slice(at, at + this.#batchSize())
      at += batch.length
      const moving = this.#move(batch, signal).catch(error => { failure ??= error }).finally(() => {
        release()
        under.delete(moving)
      })
      under.add(moving)
      if (!this.#size) await moving // the first tells how many fit
    }
    await Promise.all(under)
    if (failure) throw failure
  }

  #batchSize () {
    const { batch, smallBytes, batchMost, batchBytes } = this.limits
    if (!this.#size) return Math.min(this.#first, batch)
    const fit = bytes => Math.round(bytes * this.#pace / this.#size)
    return Math.max(1, Math.min(Math.max(batch, fit(smallBytes)), fit(batchBytes), Math.floor(this.#bound / this.#size), batchMost)) || 1
  }

  /** @returns {Promise<import('./peer.js').Asked[]>} */
  async #missing (rows, signal) {
    const { tally } = this
    const diff = await this.target.revsDiff(Object.fromEntries(rows.map(({ id, revs }) => [id, revs])), signal)
    tally.checked += rows.reduce((sum, { revs }) => sum + revs.length, 0)
    // in the order of the changes, which is that in which they were written
    const asked = rows.flatMap(({ id }) => (diff[id]?.missing ?? []).map(rev => ({ id, rev, ancestors: diff[id].possible_ancestors?.filter(isParentOf(rev)) })))
    tally.missing += asked.length
    return asked
  }

  /** @param {import('./peer.js').Asked[]} batch @param {AbortSignal} signal @param {number} [attempt] */
  async #move (batch, signal, attempt = 1) {
    if (signal.aborted) throw new TilecouchError('ABORTED')
    try {
      await this.#across(batch, signal)
    } catch (error) {
      if (!this.doubts || signal.aborted) throw error
      if (error.code === 'UNREACHABLE') this.#lost(batch.length)
      await this.doubts.judge(error)
      if (batch.length > 1) return this.#halve(batch, half => this.#move(half, signal))
      if (attempt >= this.limits.tries) return this.doubts.fail(batch[0], error)
      await pause(this.limits.retryDelay * 2 ** (attempt - 1), signal)
      await this.#move(batch, signal, attempt + 1)
    }
  }

  /** @param {import('./peer.js').Asked[]} batch @param {AbortSignal} signal */
  async #across (batch, signal) {
    const began = performance.now()
    const read = await this.#read(batch, signal)
    if (!read) return this.#halve(batch, half => this.#move(half, signal))
    const { docs, absent } = read
    // a PouchDB does not say which revision
    const refused = (await this.#write(docs, signal)).map(one => ({ ...one, rev: one.rev ?? docs.find(({ _id: id }) => id === one.id)?._rev }))
    this.#measure(docs.length, read.bytes, performance.now() - began)
    for (const one of refused) this.#refuse(one)
    const not = new Set(refused.map(({ id, rev }) => `${id} ${rev}`))
    const kept = docs.filter(({ _id: id, _rev: rev }) => !not.has(`${id} ${rev}`))
    this.tally.absent += absent
    this.tally.docs += kept.length
    this.tally.deleted += kept.filter(({ _deleted: gone }) => gone).length
    this.tally.tiles += kept.filter(({ _id: id }) => isTileId(id)).length
    if (kept.length) this.doubts?.clear()
    this.onProgress?.(kept)
  }

  #measure (count, bytes, took) {
    if (!count) return
    this.#silences = 0
    const size = bytes / count
    // larger ones are believed at once: a batch of them is what fills the memory
    this.#size = Math.max(size, this.#size + WEIGHT * (size - this.#size))
    const { batchTime, batchBytes } = this.limits
    this.#bound *= GROWTH
    const fit = Math.max(bytes, LITTLE) * batchTime / took / batchBytes
    // a small batch that took no time says nothing of how much is too much
    if (fit > this.#pace) this.#pace = Math.min(1, fit, this.#pace * 2)
    else if (took > batchTime / SAYING) this.#pace = Math.max(LEAST, fit)
  }

  #slower (factor) {
    this.#pace = Math.max(LEAST, this.#pace * factor)
  }

  /** The line broke with so many documents on their way: the next are to get across before it does again. @param {number} count */
  #lost (count) {
    const half = Math.max(1, count >> 1)
    this.#first = Math.min(this.#first, half)
    if (this.#size) this.#bound = Math.min(this.#bound, half * this.#size)
  }

  /** In order: each half may be divided again. */
  async #halve (items, task) {
    const half = items.length >> 1
    return [await task(items.slice(0, half)), await task(items.slice(half))]
  }

  /** Nothing when it has to be divided. */
  async #read (batch, signal) {
    const { tries, retryDelay, mostBytes, mostDocument } = this.limits
    const docs = new Map()
    let bytes = 0
    let left = batch
    for (let attempt = 1; left.length; attempt++) {
      let answer
      try {
        answer = await this.#fetch(left, { signal, most: left.length > 1 ? mostBytes : mostDocument })
      } catch (error) {
        if (this.#isTooMuch(error, batch)) return undefined
        if (error.code !== 'ANSWER_TOO_LARGE') throw error
        if (batch.length > 1) return undefined
        this.#refuse({ id: batch[0].id, rev: batch[0].rev, error: 'too_large', reason: error.message })
        return { docs: [], bytes: 0, absent: 0 }
      }
      bytes += answer.bytes
      this.tally.bytes += answer.bytes
      for (const doc of answer.docs) docs.set(`${doc._id} ${doc._rev}`, doc)
      left = missingIn(left, answer.docs)
      // a shard that was away for a moment: nothing may be passed over for that. What is not found is looked for once more
      const failed = answer.failed ?? []
      const trouble = failed.find(({ error }) => error !== 'not_found') ?? (left.some(isUnsaid(failed)) ? UNSAID : undefined)
      if (!left.length || (!trouble && attempt > 1)) break
      if (attempt >= tries) {
        if (!this.doubts || !docs.size) throw noAnswer(this.source.name, left.map(({ id }) => id), { reason: trouble?.reason ?? trouble?.error ?? 'missing' })
        left = left.filter(one => !this.doubts?.failOne(one, failed))
        break
      }
      await pause(retryDelay * 2 ** (attempt - 1), signal)
    }
    // in the order of ids, which is that of the target's tree
    return { docs: [...docs.values()].sort((a, b) => a._id < b._id ? -1 : 1), bytes, absent: left.length }
  }

  /** What was asked for and nothing else: a source could slip in a design document, and with it code. */
  async #ask (asked, options) {
    const answer = await this.source.fetch(asked, options)
    const wanted = new Set(asked.map(({ id }) => id))
    return { ...answer, docs: answer.docs.filter(({ _id: id }) => wanted.has(id)) }
  }

  /**
   * As the source answers, but an attachment is left out only where the target has the very revision before. CouchDB finds the bytes
   * of one that is left out by name and by the revision it says it is from; a document that was deleted and made anew says the first
   * one. With a tombstone in between that the target never saw it would keep the old bytes, as it does with CouchDB's own replicator.
   */
  async #fetch (asked, options) {
    const answer = await this.#ask(asked, options)
    const ancestors = new Map(asked.map(({ id, ancestors: known = [] }) => [id, known]))
    const unsure = answer.docs.filter(doc => hasStubs(doc) && !ancestors.get(doc._id)?.includes(parentOf(doc)))
    if (!unsure.length) return answer
    const whole = await this.#ask(unsure.map(({ _id: id, _rev: rev }) => ({ id, rev })), options)
    const docs = [...answer.docs.filter(doc => !unsure.includes(doc)), ...whole.docs]
    return { docs, bytes: answer.bytes + whole.bytes, failed: [...answer.failed ?? [], ...whole.failed ?? []] }
  }

  /** A line too slow for as much at once; one that answers nothing at all, however little is asked for, is dead. */
  #isTooMuch (error, batch) {
    if (!error.details?.silent) return false
    this.#slower(0.5)
    return batch.length > 1 && ++this.#silences <= SILENT_ROUNDS * this.limits.concurrency
  }

  /** @returns {Promise<import('./peer.js').Refused[]>} */
  async #write (docs, signal, isWhole = false) {
    const { tries, retryDelay } = this.limits
    const refused = []
    for (let attempt = 1; docs.length; attempt++) {
      let failed
      try {
        failed = await this.target.write(docs, signal)
      } catch (error) {
        const { status, reason = error.message } = error.details ?? {}
        if (!SPOILT.has(status) && !this.#isTooMuch(error, docs)) throw error
        if (docs.length > 1) return [...refused, ...(await this.#halve(docs, half => this.#write(half, signal, isWhole))).flat()]
        const [{ _id: id, _rev: rev }] = docs
        if (status === 412 && !isWhole) return this.#writeWhole(id, rev, signal)
        return [...refused, { id, rev, error: `${status}`, reason }]
      }
      const again = new Map()
      for (const one of failed) FINAL.has(one.error) ? refused.push(one) : again.set(`${one.id} ${one.rev}`, one)
      docs = docs.filter(({ _id: id, _rev: rev }) => again.has(`${id} ${rev}`) || again.has(`${id} undefined`))
      if (!docs.length) break
      const [{ id, reason, error }] = again.values()
      if (attempt >= tries) {
        if (!this.doubts) throw new TilecouchError('COUCHDB_ERROR', { url: this.target.name, status: 500, reason: `${id}: ${reason ?? error}` })
        return [...refused, ...again.values()]
      }
      await pause(retryDelay * 2 ** (attempt - 1), signal)
    }
    return refused
  }

  /** An attachment was left out that the target does not have after all. */
  async #writeWhole (id, rev, signal) {
    const { docs, bytes } = await this.#ask([{ id, rev }], { signal, most: this.limits.mostDocument })
    this.tally.bytes += bytes
    return this.#write(docs, signal, true)
  }

  #refuse (refused) {
    this.tally.refused++
    this.onRefused?.(refused)
  }
}
