// Something under way that several wait for. Whoever leaves does not end it for the others, and whoever is disappointed
// gets an error of his own: errors are never shared.
import { TilecouchError } from '../../core/index.js'

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} [signal] of the one who waits, not of the work
 * @returns {Promise<T>}
 */
export function join (promise, signal) {
  if (!signal) return promise.catch(error => { throw ownError(error) })
  return new Promise((resolve, reject) => {
    const leave = () => reject(new TilecouchError('ABORTED'))
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    promise.then(resolve, error => reject(ownError(error))).finally(() => signal.removeEventListener('abort', leave))
  })
}

/**
 * What comes within a time; nothing when it does not. The work goes on.
 * @template T
 * @param {Promise<T>} promise @param {number} ms
 * @returns {Promise<T | undefined>}
 */
export function within (promise, ms) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The same failure as another object. */
export function ownError (error) {
  if (!(error instanceof TilecouchError)) return new TilecouchError('INTERNAL', { why: error?.message }, { cause: error })
  return new TilecouchError(error.code, error.details, { cause: error.cause ?? error })
}

/** Nobody need wait for it: whoever does sees how it ends. @template T @param {Promise<T>} promise */
export function unattended (promise) {
  promise.catch(() => {})
  return promise
}
