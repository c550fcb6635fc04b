// Functions that wait: for a time, for any of several signals, at most for a time, and until a task succeeds.
import { pause, raceAbort, timeoutSignal } from '../../core/promises.js'
import { TilecouchError } from '../../core/index.js'

/** Resolves after a number of milliseconds; rejects when the signal aborts. @returns {Promise<void>} */
export async function wait (milliseconds, signal) {
  await pause(milliseconds, signal)
  signal?.throwIfAborted()
}

const TURN = 20 // milliseconds

/**
 * Calls back after a number of milliseconds in which the page was free. It waits in turns, and a busy page handles
 * answers between two turns.
 * @returns {() => void} ends the wait
 */
export function afterFree (milliseconds, callback) {
  let turnsLeft = Math.ceil(milliseconds / TURN)
  const timer = setInterval(() => {
    if (--turnsLeft > 0) return
    clearInterval(timer)
    callback()
  }, TURN)
  return () => clearInterval(timer)
}

/**
 * Milliseconds before the next attempt: doubling, with some randomness, so that a hundred clients that lost
 * their server do not all come back in the same moment.
 * @param {number} attempt 0, 1, 2, …
 * @param {{first?: number, longest?: number}} [options]
 */
export const backoff = (attempt, { first = 500, longest = 30000 } = {}) =>
  Math.min(longest, first * 2 ** attempt) * (0.75 + Math.random() / 2)

/**
 * Repeats a task until it succeeds: the store may be away for a second or for an hour.
 * @template T
 * @param {() => Promise<T>} task
 * @param {{signal: AbortSignal, onError?: (error: Error) => void, onDone?: () => void}} options onError: after every
 *   attempt that failed
 * @returns {Promise<T>} rejects only when the signal aborts
 */
export async function retry (task, { signal, onError, onDone }) {
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    try {
      const result = await task()
      signal.throwIfAborted()
      onDone?.()
      return result
    } catch (error) {
      signal.throwIfAborted()
      onError?.(error)
      await wait(backoff(attempt), signal)
    }
  }
}

/**
 * @template T
 * @param {(AbortSignal | undefined)[]} signals
 * @param {(signal: AbortSignal) => Promise<T> | T} task it gets one signal for all of them
 * @returns {Promise<T>} rejects ABORTED
 */
export async function withSignals (signals, task) {
  const stop = new AbortController()
  const abort = () => stop.abort()
  for (const signal of signals) {
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
  }
  try {
    if (stop.signal.aborted) throw new TilecouchError('ABORTED')
    return await raceAbort((async () => task(stop.signal))(), stop.signal)
  } catch (error) {
    throw stop.signal.aborted ? new TilecouchError('ABORTED') : error
  } finally {
    for (const signal of signals) signal?.removeEventListener('abort', abort)
  }
}

/**
 * Waits for a task at most a number of milliseconds: another tab may never answer.
 * @template T
 * @param {number} milliseconds
 * @param {(signal: AbortSignal) => Promise<T> | T} task
 * @returns {Promise<T | undefined>} undefined if the time ran out
 */
export async function withinTime (milliseconds, task) {
  const timeout = timeoutSignal(milliseconds)
  try {
    return await withSignals([timeout.signal], task)
  } catch (error) {
    if (timeout.isOver) return undefined
    throw error
  } finally {
    timeout.end()
  }
}
