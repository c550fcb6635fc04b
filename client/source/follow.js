// Follows a layer's changes for as long as it is wanted.
import { newsOf } from './news.js'
import { wait } from './patience.js'

const GATHER = 250 // milliseconds: a load changes hundreds of tiles, and they are told of together

/**
 * @param {import('./couch-source.js').CouchSource} source
 * @param {string} layer
 * @param {{signal: AbortSignal, past?: boolean, onStart: () => void, onChanges: (changes: {tiles: {z: number, x: number, y: number, rev: string, deleted: boolean}[], layer: boolean}) => void, onError: (error: Error) => void, onBack: () => void}} options
 *   past: tell of versions that were loaded for a time in the past, too; onStart: nothing that changes from now on is missed
 */
export async function follow (source, layer, { signal, past, onStart, onChanges, onError, onBack }) {
  const ask = (since, waits) => source.changes(layer, since, signal, { past, wait: waits })
  try {
    for await (const { isFirst, ...answer } of newsOf(ask, { signal, onError, onBack })) {
      if (isFirst) onStart()
      if (!answer.tiles.length && !answer.layer) continue
      onChanges(answer)
      await wait(GATHER, signal)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
