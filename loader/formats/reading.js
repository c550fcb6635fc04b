// What reading every format needs: errors that name the file, faults as errors, and breaks for others.
//
// Readers report faults to a callback `onFault(code, where, why)`, with the codes of loader/check/files/faults.js, and
// go on. Verifying lists all of them; loading stops at the first that could cost a tile: see `throwFaults`.
import { setImmediate } from 'node:timers/promises'
import { TilecouchError } from '../errors.js'

/** @typedef {(code: string, where: string, why?: string, cause?: Error) => void} OnFault */

const BREAK = 10000 // tiles or files listed before others may go on
const LONGEST = 300 // letters of an error
const HARMLESS = new Set(['bad-metadata', 'not-a-tile-name', 'odd-structure', 'outside-pyramid', 'unused-bytes'])

/**
 * The text may quote names in the archive, which are as long as they like and could write anywhere on a terminal.
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
 * @param {() => Promise<Record<string, any> | undefined>} readValues nothing where the writer left the metadata out
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

/** An error of what cannot be read, as one of the catalogue. */
export const unreadable = (file, error) => error instanceof TilecouchError
  ? error
  : new TilecouchError('SOURCE_UNREADABLE', { value: file, why: error.message }, { cause: error })

/** The same of a file that may be missing. */
export const sourceError = (file, error) => error.code === 'ENOENT'
  ? new TilecouchError('SOURCE_NOT_FOUND', { value: file }, { cause: error })
  : unreadable(file, error)

/**
 * Counts what is listed, and asks for a break now and then: awaiting each time would take longer than listing.
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

// Limits of what is read from any source. What is beyond them is refused before the bytes are in memory.

export const sourceLimits = {
  tile: 64e6, // bytes of a tile, packed or unpacked
  metadata: 16e6, // bytes of the metadata of a source
  answer: 128e6, // bytes of one answer of a database
  names: 2 ** 22, // files of a folder, rows of a column, columns of a zoom
  sqlite: 256e6, // bytes that SQLite takes to read a file
  silence: 3600e3 // milliseconds that SQLite may look for the next rows
}
