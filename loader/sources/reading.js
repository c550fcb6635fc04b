// Reading an archive: whatever goes wrong is an error that names it, and others get their turn meanwhile.
import { setImmediate } from 'node:timers/promises'
import { TilecouchError } from '../../core/index.js'

const BREATH = 10000 // tiles or files listed before others may go on

const LONGEST = 300 // letters of what is wrong

/**
 * What is wrong may quote names of the archive, which are as long as they like and could write anywhere on a terminal.
 * @param {string} file @param {string} why @param {Error} [cause]
 */
export const invalid = (file, why, cause) =>
  new TilecouchError('ARCHIVE_INVALID', { file, why: why.slice(0, LONGEST).replace(/\p{Cc}/gu, '\ufffd') }, { cause })

/**
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function reading (file, work) {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    // of the file system, not of the archive
    if (typeof error.syscall === 'string') throw new TilecouchError('SOURCE_UNREADABLE', { value: file, why: error.message }, { cause: error })
    throw invalid(file, error.message, error)
  }
}

/**
 * Counts what is listed, and asks for a pause now and then: to await nothing each time would take longer than the listing.
 * @param {AbortSignal} [signal]
 * @returns {() => Promise<void> | undefined}
 */
export function breather (signal) {
  let count = 0
  return () => {
    if (++count % BREATH === 0) return breathe(signal)
  }
}

async function breathe (signal) {
  await setImmediate()
  if (signal?.aborted) throw new TilecouchError('ABORTED')
}
