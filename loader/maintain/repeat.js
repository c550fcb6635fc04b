// Repeats a task until a signal: after a pause, sooner when something has changed, and after a failure that passes as
// soon as the store is back.
import { setTimeout as sleep } from 'node:timers/promises'
import { isAdministrative } from '../../core/index.js'
import { Follower, childSignal } from '../store/follow.js'

export const repeatDefaults = {
  gather: 1000, // milliseconds between a change and the next look: more changes of the same load follow
  firstDelay: 250, // milliseconds before the next try when something is away, doubled each time
  longestDelay: 5000 // milliseconds between two tries at most
}

const LONGEST_PAUSE = 2 ** 31 - 1 // milliseconds a timer can wait

/** What passes: the store is waited for. */
const PASSING = new Set([
  'UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR', 'DATABASE_NOT_FOUND', 'UNAUTHORIZED', 'FORBIDDEN',
  'INDEX_MISSING', 'DISK_FULL'
])

/**
 * @template T
 * @typedef {object} RepeatOptions
 * @property {(result: T) => number} pause milliseconds until the next look, when nothing else asks for it
 * @property {(wake: () => void) => (() => unknown) | Promise<() => unknown>} [wake] begins to call when there may be
 *   something to do; answers what ends it
 * @property {AbortSignal} [signal] ends it
 * @property {(state: {state: 'following' | 'away', error?: string, reason?: string}) => void} [onState] called when it
 *   changes; error: a code
 * @property {Partial<typeof repeatDefaults>} [limits]
 */

/**
 * Returns when the signal is aborted; rejects with an error that does not pass.
 * @template T
 * @param {() => Promise<T>} look
 * @param {RepeatOptions<T>} options
 */
export async function repeat (look, { pause, wake, signal, onState, limits }) {
  const { gather, firstDelay, longestDelay } = { ...repeatDefaults, ...limits }
  let news = childSignal(signal) // ends when something has changed
  let last = ''
  const report = (state, error) => {
    if (last !== `${state} ${error?.code}`) onState?.({ state, error: error?.code, reason: error?.message })
    last = `${state} ${error?.code}`
  }
  const stop = await wake?.(() => news.end())
  try {
    for (let tries = 0; !signal?.aborted;) {
      news.end()
      news = childSignal(signal)
      try {
        const result = await look()
        report('following')
        tries = 0
        await wait(pause(result), news.signal)
        if (news.signal.aborted) await wait(gather, signal)
      } catch (error) {
        if (signal?.aborted) return
        if (!PASSING.has(error.code)) throw error
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

/** For `wake`: whenever something in the store has changed, or may have. */
export const changesOf = (store, signal) => async wake => {
  const onChange = ({ id }) => { if (!isAdministrative(id)) wake() }
  const follower = new Follower(store, { onChange, onReset: wake })
  // so that no change during the first look is missed, unless the store is too slow to answer
  await Promise.race([follower.start(), wait(repeatDefaults.longestDelay, signal)])
  return () => follower.close()
}
