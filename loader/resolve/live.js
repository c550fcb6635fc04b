// Looks again whenever something has changed, for as long as it is asked to.
import { setTimeout as sleep } from 'node:timers/promises'
import { Follower } from '../store/follow.js'
import { linked } from '../store/linked.js'

/** What passes: the store is waited for. */
const PASSING = new Set(['UNREACHABLE', 'BAD_ANSWER', 'COUCHDB_ERROR', 'DATABASE_NOT_FOUND', 'UNAUTHORIZED', 'FORBIDDEN', 'INDEX_MISSING', 'DISK_FULL'])

/**
 * Returns when the signal says so.
 * @param {import('../store/index.js').Store} store
 * @param {() => Promise<void>} look
 * @param {{signal?: AbortSignal, onState?: (state: {state: 'following' | 'away', error?: any}) => void, limits: typeof import('./index.js').resolveDefaults}} options
 */
export async function follow (store, look, { signal, onState, limits }) {
  let news = linked(signal) // ends when something has changed
  const follower = new Follower(store, { onChange: () => news.end(), onReset: () => news.end() })
  let told = ''
  const tell = (state, error) => {
    if (told !== `${state} ${error?.code}`) onState?.({ state, error })
    told = `${state} ${error?.code}`
  }
  const pause = (milliseconds, until) => sleep(milliseconds, undefined, { signal: until }).catch(() => {})
  try {
    await Promise.race([follower.start(), pause(limits.longestDelay, signal)])
    for (let tries = 0; !signal?.aborted;) {
      news.end()
      news = linked(signal)
      try {
        await look()
        tell('following')
        tries = 0
        await pause(limits.look, news.signal)
        await pause(limits.gather, signal) // what is loaded or replicated comes together
      } catch (error) {
        if (signal?.aborted) return
        if (!PASSING.has(error.code)) throw error
        tell('away', error)
        await pause(Math.min(limits.firstDelay * 2 ** tries++, limits.longestDelay), signal)
      }
    }
  } finally {
    news.end()
    await follower.close()
  }
}
