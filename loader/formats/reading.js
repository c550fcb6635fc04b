// Helpers for the readers of all formats: errors that name the file, faults as errors, breaks for other work, limits.
//
// Readers report faults to a callback `onFault(code, where, why)`, with the codes of loader/check/files/faults.js, and
// go on. Verifying lists all of them; loading stops at the first that could cost a tile: see `throwFaults`.
import { setImmediate } from 'node:timers/promises'
import { TilecouchError } from '../errors.js'

/** @typedef {(code: string, where: string, why?: string, cause?: Error) => void} OnFault */

const BREAK = 10000 // tiles or files listed before other work gets a turn
const LONGEST = 300 // letters of an error
const HARMLESS = new Set(['bad-metadata', 'not-a-tile-name', 'odd-structure', 'outside-pyramid', 'unused-bytes'])

/**
 * The text may quote names in the archive, which may have any length and could control a terminal.
 * @param {Error} [cause]
 */
export const invalid = (file, why, cause) =>
  new TilecouchError('ARCHIVE_INVALID', { file, why: why.slice(0, LONGEST).replace(/\p{Cc}/gu, '\ufffd') }, { cause })

/** An `onFault` for loading. @returns {OnFault} */
export const throwFaults = file => (code, where, why = code, cause = undefined) => {
  if (HARMLESS.has(code)) return
  throw isOfSystem(cause) ? cause : invalid(file, where === file ? why : `${where}: ${why}`, cause)
}

const isOfSystem = error => typeof error?.syscall === 'string'

/**
 * @template T
 * @param {string} file @param {() => Promise<T>} work
 * @returns {Promise<T>} rejects with errors that name the file
 */
export async function reading (file, work) {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    throw isOfSystem(error) ? unreadable(file, error) : invalid(file, error.message, error)
  }
}

/**
 * Reads the metadata of a file. Where faults are reported, metadata that cannot be read is one of them, and the tiles
 * are read without it.
 * @param {OnFault | undefined} onFault
 * @param {() => Promise<Record<string, any> | undefined>} readValues undefined if there is no metadata
 */
export async function readingMetadata (onFault, readValues) {
  try {
    return await readValues() ?? {}
  } catch (error) {
    if (!onFault || error instanceof TilecouchError) throw error
    onFault('bad-metadata', 'metadata', error.message)
    return {}
  }
}

/** Turns a failure to read into an error of the catalogue. */
export const unreadable = (file, error) => error instanceof TilecouchError
  ? error
  : new TilecouchError('SOURCE_UNREADABLE', { value: file, why: error.message }, { cause: error })

/** The same for a file that may be missing. */
export const sourceError = (file, error) => error.code === 'ENOENT'
  ? new TilecouchError('SOURCE_NOT_FOUND', { value: file }, { cause: error })
  : unreadable(file, error)

/**
 * Counts listed tiles or files, and returns a break to await now and then: awaiting each time would take longer.
 * @param {AbortSignal} [signal]
 * @returns {() => Promise<void> | undefined}
 */
export function breather (signal) {
  let count = 0
  return () => {
    if (++count % BREAK === 0) return takeBreak(signal)
  }
}

async function takeBreak (signal) {
  await setImmediate()
  if (signal?.aborted) throw new TilecouchError('ABORTED')
}

// Limits of every source. Anything larger is refused before its bytes are in memory.

export const sourceLimits = {
  tile: 64e6, // bytes of a tile, packed or unpacked
  metadata: 16e6, // bytes of the metadata of a source
  answer: 128e6, // bytes of one answer of a database
  names: 2 ** 22, // files of a folder, rows of a column, columns of a zoom
  sqlite: 256e6, // bytes that SQLite takes to read a file
  silence: 3600e3 // milliseconds that SQLite may look for the next rows
}
