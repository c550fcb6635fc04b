// Asks for what is new for as long as it is wanted, over any number of requests and interruptions.
import { persist } from './patience.js'

/**
 * @template {{since: string}} T
 * @param {(since: string, waits: boolean) => Promise<T>} ask answers the place to go on from; waits: until there is something
 * @param {{signal: AbortSignal, onError: (error: Error) => void, onBack: () => void}} options onBack: after every answer
 * @returns {AsyncGenerator<T & {isFirst: boolean}>} isFirst: it says where it begins, and nothing that changes from now on is missed
 */
export async function * newsOf (ask, { signal, onError, onBack }) {
  let since = 'now'
  let isAway = false // then the first answer is not waited for: it tells that the store is back
  while (!signal.aborted) {
    const isFirst = since === 'now'
    const answer = await persist(() => ask(since, !isFirst && !isAway), {
      signal,
      onError: error => {
        isAway = true
        onError(error)
      },
      onDone: () => {
        isAway = false
        onBack()
      }
    })
    since = answer.since
    yield { ...answer, isFirst }
  }
}
