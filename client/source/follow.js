// Follows a layer's changes for as long as it is wanted, over any number of requests and interruptions.
import { persist, wait } from './patience.js'

const GATHER = 250 // milliseconds: a load changes hundreds of tiles, and they are told of together

/**
 * @param {import('./couch-source.js').CouchSource} source
 * @param {string} layer
 * @param {{signal: AbortSignal, past?: boolean, onStart: () => void, onChanges: (changes: {tiles: {z: number, x: number, y: number, rev: string, deleted: boolean}[], layer: boolean}) => void, onError: (error: Error) => void, onBack: () => void}} options
 *   past: tell of versions that were loaded for a time in the past, too; onStart: nothing that changes from now on is missed
 */
export async function follow (source, layer, { signal, past, onStart, onChanges, onError, onBack }) {
  let since = 'now'
  let isAway = false // then the first answer is not waited for: it tells that the store is back
  try {
    while (!signal.aborted) {
      const answer = await persist(() => source.changes(layer, since, signal, { past, wait: since !== 'now' && !isAway }), {
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
      if (since === 'now') onStart()
      since = answer.since
      if (!answer.tiles.length && !answer.layer) continue
      onChanges(answer)
      await wait(GATHER, signal)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
