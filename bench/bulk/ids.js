// What ids cost: the same documents, the same batches, only the ids differ. Time, and the file before and after compaction.
import { interleave } from '../measure.js'
import { writeBulk } from '../raw.js'
import { checkStored, emptyDatabase, sizes, witness } from './database.js'
import { IDS, documentsOf } from './documents.js'

/**
 * @typedef {object} Row
 * @property {string} ids
 * @property {number[]} rates documents a second
 * @property {number} median
 * @property {number} min
 * @property {number} max
 * @property {number} written bytes of the file, of the last round
 * @property {number} compacted bytes of it after compaction
 */

/**
 * @param {string} url of a database that is made and dropped for every sample
 * @param {{documents: number, batch: number, make: (index: number) => any}} payload
 * @param {{rounds: number, signal: AbortSignal, log: (text: string) => void, onRetry: () => void}} options
 * @returns {Promise<Row[]>}
 */
export async function compareIds (url, { documents, batch, make }, { rounds, signal, log, onRetry }) {
  /** @type {Record<string, {written: number, compacted: number}>} */
  const files = {}
  const contenders = Object.entries(IDS).map(([name, ids]) => {
    const { onWritten, written } = witness()
    const list = [...ids(documents)] // made before the clock runs
    let round = 0
    return {
      name,
      before: () => emptyDatabase(url, { onRetry }),
      run: store => {
        written.length = 0
        return writeBulk(store.couch, documentsOf(make, list), { batch, signal, onWritten })
      },
      after: async store => {
        await checkStored(store, documents, written)
        if (++round === rounds) files[name] = await sizes(store, { signal })
        await store.destroy()
      }
    }
  })
  const results = await interleave(contenders, rounds, log, signal)
  return Object.entries(results).map(([ids, figures]) => ({ ids, ...figures, ...files[ids] }))
}
