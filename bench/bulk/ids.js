// What ids cost: the same documents, the same batches, only the ids differ. Time, and the file before and after
// compaction.
import { interleave } from '../measure.js'
import { writeBulk } from '../raw.js'
import { checkStored, emptyDatabase, sizes } from './database.js'
import { IDS, documentsOf } from './documents.js'

/** @param {string} url of a database that is made and dropped for every sample */
export async function compareIds (url, { documents, batch, make }, { rounds, signal, log, onRetry }) {
  const files = {}
  const contenders = Object.entries(IDS).map(([name, ids]) => {
    const written = /** @type {any[]} */ ([])
    const list = [...ids(documents)] // made before the clock runs
    let round = 0
    return {
      name,
      before: () => emptyDatabase(url, { onRetry }),
      run: store => {
        written.length = 0
        return writeBulk(store.couch, documentsOf(make, list), { batch, signal, onWritten: one => written.push(one) })
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
