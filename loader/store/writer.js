// Writes versions of tiles to the store: puts an async iterable of them into batches, a few in flight. The batches
// bound the memory. A bad tile is reported and does not stop the others.
import { pMapIterable } from 'p-map'
import { now, tileId } from '../../core/index.js'
import { childSignal } from '../child-signal.js'
import { TilecouchError } from '../errors.js'
import { unreadable } from '../formats/reading.js'
import { newRun } from '../../core/runs.js'
import { HeadWriter } from '../../core/store/head-writer.js'
import { tileAccess } from './settle.js'
import { prepareTile } from './tile.js'
import { Tuner, tunerDefaults } from './tuner.js'

export const writeDefaults = {
  readAhead: 32, // tiles read and checked at once
  wait: 2000, // milliseconds that a tile of a slow source waits for others; a load that is killed loses these
  maxFailures: 1000 // failures kept for the summary; all are counted, and given to onFailure
}

/** Failures that concern the whole store: going on would fail for every tile. */
const FATAL = new Set([
  'UNREACHABLE', 'UNAUTHORIZED', 'FORBIDDEN', 'DISK_FULL', 'DATABASE_NOT_FOUND', 'ABORTED', 'BAD_ANSWER', 'NO_ANSWER',
  'COUCHDB_ERROR', 'TILES_COMPRESSED'
])

const SAMPLE = 50 // tiles whose average size sets the first batch size
const GONE_BYTES = 100 // of a tile without an image

/** Where the summary counts the outcome of a tile. */
export const counters = { create: 'created', advance: 'advanced', backfill: 'backfilled', unchanged: 'unchanged' }

/** @typedef {import('./tile.js').Tile} Tile */
/** @typedef {import('./tile.js').NewVersion} NewVersion */

/**
 * The result of a write. `tiles` = created + advanced + backfilled + unchanged + failed.
 * @typedef {object} WriteSummary
 * @property {number} tiles looked at
 * @property {number} created heads of tiles that did not exist
 * @property {number} advanced heads that were overwritten after their content went to the past
 * @property {number} backfilled versions that went straight to the past
 * @property {number} unchanged
 * @property {number} failed
 * @property {number} missing tiles that did not exist when they were read; not among `tiles`
 * @property {number} gone written versions without a tile
 * @property {number} bytes of the tiles written
 * @property {number} documents written for the tiles
 * @property {Record<string, number>} types tiles by content type, the unchanged included
 * @property {{id: string, code: string, reason: string}[]} failures the first ones
 */

/**
 * @param {import('./couch.js').Couch} couch
 * @param {AsyncIterable<NewVersion> | Iterable<NewVersion>} versions fastest in ascending order of ids
 * @param {object} [options]
 * @param {number} [options.batch] documents in a batch; tunes itself unless given
 * @param {number} [options.concurrency] batches in flight; tunes itself unless given
 * @param {string} [options.stored] when the store got the versions; now unless given
 * @param {AbortSignal} [options.signal] stops after the batches in flight
 * @param {(summary: WriteSummary, tuner: Tuner) => void} [options.onProgress] after every batch
 * @param {(failure: {id: string, code: string, reason: string}) => void} [options.onFailure]
 * @param {boolean} [options.isFirst] the layer has no tiles yet
 * @param {string} [options.run] of these versions
 * @param {boolean} [options.mustSettle] settle every tile, whatever its head is
 * @param {import('../../core/store/statements.js').StatementsByLayer} [options.statements] of editions
 * @param {(tile: Tile, outcome: string) => void} [options.onStored] for tiles that a manifest will name
 * @param {(id: string, rev: string) => void} [options.onWritten] for each document
 * @param {(tile: Tile) => Promise<boolean>} [options.isKnown] whether a tile is known to be unchanged, without a
 *   request for it
 * @param {() => Promise<void>} [options.ready] awaited between two batches
 * @returns {Promise<WriteSummary>}
 */
export async function writeVersions (couch, versions, {
  batch, concurrency, stored = now(), signal, onProgress, onFailure, isFirst, run = newRun(), mustSettle = false,
  statements, onStored, onWritten, isKnown, ready
} = {}) {
  const tuner = new Tuner({ batch, concurrency, isFirst })
  const outcomes = new Outcomes({ onStored, onFailure })
  const { summary } = outcomes
  const batches = childSignal() // stops the other batches when one has failed for good

  const sendDocs = async (docs, until) => {
    const answers = await couch.write(docs, until)
    for (const { id, rev, error } of answers) {
      if (!rev || error) continue
      summary.documents++
      onWritten?.(id, rev)
    }
    return answers
  }
  const heads = new HeadWriter(couch, {
    ...tileAccess(couch, sendDocs),
    stored,
    report: (tile, outcome) => outcomes.add(tile, outcome),
    signal: batches.signal,
    run,
    inManifest: Boolean(onStored),
    expectsChanges: Boolean(isKnown),
    statements
  })
  const notify = () => onProgress?.(summary, tuner)
  const queue = new BatchQueue(tuner, { store: tiles => heads.store(tiles), stop: batches.end, notify, ready })

  const slowDown = () => tuner.trouble()
  couch.retryListeners.add(slowDown)
  let sourceError
  try {
    for await (const { tile, error, known } of prepared(untilAborted(versions, signal), isKnown)) {
      if (queue.fatal) break
      if (error && signal?.aborted) continue
      if (error) {
        outcomes.add(tile, error)
      } else if (!tile) {
        summary.missing++
      } else if (known) {
        outcomes.add(tile, 'unchanged')
        if (summary.tiles % tunerDefaults.startBatch) continue
        await ready?.()
        notify()
      } else {
        if (mustSettle) tile.mustSettle = true
        await queue.add(tile)
      }
    }
  } catch (error) {
    sourceError = error
  }
  await queue.end() // also after an error of the source: the tiles read so far are written
  couch.retryListeners.delete(slowDown)
  const finalError = queue.fatal ?? sourceError ?? (signal?.aborted && new TilecouchError('ABORTED'))
  if (finalError) throw Object.assign(finalError, { summary })
  return summary
}

/** Counts the outcomes of tiles. */
class Outcomes {
  /** @type {WriteSummary} */
  summary = {
    tiles: 0,
    created: 0,
    advanced: 0,
    backfilled: 0,
    unchanged: 0,
    failed: 0,
    missing: 0,
    gone: 0,
    bytes: 0,
    documents: 0,
    types: {},
    failures: []
  }

  /** @param {{onStored?: (tile: Tile, outcome: string) => void, onFailure?: (failure: any) => void}} listeners */
  constructor ({ onStored, onFailure }) {
    this.onStored = onStored
    this.onFailure = onFailure
  }

  /** @param {any} tile @param {string | Error} outcome a key of `counters`, or the error of a failed tile */
  add (tile, outcome) {
    const { summary } = this
    summary.tiles++
    if (outcome instanceof Error) return this.#fail(tile, outcome)
    summary[counters[outcome]]++
    this.onStored?.(tile, outcome)
    if (tile.type) summary.types[tile.type] = (summary.types[tile.type] ?? 0) + 1
    if (outcome === 'unchanged') return
    summary.bytes += tile.bytes?.length ?? 0
    if (!tile.bytes) summary.gone++
  }

  #fail ({ layer, z, x, y, id = tileId(layer, z, x, y) }, error) {
    recordFailure(this.summary, { id, code: error.code ?? 'INTERNAL', reason: error.message }, this.onFailure)
  }
}

/**
 * Counts a failed tile, lists it if there is room, and reports it.
 * @param {Pick<WriteSummary, 'failed' | 'failures'>} summary @param {WriteSummary['failures'][0]} failure
 * @param {(failure: WriteSummary['failures'][0]) => void} [onFailure]
 */
export function recordFailure (summary, failure, onFailure) {
  summary.failed++
  if (summary.failures.length < writeDefaults.maxFailures) summary.failures.push(failure)
  onFailure?.(failure)
}

/** Collects tiles into batches, and stores a few batches at once. */
class BatchQueue {
  /** The error after which the write cannot go on. @type {TilecouchError | undefined} */
  fatal
  #tuner
  #parts
  /** @type {Set<Promise<void>>} */
  #inFlight = new Set()
  #bytesInFlight = 0
  /** The next batch. @type {Tile[]} */
  #tiles = []
  #bytes = 0
  #since = 0 // when the first tile of the next batch was read
  #timer

  /**
   * @param {Tuner} tuner
   * @param {object} parts
   * @param {(tiles: Tile[]) => Promise<void>} parts.store
   * @param {() => void} parts.stop stops the batches in flight
   * @param {() => void} parts.notify called after every batch
   * @param {() => Promise<void>} [parts.ready] awaited between two batches
   */
  constructor (tuner, parts) {
    this.#tuner = tuner
    this.#parts = parts
    const { wait } = writeDefaults
    this.#timer = setInterval(() => {
      if (performance.now() - this.#since > wait && this.#mayStart()) this.#flush()
    }, wait / 2)
  }

  /** Adds a tile. Waits while the batch is full and no other may start. @param {Tile} tile */
  async add (tile) {
    if (!this.#tiles.length) this.#since = performance.now()
    this.#tiles.push(tile)
    this.#bytes += tile.bytes?.length ?? GONE_BYTES
    if (this.#tiles.length === SAMPLE) this.#tuner.seed(this.#bytes / SAMPLE)
    if (this.#tuner.isFull(this.#tiles.length, this.#bytes)) await this.#flushWhenRoom()
  }

  /** Sends the last batch, unless the write has failed, and waits for all batches. */
  async end () {
    clearInterval(this.#timer)
    if (!this.fatal) await this.#flushWhenRoom()
    await Promise.all(this.#inFlight)
  }

  #mayStart () {
    return this.#tuner.mayStart(this.#bytes, this.#inFlight.size, this.#bytesInFlight)
  }

  async #flushWhenRoom () {
    while (!this.#mayStart()) await Promise.race(this.#inFlight)
    await this.#parts.ready?.()
    this.#flush()
  }

  #flush () {
    if (this.#tiles.length) this.#send(this.#tiles, this.#bytes)
    this.#tiles = []
    this.#bytes = 0
  }

  #send (tiles, bytes) {
    this.#bytesInFlight += bytes
    const storing = this.#parts.store(tiles)
      .then(() => this.#tuner.record(tiles.length))
      .catch(error => this.#fail(error))
      .finally(() => {
        this.#inFlight.delete(storing)
        this.#bytesInFlight -= bytes
        this.#parts.notify()
      })
    this.#inFlight.add(storing)
  }

  #fail (error) {
    const isFatal = FATAL.has(error.code)
    this.fatal ??= isFatal ? error : new TilecouchError('INTERNAL', { why: error.message }, { cause: error })
    this.#parts.stop()
  }
}

/** Ends after the version that is being read when the signal is aborted. That version is still written. */
async function * untilAborted (versions, signal) {
  if (signal?.aborted) return
  for await (const version of versions) {
    yield version
    if (signal?.aborted) return
  }
}

/** Reads and checks tiles in order, a few ahead. Gives each with its error, if any, and whether it is known. */
function prepared (versions, isKnown) {
  const prepare = async version => {
    try {
      return { tile: await prepareTile(version) }
    } catch (error) {
      const { z, x, y } = version
      return { tile: version, error: unreadable(`${z}/${x}/${y}`, error) }
    }
  }
  return pMapIterable(versions, async version => {
    const { tile, error } = await prepare(version)
    return { tile, error, known: tile && !error && await isKnown?.(tile) }
  }, { concurrency: writeDefaults.readAhead })
}
