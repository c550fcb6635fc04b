// Takes revisions across: asks which the target lacks, reads those in batches, writes them. Every step may be repeated.
import { TilecouchError } from '../errors.js'
import { isTileId } from '../ids.js'
import { Slots } from './slots.js'

const FIRST = 20 // documents of the first batch, before anything is known of their size
const FINAL = new Set(['forbidden', 'unauthorized', 'doc_validation', 'bad_request', 'illegal_docid']) // what will be refused again
const WEIGHT = 0.2 // of the newest batch in what a document is expected to measure

export class Carrier {
  #slots
  #size = 0 // bytes a document is expected to measure

  /**
   * @param {object} parts
   * @param {import('./peer.js').Peer} parts.source
   * @param {import('./peer.js').Peer} parts.target
   * @param {import('./replication.js').Tally} parts.tally
   * @param {boolean} parts.dryRun
   * @param {typeof import('./replication.js').replicationDefaults} parts.limits
   * @param {(refused: import('./peer.js').Refused) => void} [parts.onRefused]
   * @param {() => void} [parts.onProgress]
   */
  constructor ({ source, target, tally, dryRun, limits, onRefused, onProgress }) {
    this.onRefused = onRefused
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
    if (this.dryRun || !asked.length) return this.onProgress?.()
    const under = []
    for (let at = 0; at < asked.length;) {
      const batch = asked.slice(at, at + this.#batchSize())
      at += batch.length
      under.push(this.#slots.run(() => this.#move(batch, signal)))
      if (at === batch.length && !this.#size) await under[0] // the first tells how many fit
    }
    const failed = (await Promise.allSettled(under)).find(({ status }) => status === 'rejected')
    if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason
  }

  #batchSize () {
    if (!this.#size) return Math.min(FIRST, this.limits.batch)
    return Math.max(1, Math.min(this.limits.batch, Math.round(this.limits.batchBytes / this.#size)))
  }

  /** @returns {Promise<import('./peer.js').Asked[]>} */
  async #missing (rows, signal) {
    const { tally } = this
    const diff = await this.target.revsDiff(Object.fromEntries(rows.map(({ id, revs }) => [id, revs])), signal)
    tally.checked += rows.reduce((sum, { revs }) => sum + revs.length, 0)
    // in the order of the changes, which is that in which they were written
    const asked = rows.flatMap(({ id }) => (diff[id]?.missing ?? []).map(rev => ({ id, rev, ancestors: diff[id].possible_ancestors })))
    tally.missing += asked.length
    return asked
  }

  /** @param {import('./peer.js').Asked[]} batch @param {AbortSignal} signal */
  async #move (batch, signal) {
    if (signal.aborted) throw new TilecouchError('ABORTED')
    const read = await this.#read(batch, signal)
    if (!read) return this.#halve(batch, signal)
    const { docs, bytes } = read
    if (docs.length) this.#size = this.#size ? this.#size + WEIGHT * (bytes / docs.length - this.#size) : bytes / docs.length
    this.tally.absent += Math.max(0, batch.length - docs.length)
    const refused = await this.#write(docs, batch, signal)
    for (const one of refused) this.#refuse(one)
    const kept = docs.length - refused.length
    this.tally.docs += kept
    this.tally.bytes += bytes
    this.tally.deleted += docs.filter(({ _deleted: gone }) => gone).length
    this.tally.tiles += docs.filter(({ _id: id }) => isTileId(id)).length
    this.onProgress?.()
  }

  /** Nothing when the answer would be too large. */
  async #read (batch, signal) {
    try {
      const { docs, bytes } = await this.source.fetch(batch, { signal, most: this.limits.mostBytes })
      const once = new Map(docs.map(doc => [`${doc._id} ${doc._rev}`, doc]))
      return { docs: [...once.values()], bytes }
    } catch (error) {
      if (error.code !== 'ANSWER_TOO_LARGE') throw error
      if (batch.length === 1) {
        this.#refuse({ id: batch[0].id, rev: batch[0].rev, error: 'too_large', reason: error.message })
        return { docs: [], bytes: 0 }
      }
      return undefined
    }
  }

  async #halve (batch, signal) {
    const half = batch.length >> 1
    await this.#move(batch.slice(0, half), signal)
    await this.#move(batch.slice(half), signal)
  }

  /** @returns {Promise<import('./peer.js').Refused[]>} */
  async #write (docs, batch, signal) {
    if (!docs.length) return []
    try {
      const failed = await this.target.write(docs, signal)
      const passing = failed.find(({ error }) => !FINAL.has(error))
      if (passing) throw new TilecouchError('COUCHDB_ERROR', { url: this.target.name, status: 500, reason: `${passing.id}: ${passing.reason ?? passing.error}` })
      return failed
    } catch (error) {
      const { status } = error.details ?? {}
      if (![400, 412, 413].includes(status)) throw error
      // one of them spoils the request for all
      if (docs.length > 1) return (await each(docs, doc => this.#write([doc], batch, signal))).flat()
      const [{ _id: id, _rev: rev }] = docs
      if (status === 412) return this.#writeWhole(id, rev, signal)
      return [{ id, rev, error: `${status}`, reason: error.details.reason ?? error.message }]
    }
  }

  /** An attachment was left out that the target does not have after all. */
  async #writeWhole (id, rev, signal) {
    const { docs } = await this.source.fetch([{ id, rev }], { signal, most: this.limits.mostBytes })
    return docs.length ? this.target.write(docs, signal) : []
  }

  #refuse (refused) {
    this.tally.refused++
    this.onRefused?.(refused)
  }
}

async function each (items, task) {
  const results = []
  for (const item of items) results.push(await task(item))
  return results
}
