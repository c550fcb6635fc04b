// Copies revisions from one peer to another: asks which ones the target lacks, reads these in batches, writes them.
// Every step may be repeated. `FailureStreak` lets a copy skip single bad documents.
import { REFUSALS, UNSAID, hasStubs, isParentOf, missingIn, noAnswer, parentOf } from '../couch/answers.js'
import { TilecouchError } from '../errors.js'
import { isTileId } from '../ids.js'
import { Semaphore, pause } from '../promises.js'

const FIRST_BATCH = 20 // documents, before their size is known
const FINAL = new Set([...REFUSALS, 'bad_request', 'illegal_docid']) // a repetition would return these errors again
const ABSENT = 'absent' // the source no longer has the revision: not a refusal
const SPOILT = new Set([400, 412, 413]) // statuses of a request that fails because of one of its documents
// a single document may cause these
const DOCUMENT_ERRORS = new Set(['UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR'])
const SILENT_ROUNDS = 2 // batches, each half as large, before a silent connection counts as dead and not as slow
const GROWTH = 1.05 // factor of the size limit after each batch, after the connection has broken
const MIN_PACE = 0.001 // part of batchBytes
const MIN_TIMED = 16384 // bytes: smaller batches take the same time
const ROUND_TRIP = 4 // a batch that takes less than 1/4 of batchTime shows latency and not the rate
const WEIGHT = 0.2 // of the newest batch in the expected size of a document, if it is smaller
const MOST_FAILURES = 200 // documents that may fail in a row before the whole copy fails

export const copierDefaults = {
  batch: 50, // documents per request at first; a request that breaks off loses them
  batchShare: 0.05, // part of the written documents that a later request may have: a lost request costs at most this
  smallBytes: 256 * 1024, // a request may have more documents if together they are smaller than this
  batchMost: 500, // documents per request at most
  batchBytes: 4 * 1024 * 1024, // expected bytes of a request
  batchTime: 10000, // milliseconds a batch may take: on a slower connection the next ones are smaller
  mostBytes: 8 * 1024 * 1024, // of an answer with several documents; after a larger one the batch is halved
  mostDocument: 64 * 1024 * 1024, // of an answer with one document; a larger document is left out
  concurrency: 4, // batches at the same time
  tries: 5, // for documents that a side cannot read or write
  retryDelay: 200 // milliseconds before the second try, doubled each time
}

/**
 * @typedef {import('./peer.js').Asked} Asked
 * @typedef {import('./peer.js').Refused} Refused
 *
 * @typedef {object} CopyTally
 * @property {number} changes read from the feed
 * @property {number} selected changed documents that belong to the mirror
 * @property {number} checked revisions that the target was asked about
 * @property {number} missing revisions that the target did not have
 * @property {number} docs documents written
 * @property {number} deleted tombstones among these documents
 * @property {number} bytes received from the source for these documents
 * @property {number} tiles versions of tiles among these documents
 * @property {number} absent revisions that the source no longer has
 * @property {number} refused number of refusals of a revision by the target
 */

/** @returns {CopyTally} */
export const newCopyTally = () =>
  ({ changes: 0, selected: 0, checked: 0, missing: 0, docs: 0, deleted: 0, bytes: 0, tiles: 0, absent: 0, refused: 0 })

export class RevisionCopier {
  #semaphore
  #documentSize = 0 // expected bytes of a document
  #silences = 0 // batches without an answer since the last success
  #pace = 1 // part of batchBytes that is transferred within batchTime
  #firstBatch = FIRST_BATCH
  #byteLimit = Infinity // of a batch: half of the batch that broke the connection, then slowly growing

  /**
   * @param {object} parts
   * @param {Pick<import('./peer.js').Peer, 'name' | 'fetch'>} parts.source
   * @param {import('./peer.js').Peer} parts.target
   * @param {CopyTally} parts.tally
   * @param {boolean} [parts.dryRun] only counts the missing revisions
   * @param {Partial<typeof copierDefaults>} [parts.limits]
   * @param {(refused: Refused) => void} [parts.onRefused]
   * @param {(written: any[]) => void} [parts.onProgress] with the documents that the target has now
   * @param {FailureStreak} [parts.failures] skips single documents that a side cannot read or write; without it
   *   the copy fails
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
   * Copies the revisions that the target lacks.
   * @param {{id: string, revs: string[]}[]} rows
   * @param {AbortSignal} signal
   */
  async copyMissing (rows, signal) {
    const missingRevisions = await this.#findMissing(rows, signal)
    if (this.dryRun || !missingRevisions.length) return this.onProgress?.([])
    await this.copy(missingRevisions, signal)
  }

  /** Copies revisions that the target is known to lack. @param {Asked[]} revisions @param {AbortSignal} signal */
  async copy (revisions, signal) {
    const running = new Set()
    let failure
    for (let next = 0; next < revisions.length && !failure;) {
      const release = await this.#semaphore.acquire()
      // cut the batch here because now the size of a document is better known
      const batch = revisions.slice(next, next + this.#batchSize())
      next += batch.length
      const moved = this.#moveBatch(batch, signal).catch(error => { failure ??= error }).finally(() => {
        release()
        running.delete(moved)
      })
      running.add(moved)
      if (!this.#documentSize) await moved // the first batch shows how many documents fit
    }
    await Promise.all(running)
    if (failure) throw failure
  }

  #batchSize () {
    const { batch, batchShare, smallBytes, batchMost, batchBytes } = this.limits
    if (!this.#documentSize) return Math.min(this.#firstBatch, batch)
    const countOf = bytes => Math.round(bytes * this.#pace / this.#documentSize)
    const most = Math.min(countOf(batchBytes), Math.floor(this.#byteLimit / this.#documentSize), batchMost)
    const safe = Math.max(batch, Math.floor(batchShare * this.tally.docs))
    return Math.max(1, Math.min(Math.max(safe, countOf(smallBytes)), most)) || 1
  }

  /** @returns {Promise<Asked[]>} */
  async #findMissing (rows, signal) {
    const { tally } = this
    const diff = await this.target.revsDiff(Object.fromEntries(rows.map(({ id, revs }) => [id, revs])), signal)
    tally.checked += rows.reduce((sum, { revs }) => sum + revs.length, 0)
    // in the order of the changes, in which they were written
    const missingRevisions = rows.flatMap(({ id }) => {
      const { missing = [], possible_ancestors: ancestors } = diff[id] ?? {}
      return missing.map(rev => ({ id, rev, ancestors: ancestors?.filter(isParentOf(rev)) }))
    })
    tally.missing += missingRevisions.length
    return missingRevisions
  }

  async #moveBatch (batch, signal, attempt = 1) {
    if (signal.aborted) throw new TilecouchError('ABORTED')
    try {
      await this.#copyBatch(batch, signal)
    } catch (error) {
      if (!this.failures || signal.aborted) throw error
      if (error.code === 'UNREACHABLE') this.#shrink(batch.length)
      await this.failures.check(error)
      if (batch.length > 1) return this.#halve(batch, half => this.#moveBatch(half, signal))
      if (attempt >= this.limits.tries) return this.failures.fail(batch[0], error)
      await pause(this.limits.retryDelay * 2 ** (attempt - 1), signal)
      await this.#moveBatch(batch, signal, attempt + 1)
    }
  }

  async #copyBatch (batch, signal) {
    const began = performance.now()
    const answer = await this.#readDocs(batch, signal)
    if (!answer) return this.#halve(batch, half => this.#moveBatch(half, signal))
    const { docs } = answer
    const unwritten = [...answer.unwritten, ...await this.#writeDocs(docs, signal)]
      // PouchDB leaves out the revision
      .map(row => ({ ...row, rev: row.rev ?? docs.find(({ _id: id }) => id === row.id)?._rev }))
    this.#measure(docs.length, answer.bytes, performance.now() - began)
    const refused = unwritten.filter(({ error }) => error !== ABSENT)
    for (const row of refused) this.#refuse(row)
    const unwrittenKeys = new Set(unwritten.map(({ id, rev }) => `${id} ${rev}`))
    const written = docs.filter(({ _id: id, _rev: rev }) => !unwrittenKeys.has(`${id} ${rev}`))
    this.tally.absent += unwritten.length - refused.length
    this.tally.docs += written.length
    this.tally.deleted += written.filter(({ _deleted: gone }) => gone).length
    this.tally.tiles += written.filter(({ _id: id }) => isTileId(id)).length
    if (written.length) this.failures?.reset()
    this.onProgress?.(written)
  }

  #measure (count, bytes, milliseconds) {
    if (!count) return
    this.#silences = 0
    const size = bytes / count
    // a larger size counts at once: a batch of large documents could fill the memory
    this.#documentSize = Math.max(size, this.#documentSize + WEIGHT * (size - this.#documentSize))
    const { batchTime, batchBytes } = this.limits
    this.#byteLimit *= GROWTH
    const newPace = Math.max(bytes, MIN_TIMED) * batchTime / milliseconds / batchBytes
    // a small and quick batch does not show the limit
    if (newPace > this.#pace) this.#pace = Math.min(1, newPace, this.#pace * 2)
    else if (milliseconds > batchTime / ROUND_TRIP) this.#pace = Math.max(MIN_PACE, newPace)
  }

  /** Makes the next batches smaller, after the connection broke during a batch of `count` documents. */
  #shrink (count) {
    const half = Math.max(1, count >> 1)
    this.#firstBatch = Math.min(this.#firstBatch, half)
    if (this.#documentSize) this.#byteLimit = Math.min(this.#byteLimit, half * this.#documentSize)
  }

  /** Runs a task for one half after the other. Each half may be divided again. */
  async #halve (items, task) {
    const half = items.length >> 1
    return [await task(items.slice(0, half)), await task(items.slice(half))]
  }

  /** @returns {Promise<{docs: any[], bytes: number, unwritten: Refused[]} | undefined>} undefined: divide the batch */
  async #readDocs (batch, signal) {
    const { tries, retryDelay, mostBytes, mostDocument } = this.limits
    const docs = new Map()
    let bytes = 0
    let pending = batch
    for (let attempt = 1; pending.length; attempt++) {
      let answer
      try {
        answer = await this.#fetch(pending, { signal, most: pending.length > 1 ? mostBytes : mostDocument })
      } catch (error) {
        return this.#afterFailedRead(batch, error)
      }
      bytes += answer.bytes
      this.tally.bytes += answer.bytes
      for (const doc of answer.docs) docs.set(`${doc._id} ${doc._rev}`, doc)
      pending = missingIn(pending, answer.docs)
      // A shard may be down for a moment: ask again. Ask a second time for revisions that are not found.
      const failed = answer.failed ?? []
      const fault = faultOf(pending, failed)
      if (!pending.length || (!fault && attempt > 1)) break
      if (attempt >= tries) {
        const { reason, error = 'missing' } = fault ?? {}
        const ids = pending.map(({ id }) => id)
        if (!this.failures || !docs.size) throw noAnswer(this.source.name, ids, { reason: reason ?? error })
        pending = pending.filter(row => !this.failures?.failOne(row, failed))
        break
      }
      await pause(retryDelay * 2 ** (attempt - 1), signal)
    }
    // in the order of ids, which is that of the target's B-tree
    const unwritten = pending.map(({ id, rev }) => ({ id, rev, error: ABSENT, reason: 'missing' }))
    return { docs: [...docs.values()].sort((a, b) => a._id < b._id ? -1 : 1), bytes, unwritten }
  }

  /** The result of #readDocs after a failed request. A single document that is too large is left out. */
  #afterFailedRead (batch, error) {
    if (this.#slowDown(error, batch)) return undefined
    if (error.code !== 'ANSWER_TOO_LARGE') throw error
    if (batch.length > 1) return undefined
    const [{ id, rev }] = batch
    return { docs: [], bytes: 0, unwritten: [{ id, rev, error: 'too_large', reason: error.message }] }
  }

  /** Reads revisions. Drops other documents: a source could add a design document, which contains code. */
  async #fetchRequested (revisions, options) {
    const answer = await this.source.fetch(revisions, options)
    const ids = new Set(revisions.map(({ id }) => id))
    return { ...answer, docs: answer.docs.filter(({ _id: id }) => ids.has(id)) }
  }

  /**
   * Reads documents. A source may omit the bytes of an attachment only if the target has the direct parent revision.
   * Otherwise the document is read again with all bytes. Reason: CouchDB finds omitted bytes by name and by the
   * revision that added them, and a document that was deleted and created again names its first revision. If the
   * target never saw the tombstone, it would keep the old bytes, as it does with CouchDB's own replicator.
   */
  async #fetch (revisions, options) {
    const answer = await this.#fetchRequested(revisions, options)
    const ancestors = new Map(revisions.map(({ id, ancestors: revs = [] }) => [id, revs]))
    const uncertain = answer.docs.filter(doc => hasStubs(doc) && !ancestors.get(doc._id)?.includes(parentOf(doc)))
    if (!uncertain.length) return answer
    const complete = await this.#fetchRequested(uncertain.map(({ _id: id, _rev: rev }) => ({ id, rev })), options)
    const docs = [...answer.docs.filter(doc => !uncertain.includes(doc)), ...complete.docs]
    return { docs, bytes: answer.bytes + complete.bytes, failed: [...answer.failed ?? [], ...complete.failed ?? []] }
  }

  /**
   * After a timeout, later requests carry half as much. Returns whether a smaller batch may succeed: a connection
   * without answers to small requests is dead.
   */
  #slowDown (error, batch) {
    if (!error.details?.silent) return false
    this.#pace = Math.max(MIN_PACE, this.#pace / 2)
    return batch.length > 1 && ++this.#silences <= SILENT_ROUNDS * this.limits.concurrency
  }

  /** @returns {Promise<Refused[]>} the documents that were not written */
  async #writeDocs (docs, signal, isWhole = false) {
    const { tries, retryDelay } = this.limits
    const refused = []
    for (let attempt = 1; docs.length; attempt++) {
      let failed
      try {
        failed = await this.target.write(docs, signal)
      } catch (error) {
        return [...refused, ...await this.#afterFailedWrite(error, docs, signal, isWhole)]
      }
      const toRetry = new Map()
      for (const row of failed) FINAL.has(row.error) ? refused.push(row) : toRetry.set(`${row.id} ${row.rev}`, row)
      docs = docs.filter(({ _id: id, _rev: rev }) => toRetry.has(`${id} ${rev}`) || toRetry.has(`${id} undefined`))
      if (!docs.length) break
      const [{ id, reason, error }] = toRetry.values()
      if (attempt >= tries) {
        if (this.failures) return [...refused, ...toRetry.values()]
        const why = `${id}: ${reason ?? error}`
        throw new TilecouchError('COUCHDB_ERROR', { url: this.target.name, status: 500, reason: why })
      }
      await pause(retryDelay * 2 ** (attempt - 1), signal)
    }
    return refused
  }

  /** The result of #writeDocs after a failed request: writes halves, or finds the document that is refused. */
  async #afterFailedWrite (error, docs, signal, isWhole) {
    const { status, reason = error.message } = error.details ?? {}
    if (!SPOILT.has(status) && !this.#slowDown(error, docs)) throw error
    if (docs.length > 1) return (await this.#halve(docs, half => this.#writeDocs(half, signal, isWhole))).flat()
    const [{ _id: id, _rev: rev }] = docs
    if (status === 412 && !isWhole) return this.#writeWhole(id, rev, signal)
    return [{ id, rev, error: `${status}`, reason }]
  }

  /** Sends all bytes of a document, because the target does not have an attachment that was omitted. */
  async #writeWhole (id, rev, signal) {
    const { docs = [], unwritten = [] } = await this.#readDocs([{ id, rev }], signal) ?? {}
    return [...unwritten, ...await this.#writeDocs(docs, signal, true)]
  }

  #refuse (refused) {
    this.tally.refused++
    this.onRefused?.(refused)
  }
}

/** Whether an answer lists a document as failed. @param {Refused[]} failed @param {string} id */
const isNamed = (failed, id) => failed.some(row => row.id === id)

/** Why documents must be asked for again, except "not found". @param {Asked[]} pending @param {Refused[]} failed */
function faultOf (pending, failed) {
  const isAnyUnnamed = pending.some(({ id }) => !isNamed(failed, id))
  return failed.find(({ error }) => error !== 'not_found') ?? (isAnyUnnamed ? UNSAID : undefined)
}

/**
 * Decides whether a failure is caused by a single document or by a server that is down. A document that a server cannot
 * read must not stop the others. A server that is down must not make thousands of documents count as failed.
 */
export class FailureStreak {
  #length = 0

  /** @param {{probe: () => Promise<any>, onFailed: (failed: Refused) => void}} parts probe: throws if a side is down */
  constructor ({ probe, onFailed }) {
    this.probe = probe
    this.onFailed = onFailed
  }

  /** Call when a document was written. */
  reset () {
    this.#length = 0
  }

  /** Throws the error if it is not caused by documents. */
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
   * Reports a missing revision of a batch whose other documents were read.
   * @param {Asked} asked @param {Refused[]} failed the failures in the answer
   * @returns {boolean} whether the answer lists the revision as failed, or does not contain it
   */
  failOne ({ id, rev }, failed) {
    const isMatch = row => row.id === id && (row.rev === undefined || row.rev === rev) && row.error !== 'not_found'
    const fault = failed.find(isMatch) ?? (isNamed(failed, id) ? undefined : UNSAID)
    if (fault) this.onFailed({ id, rev, error: fault.error, reason: fault.reason })
    return Boolean(fault)
  }
}
