// The way into the store: an async iterable of versions becomes batches, a few in flight. Memory is bounded by the
// batches, whatever the number of tiles; one bad tile never costs the others.
import { setMaxListeners } from 'node:events'
import { pMapIterable } from 'p-map'
import { now } from '../../core/index.js'
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
 * What a write did. `tiles` = created + advanced + backfilled + unchanged + failed.
 * @typedef {object} WriteSummary
 * @property {number} tiles looked at
 * @property {number} created heads of tiles that were not there
 * @property {number} advanced heads that were overwritten after their content went to the past
 * @property {number} backfilled versions that went straight to the past
 * @property {number} unchanged
 * @property {number} failed
 * @property {number} missing tiles that turned out not to be there when they were read; not among `tiles`
 * @property {number} gone versions among the written without a tile
 * @property {number} bytes of the tiles written
 * @property {number} documents written for that
 * @property {Record<string, number>} types tiles by content type, the unchanged included
 * @property {{id: string, code: string, reason: string}[]} failures the first of them
 */

/**
 * @param {import('./couch.js').Couch} couch
 * @param {AsyncIterable<NewVersion> | Iterable<NewVersion>} versions fastest in ascending order of ids
 * @param {object} [options]
 * @param {number} [options.batch] documents in a batch; tunes itself unless given
 * @param {number} [options.concurrency] batches in flight; tunes itself unless given
 * @param {string} [options.stored] when the store learnt it; now unless given
 * @param {AbortSignal} [options.signal] stops after the batches in flight
 * @param {(summary: WriteSummary, tuner: Tuner) => void} [options.onProgress] after every batch
 * @param {(failure: {id: string, code: string, reason: string}) => void} [options.onFailure]
 * @param {boolean} [options.isFirst] the layer has no tiles yet
 * @param {string} [options.run] of these versions
 * @param {boolean} [options.mustSettle] every tile is settled, whatever its head is
 * @param {import('../../core/store/statements.js').StatementsByLayer} [options.statements] of editions
 * @param {(tile: Tile, outcome: string) => void} [options.onStored] for tiles that a manifest will name
 * @param {(id: string, rev: string) => void} [options.onWritten] for each document
 * @param {(tile: Tile) => Promise<boolean>} [options.isKnown] whether a tile is known to be unchanged, without asking
 *   the store for it
 * @param {() => Promise<void>} [options.ready] waited for between two batches
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
  const stop = new AbortController() // stops the other batches when one has failed for good
  setMaxListeners(0, stop.signal)
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
    signal: stop.signal,
    run,
    inManifest: Boolean(onStored),
    expectsChanges: Boolean(isKnown),
    statements
  })
  let fatal
  let broken // the source
  let bytesInFlight = 0
  const send = (tiles, size) => {
    bytesInFlight += size
    const done = heads.store(tiles)
      .then(() => tuner.record(tiles.length))
      .catch(error => {
        const isNamed = FATAL.has(error.code)
        fatal ??= isNamed ? error : new TilecouchError('INTERNAL', { why: error.message }, { cause: error })
        stop.abort()
      })
      .finally(() => {
        inFlight.delete(done)
        bytesInFlight -= size
        onProgress?.(summary, tuner)
      })
    inFlight.add(done)
  }

  let tiles = []
  let bytes = 0
  let since = 0 // when the first of them was read
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
    broken = error
  }
  clearInterval(timer)
  if (!fatal) await whenRoom() // what was read is kept, however the reading ended
  await Promise.all(inFlight)
  couch.retryListeners.delete(slowDown)
  const ended = fatal ?? broken ?? (signal?.aborted && new TilecouchError('ABORTED'))
  if (ended) throw Object.assign(ended, { summary })
  return summary
}

/** What is read when it ends is written, and no more is read. */
async function * untilAborted (versions, signal) {
  if (signal?.aborted) return
  for await (const version of versions) {
    yield version
    if (signal?.aborted) return
  }
}

/** Tiles read and checked, a few ahead, in order; with what was wrong where it was, and whether they are known. */
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
