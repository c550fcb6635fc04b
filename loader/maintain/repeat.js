// Repeats a task until a signal: after a pause, sooner if the store has changed, and again after a temporary error.
// Live runs of `expire` and `prune` use it.
import { setTimeout as sleep } from 'node:timers/promises'
import { TEMPORARY_CODES } from '../../core/errors.js'
import { isAdministrative } from '../../core/index.js'
import { childSignal } from '../child-signal.js'
import { Follower } from '../store/follow.js'

export const repeatDefaults = {
  gather: 1000, // milliseconds between a change and the next run: more changes of the same load follow
  firstDelay: 250, // milliseconds before the next try after a temporary error, doubled each time
  longestDelay: 5000 // milliseconds between two tries at most
}

const LONGEST_PAUSE = 2 ** 31 - 1 // milliseconds: the limit of a timer

/** Temporary errors: the task is tried again. */
const TEMPORARY = new Set([...TEMPORARY_CODES, 'INDEX_MISSING', 'DISK_FULL'])

/**
 * @template T
 * @typedef {object} RepeatOptions
 * @property {(result: T) => number} pause milliseconds until the next run, if there is no change before
 * @property {(wake: () => void) => (() => unknown) | Promise<() => unknown>} [wake] watches for changes and calls
 *   `wake` after each one; returns the function that stops it
 * @property {AbortSignal} [signal] ends it
 * @property {(state: {state: 'following' | 'away', error?: string, reason?: string}) => void} [onState] called when the
 *   state changes; error: a code
 * @property {Partial<typeof repeatDefaults>} [limits]
 */

/**
 * Returns when the signal is aborted. Rejects with an error that is not temporary.
 * @template T
 * @param {() => Promise<T>} task
 * @param {RepeatOptions<T>} options
 */
export async function repeat (task, { pause, wake, signal, onState, limits }) {
  const { gather, firstDelay, longestDelay } = { ...repeatDefaults, ...limits }
  let news = childSignal(signal) // aborted after a change
  let lastReport = ''
  const report = (state, error) => {
    if (lastReport !== `${state} ${error?.code}`) onState?.({ state, error: error?.code, reason: error?.message })
    lastReport = `${state} ${error?.code}`
  }
  const stop = await wake?.(() => news.end())
  try {
    for (let tries = 0; !signal?.aborted;) {
      news.end()
      news = childSignal(signal)
      try {
        const result = await task()
        report('following')
        tries = 0
        await wait(pause(result), news.signal)
        if (news.signal.aborted) await wait(gather, signal)
      } catch (error) {
        if (signal?.aborted) return
        if (!TEMPORARY.has(error.code)) throw error
        report('away', error)
        await wait(Math.min(firstDelay * 2 ** tries++, longestDelay), signal)
      }
    }
  } finally {
    news.end()
    await stop?.()
  }
}

const wait = (milliseconds, signal) =>
  sleep(Math.min(Math.max(milliseconds, 0), LONGEST_PAUSE), undefined, { signal }).catch(() => {})

/** For `wake`: calls it after every change of the store, and if changes may have been missed. */
export const changesOf = (store, signal) => async wake => {
  const onChange = ({ id }) => { if (!isAdministrative(id)) wake() }
  const follower = new Follower(store, { onChange, onReset: wake })
  // waits, so that no change during the first run is missed, unless the store is too slow
  await Promise.race([follower.start(), wait(repeatDefaults.longestDelay, signal)])
  return () => follower.close()
}
