// Follows the changes of a layer until a signal ends it, over any number of requests and interruptions.
import { retry, wait } from './wait.js'

const GATHER_TIME = 250 // milliseconds: a load changes hundreds of tiles, which are reported together

/**
 * @param {import('./couch-source.js').CouchSource} source
 * @param {string} layer
 * @param {{signal: AbortSignal, past?: boolean, onStart: () => void, onChanges: (changes: {tiles: {z: number, x:
 *   number, y: number, rev: string, deleted: boolean}[], layer: boolean}) => void, onError: (error: Error) => void,
 *   onBack: () => void}} options past: report versions that were loaded for a time in the past as well; onStart: later
 *   changes are not missed
 */
export async function followLayer (source, layer, { signal, past, onStart, onChanges, onError, onBack }) {
  const ask = (since, waits) => source.changes(layer, since, signal, { past, wait: waits })
  try {
    for await (const { isFirst, ...answer } of pollChanges(ask, { signal, onError, onBack })) {
      if (isFirst) onStart()
      if (!answer.tiles.length && !answer.layer) continue
      onChanges(answer)
      await wait(GATHER_TIME, signal)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/**
 * @template {{since: string}} T
 * @param {(since: string, waits: boolean) => Promise<T>} ask returns the position to continue from; waits: for a change
 * @param {{signal: AbortSignal, onError: (error: Error) => void, onBack: () => void}} options onBack: after every
 *   answer
 * @returns {AsyncGenerator<T & {isFirst: boolean}>} isFirst: it has the start position, and later changes are not
 *   missed
 */
export async function * pollChanges (ask, { signal, onError, onBack }) {
  let since = 'now'
  let isAway = false // then the first request does not wait for changes: its answer shows that the store is back
  while (!signal.aborted) {
    const isFirst = since === 'now'
    const answer = await retry(() => ask(since, !isFirst && !isAway), {
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

/**
 * Reports once when the store stops answering, and once when it answers again. Several parts ask the store at the same
 * time, and each may fail by itself.
 */
export class StoreHealth {
  #failing = new Map()
  #listeners

  /** @param {{onError: (error: Error) => void, onBack: () => void}} listeners */
  constructor (listeners) {
    this.#listeners = listeners
  }

  fail (part, error) {
    const isReported = [...this.#failing.values()].some(({ code }) => code === error.code)
    this.#failing.set(part, error)
    if (!isReported) this.#listeners.onError(error)
  }

  ok (part) {
    if (this.#failing.delete(part) && !this.#failing.size) this.#listeners.onBack()
  }

  get isGood () {
    return !this.#failing.size
  }
}
