// What has an end: as soon as one of several signals says so, whatever it still waits for.
import { TilecouchError } from '../../core/index.js'
import { raceAbort, timeoutSignal } from '../../core/abort.js'

/**
 * @template T
 * @param {(AbortSignal | undefined)[]} signals
 * @param {(signal: AbortSignal) => Promise<T> | T} task is given one signal for all of them
 * @returns {Promise<T>} rejects ABORTED
 */
export async function within (signals, task) {
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
 * Waits for something no longer than so many milliseconds: another tab may never answer.
 * @template T
 * @param {number} milliseconds
 * @param {(signal: AbortSignal) => Promise<T> | T} task
 * @returns {Promise<T | undefined>} nothing when the time was over
 */
export async function atMost (milliseconds, task) {
  const time = timeoutSignal(milliseconds)
  try {
    return await within([time.signal], task)
  } catch (error) {
    if (time.isOver) return undefined
    throw error
  } finally {
    time.end()
  }
}
