// Writes versions of tiles to the store: puts an async iterable of them into batches, a few in flight. The batches
// bound the memory. A bad tile is reported and does not stop the others.
import { pMapIterable } from 'p-map'
import { now } from '../../core/index.js'
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
  /** @type {WriteSummary} */
  const summary = {
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

  const report = (tile, outcome) => {
    summary.tiles++
    if (outcome instanceof Error) return fail(tile, outcome)
    summary[counters[outcome]]++
    onStored?.(tile, outcome)
    if (tile.type) summary.types[tile.type] = (summary.types[tile.type] ?? 0) + 1
    if (outcome === 'unchanged') return
    summary.bytes += tile.bytes?.length ?? 0
    if (!tile.bytes) summary.gone++
  }
  const fail = (tile, error) => {
    const { layer, z, x, y, id = `${layer}:${z}:${x}:${y}` } = tile
    const failure = { id, code: error.code ?? 'INTERNAL', reason: error.message }
    summary.failed++
    if (summary.failures.length < writeDefaults.maxFailures) summary.failures.push(failure)
    onFailure?.(failure)
  }

  const inFlight = new Set()
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
    report,
    signal: batches.signal,
    run,
    inManifest: Boolean(onStored),
    expectsChanges: Boolean(isKnown),
    statements
  })
  let fatal
  let sourceError
  let bytesInFlight = 0
  const send = (tiles, size) => {
    bytesInFlight += size
    const storing = heads.store(tiles)
      .then(() => tuner.record(tiles.length))
      .catch(error => {
        const isFatal = FATAL.has(error.code)
        fatal ??= isFatal ? error : new TilecouchError('INTERNAL', { why: error.message }, { cause: error })
        batches.end()
      })
      .finally(() => {
        inFlight.delete(storing)
        bytesInFlight -= size
        onProgress?.(summary, tuner)
      })
    inFlight.add(storing)
  }

  let tiles = []
  let bytes = 0
  let since = 0 // when the first tile of the batch was read
  const flush = () => {
    if (tiles.length) send(tiles, bytes)
    tiles = []
    bytes = 0
  }
  const mayStart = () => tuner.mayStart(bytes, inFlight.size, bytesInFlight)
  const whenRoom = async () => {
    while (!mayStart()) await Promise.race(inFlight)
    await ready?.()
    flush()
  }

  const slowDown = () => tuner.trouble()
  couch.retryListeners.add(slowDown)
  const { wait } = writeDefaults
  const timer = setInterval(() => { if (performance.now() - since > wait && mayStart()) flush() }, wait / 2)
  try {
    for await (const { tile, error, known } of prepared(untilAborted(versions, signal), isKnown)) {
      if (fatal) break
      if (error && signal?.aborted) continue
      if (error) { report(tile, error); continue }
      if (!tile) { summary.missing++; continue }
      if (known) {
        report(tile, 'unchanged')
        if (summary.tiles % tunerDefaults.startBatch) continue
        await ready?.()
        onProgress?.(summary, tuner)
        continue
      }
      if (!tiles.length) since = performance.now()
      if (mustSettle) tile.mustSettle = true
      tiles.push(tile)
      bytes += tile.bytes?.length ?? 100
      if (tiles.length === 50) tuner.seed(bytes / 50)
      if (tuner.isFull(tiles.length, bytes)) await whenRoom()
    }
  } catch (error) {
    sourceError = error
  }
  clearInterval(timer)
  if (!fatal) await whenRoom() // also after an error of the source: the tiles read so far are written
  await Promise.all(inFlight)
  couch.retryListeners.delete(slowDown)
  const finalError = fatal ?? sourceError ?? (signal?.aborted && new TilecouchError('ABORTED'))
  if (finalError) throw Object.assign(finalError, { summary })
  return summary
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
