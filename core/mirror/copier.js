// Copies revisions from one peer to another: asks which ones the target lacks, reads those in batches, writes them.
// Every step may be repeated. `FailureStreak` lets a copy skip single bad documents.
import { REFUSALS, UNSAID, hasStubs, isParentOf, missingIn, noAnswer, parentOf } from '../couch/answers.js'
import { TilecouchError } from '../errors.js'
import { isTileId } from '../ids.js'
import { Semaphore, pause } from '../promises.js'

const FIRST_BATCH = 20 // documents, before their size is known
const FINAL = new Set([...REFUSALS, 'bad_request', 'illegal_docid']) // errors that a repetition would give again
const SPOILT = new Set([400, 412, 413]) // statuses of a request that one of its documents makes fail
// a single document may cause these
const DOCUMENT_ERRORS = new Set(['UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR'])
const SILENT_ROUNDS = 2 // of batches, each half as large, until a silent connection is dead and not slow
const GROWTH = 1.05 // factor of the size limit after each batch, once the connection has broken
const MIN_PACE = 0.001 // part of batchBytes
const MIN_TIMED = 16384 // bytes: fewer take no less time
const ROUND_TRIP = 4 // part of batchTime up to which a batch does not show the rate: latency dominates
const WEIGHT = 0.2 // of the newest batch in the expected size of a document, when it is smaller
const MOST_FAILURES = 200 // documents that may fail one after the other until the whole copy fails

export const copierDefaults = {
  batch: 50, // documents a request at first: what is lost when it breaks off
  batchShare: 0.05, // later so many of the documents written until now: little is lost beside what is there
  smallBytes: 256 * 1024, // more documents than that in a request, if they are smaller than this together
  batchMost: 500, // documents a request at most
  batchBytes: 4 * 1024 * 1024, // expected bytes of a request
  batchTime: 10000, // milliseconds a batch may take: on a slower connection the next ones are smaller
  mostBytes: 8 * 1024 * 1024, // of an answer with several documents: a larger one is asked for in halves
  mostDocument: 64 * 1024 * 1024, // of an answer with one document: a larger one is left out
  concurrency: 4, // batches under way
  tries: 5, // for documents that a side has trouble with
  retryDelay: 200 // milliseconds before the second try, doubled each time
}

/**
 * @typedef {import('./peer.js').Asked} Asked
 * @typedef {import('./peer.js').Refused} Refused
 *
 * @typedef {object} CopyTally
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

/** @returns {CopyTally} */
export const newCopyTally = () =>
  ({ changes: 0, selected: 0, checked: 0, missing: 0, docs: 0, deleted: 0, bytes: 0, tiles: 0, absent: 0, refused: 0 })

export class RevisionCopier {
  #semaphore
  #size = 0 // expected bytes of a document
  #silences = 0 // batches without an answer since the last success
  #pace = 1 // part of batchBytes that gets across within batchTime
  #first = FIRST_BATCH
  #bound = Infinity // bytes of a batch: half of what was under way when the connection broke, then slowly more

  /**
   * @param {object} parts
   * @param {Pick<import('./peer.js').Peer, 'name' | 'fetch'>} parts.source
   * @param {import('./peer.js').Peer} parts.target
   * @param {CopyTally} parts.tally
   * @param {boolean} [parts.dryRun] only counts what is missing
   * @param {Partial<typeof copierDefaults>} [parts.limits]
   * @param {(refused: Refused) => void} [parts.onRefused]
   * @param {(written: any[]) => void} [parts.onProgress] with the documents that the target has now
   * @param {FailureStreak} [parts.failures] skips single documents that a side has trouble with; without it the copy
   *   fails
   */
  constructor ({ source, target, tally, dryRun = false, limits, onRefused, onProgress, failures }) {
    this.onRefused = onRefused
    this.failures = failures
    this.onProgress = onProgress
    this.source = source
    this.target = target
    this.tally = tally
    this.dryRun = dryRun
    this.limits = { ...copierDefaults, ...limits }
    this.#semaphore = new Semaphore(this.limits.concurrency)
  }

  /**
   * Copies those revisions that the target lacks.
   * @param {{id: string, revs: string[]}[]} rows
   * @param {AbortSignal} signal
   */
  async copyMissing (rows, signal) {
    const asked = await this.#missing(rows, signal)
    if (this.dryRun || !asked.length) return this.onProgress?.([])
    await this.copy(asked, signal)
  }

  /** Copies revisions that the target is known to lack. @param {Asked[]} asked @param {AbortSignal} signal */
  async copy (asked, signal) {
    const running = new Set()
    let failure
    for (let at = 0; at < asked.length && !failure;) {
      const release = await this.#semaphore.acquire()
      // the batch is cut only now: by this time the size of a document is better known
      const batch = asked.slice(at, at + this.#batchSize())
      at += batch.length
      const moving = this.#move(batch, signal).catch(error => { failure ??= error }).finally(() => {
        release()
        running.delete(moving)
      })
      running.add(moving)
      if (!this.#size) await moving // the first batch shows how many documents fit
    }
    await Promise.all(running)
    if (failure) throw failure
  }

  #batchSize () {
    const { batch, batchShare, smallBytes, batchMost, batchBytes } = this.limits
    if (!this.#size) return Math.min(this.#first, batch)
    const fit = bytes => Math.round(bytes * this.#pace / this.#size)
    const most = Math.min(fit(batchBytes), Math.floor(this.#bound / this.#size), batchMost)
    const safe = Math.max(batch, Math.floor(batchShare * this.tally.docs))
    return Math.max(1, Math.min(Math.max(safe, fit(smallBytes)), most)) || 1
  }

  /** @returns {Promise<Asked[]>} */
  async #missing (rows, signal) {
    const { tally } = this
    const diff = await this.target.revsDiff(Object.fromEntries(rows.map(({ id, revs }) => [id, revs])), signal)
    tally.checked += rows.reduce((sum, { revs }) => sum + revs.length, 0)
    // in the order of the changes: so they were written
    const asked = rows.flatMap(({ id }) => {
      const { missing = [], possible_ancestors: ancestors } = diff[id] ?? {}
      return missing.map(rev => ({ id, rev, ancestors: ancestors?.filter(isParentOf(rev)) }))
    })
    tally.missing += asked.length
    return asked
  }

  async #move (batch, signal, attempt = 1) {
    if (signal.aborted) throw new TilecouchError('ABORTED')
    try {
      await this.#copyBatch(batch, signal)
    } catch (error) {
      if (!this.failures || signal.aborted) throw error
      if (error.code === 'UNREACHABLE') this.#shrink(batch.length)
      await this.failures.check(error)
      if (batch.length > 1) return this.#halve(batch, half => this.#move(half, signal))
      if (attempt >= this.limits.tries) return this.failures.fail(batch[0], error)
      await pause(this.limits.retryDelay * 2 ** (attempt - 1), signal)
      await this.#move(batch, signal, attempt + 1)
    }
  }

  async #copyBatch (batch, signal) {
    const began = performance.now()
    const read = await this.#read(batch, signal)
    if (!read) return this.#halve(batch, half => this.#move(half, signal))
    const { docs, absent } = read
    const refused = (await this.#write(docs, signal))
      // PouchDB leaves out the revision
      .map(one => ({ ...one, rev: one.rev ?? docs.find(({ _id: id }) => id === one.id)?._rev }))
    this.#measure(docs.length, read.bytes, performance.now() - began)
    for (const one of refused) this.#refuse(one)
    const left = new Set(refused.map(({ id, rev }) => `${id} ${rev}`))
    const written = docs.filter(({ _id: id, _rev: rev }) => !left.has(`${id} ${rev}`))
    this.tally.absent += absent
    this.tally.docs += written.length
    this.tally.deleted += written.filter(({ _deleted: gone }) => gone).length
    this.tally.tiles += written.filter(({ _id: id }) => isTileId(id)).length
    if (written.length) this.failures?.reset()
    this.onProgress?.(written)
  }

  #measure (count, bytes, took) {
    if (!count) return
    this.#silences = 0
    const size = bytes / count
    // a larger size counts at once: a batch of large documents could fill the memory
    this.#size = Math.max(size, this.#size + WEIGHT * (size - this.#size))
    const { batchTime, batchBytes } = this.limits
    this.#bound *= GROWTH
    const fit = Math.max(bytes, MIN_TIMED) * batchTime / took / batchBytes
    // a small and quick batch does not show how much is too much
    if (fit > this.#pace) this.#pace = Math.min(1, fit, this.#pace * 2)
    else if (took > batchTime / ROUND_TRIP) this.#pace = Math.max(MIN_PACE, fit)
  }

  /** The connection broke with so many documents under way: the next batches have to get across sooner. */
  #shrink (count) {
    const half = Math.max(1, count >> 1)
    this.#first = Math.min(this.#first, half)
    if (this.#size) this.#bound = Math.min(this.#bound, half * this.#size)
  }

  /** One half after the other: each may be divided again. */
  async #halve (items, task) {
    const half = items.length >> 1
    return [await task(items.slice(0, half)), await task(items.slice(half))]
  }

  /** @returns undefined when the batch has to be divided */
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
      // a shard may be away for a moment: ask again. What is not found is looked for once more
      const failed = answer.failed ?? []
      const isLeftOut = left.some(({ id }) => !isNamed(failed, id))
      const trouble = failed.find(({ error }) => error !== 'not_found') ?? (isLeftOut ? UNSAID : undefined)
      if (!left.length || (!trouble && attempt > 1)) break
      if (attempt >= tries) {
        if (!this.failures || !docs.size) {
          const reason = trouble?.reason ?? trouble?.error ?? 'missing'
          throw noAnswer(this.source.name, left.map(({ id }) => id), { reason })
        }
        left = left.filter(one => !this.failures?.failOne(one, failed))
        break
      }
      await pause(retryDelay * 2 ** (attempt - 1), signal)
    }
    // in the order of ids, as the target's B-tree has it
    return { docs: [...docs.values()].sort((a, b) => a._id < b._id ? -1 : 1), bytes, absent: left.length }
  }

  /** Drops documents that were not asked for: a source could slip in a design document, and with it code. */
  async #ask (asked, options) {
    const answer = await this.source.fetch(asked, options)
    const askedIds = new Set(asked.map(({ id }) => id))
    return { ...answer, docs: answer.docs.filter(({ _id: id }) => askedIds.has(id)) }
  }

  /**
   * Reads documents. A source may leave out the bytes of an attachment only where the target has the direct parent
   * revision; otherwise the document is read again with all bytes. Reason: CouchDB finds left-out bytes by name and by
   * the revision that they are from, and a document that was deleted and created again names its first one. If the
   * target never saw the tombstone, it would keep the old bytes, as it does with CouchDB's own replicator.
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

  /** Whether the connection is too slow for the batch. One that answers nothing to small requests is dead. */
  #isTooMuch (error, batch) {
    if (!error.details?.silent) return false
    this.#pace = Math.max(MIN_PACE, this.#pace / 2)
    return batch.length > 1 && ++this.#silences <= SILENT_ROUNDS * this.limits.concurrency
  }

  /** @returns {Promise<Refused[]>} */
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
        if (docs.length > 1) {
          const halves = await this.#halve(docs, half => this.#write(half, signal, isWhole))
          return [...refused, ...halves.flat()]
        }
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
        if (this.failures) return [...refused, ...again.values()]
        const why = `${id}: ${reason ?? error}`
        throw new TilecouchError('COUCHDB_ERROR', { url: this.target.name, status: 500, reason: why })
      }
      await pause(retryDelay * 2 ** (attempt - 1), signal)
    }
    return refused
  }

  /** The target does not have an attachment that was left out: sends all bytes. */
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

/** Whether an answer names a document among those that failed. @param {Refused[]} failed @param {string} id */
const isNamed = (failed, id) => failed.some(one => one.id === id)

/**
 * Decides whether a failure is due to a single document or to a side that is away. A document that a server cannot read
 * must not stop the others; a server that is away must not make thousands of documents look bad.
 */
export class FailureStreak {
  #length = 0

  /** @param {{probe: () => Promise<any>, onFailed: (failed: Refused) => void}} parts probe: throws if a side is away */
  constructor ({ probe, onFailed }) {
    this.probe = probe
    this.onFailed = onFailed
  }

  /** Call when a document was written. */
  reset () {
    this.#length = 0
  }

  /** Throws the error when documents are not to blame. */
  async check (error) {
    if (!DOCUMENT_ERRORS.has(error.code) || this.#length >= MOST_FAILURES) throw error
    await this.probe()
  }

  /** @param {Asked} asked @param {any} error */
  fail ({ id, rev }, error) {
    this.#length++
    this.onFailed({ id, rev, error: error.code, reason: error.message })
  }

  /**
   * One of a batch whose other documents came.
   * @param {Asked} asked @param {Refused[]} failed as the answer names them
   * @returns {boolean} whether the source named it as failed, or left it out of its answer
   */
  failOne ({ id, rev }, failed) {
    const isOwn = one => one.id === id && (one.rev === undefined || one.rev === rev) && one.error !== 'not_found'
    const trouble = failed.find(isOwn) ?? (isNamed(failed, id) ? undefined : UNSAID)
    if (trouble) this.onFailed({ id, rev, error: trouble.error, reason: trouble.reason })
    return Boolean(trouble)
  }
}
