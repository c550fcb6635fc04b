// Measures the cost of ids: the same documents and batches with different ids. Reports the rate, and the file size
// before and after compaction.
import { interleave } from '../measure.js'
import { writeBulk } from '../raw.js'
import { checkStored, emptyDatabase, sizes } from './database.js'
import { IDS, documentsOf } from './documents.js'

/** @param {string} url of a database that is created and dropped for every sample */
export async function compareIds (url, { documents, batch, make }, { rounds, signal, log, onRetry }) {
  const files = {}
  const contenders = Object.entries(IDS).map(([name, ids]) => {
    const written = /** @type {any[]} */ ([])
    const idList = [...ids(documents)] // generated before the clock runs
    let round = 0
    return {
      name,
      before: () => emptyDatabase(url, { onRetry }),
      run: store => {
        written.length = 0
        return writeBulk(store.couch, documentsOf(make, idList), { batch, signal, onWritten: doc => written.push(doc) })
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
