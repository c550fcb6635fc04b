// Work that several requests wait for. When one of them leaves, the others go on waiting, and each gets its own error
// object when the work fails.
import { setTimeout as sleep } from 'node:timers/promises'
import { raceAbort, sharePromise } from '../../core/promises.js'
import { TilecouchError } from '../../loader/errors.js'

/**
 * @template T
 * @param {Promise<T>} work @param {AbortSignal} [signal] of the one who waits; the work goes on
 * @returns {Promise<T>}
 */
export async function waitFor (work, signal) {
  try {
    return await raceAbort(work, signal)
  } catch (error) {
    throw signal?.aborted ? new TilecouchError('ABORTED') : copyError(error)
  }
}

/**
 * The result if it comes in time, else nothing. The work goes on.
 * @template T
 * @param {Promise<T>} work @returns {Promise<T | undefined>}
 */
export async function waitAtMost (work, ms) {
  const stop = new AbortController()
  const late = sleep(ms, undefined, { ref: false, signal: stop.signal }).catch(() => undefined)
  return Promise.race([work, late]).finally(() => stop.abort()) // a timer would keep the result until its end
}

/** The same failure as another object. */
export function copyError (error) {
  if (!(error instanceof TilecouchError)) {
    return new TilecouchError('INTERNAL', { why: error?.message }, { cause: error })
  }
  return new TilecouchError(error.code, error.details, { cause: error.cause ?? error })
}

/** No unhandled rejection if nobody waits for the work. @template T @param {Promise<T>} work */
export function ignoreRejection (work) {
  work.catch(() => {})
  return work
}

/**
 * One task for all who need its result while it lasts.
 * @template T
 * @param {Map<string, Promise<T>>} underWay @param {string} key @param {() => Promise<T>} start
 */
export const joinTask = (underWay, key, start) =>
  sharePromise(underWay, key, () => start().finally(() => underWay.delete(key)))
