// Helpers for work that several requests wait for. When one request ends early, the others continue to wait. When the
// work fails, each request gets its own error object.
import { setTimeout as sleep } from 'node:timers/promises'
import { raceAbort, sharePromise } from '../../core/promises.js'
import { TilecouchError } from '../../loader/errors.js'

/**
 * @template T
 * @param {Promise<T>} work @param {AbortSignal} [signal] of one waiting request; the work continues
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
 * The result if it comes in time, else undefined. The work continues.
 * @template T
 * @param {Promise<T>} work @returns {Promise<T | undefined>}
 */
export async function waitAtMost (work, ms) {
  const stop = new AbortController()
  const timeout = sleep(ms, undefined, { ref: false, signal: stop.signal }).catch(() => undefined)
  return Promise.race([work, timeout]).finally(() => stop.abort()) // a timer would keep the result until its end
}

/** Copies an error, so that each request has its own object. */
export function copyError (error) {
  if (!(error instanceof TilecouchError)) {
    return new TilecouchError('INTERNAL', { why: error?.message }, { cause: error })
  }
  return new TilecouchError(error.code, error.details, { cause: error.cause ?? error })
}

/** Prevents an unhandled rejection when no request waits for the work. @template T @param {Promise<T>} work */
export function ignoreRejection (work) {
  work.catch(() => {})
  return work
}

/**
 * Starts a task, or joins the task with this key that is under way.
 * @template T
 * @param {Map<string, Promise<T>>} underWay @param {string} key @param {() => Promise<T>} start
 */
export const joinTask = (underWay, key, start) =>
  sharePromise(underWay, key, () => start().finally(() => underWay.delete(key)))
