// Copies the same tiles with each contender into a new database, in turns. Then checks whether CouchDB's replicator
// finds missing documents.
import { budget, interleave } from '../measure.js'
import { contenders, theirs } from './contenders.js'
import { newDatabase } from '../stoppable.js'
import { storeOf } from './data.js'

const TARGET = 4 // times CouchDB's replicator with default settings, DESIGN.md 7
// times the tuned replicator, by bytes of a tile: large tiles reach the limit of _bulk_docs
const TUNED = { 3000: 4, 10_000: 3.5, 50_000: 2.5 }

export async function copyAll ({ server, target, tiles, bytes: tileSizes, rounds, signal, closing, log }) {
  const sizes = []
  await newDatabase(`${target}/bench_mirror_to`, closing)
  for (const bytes of tileSizes) {
    log(`\n${tiles} tiles of ${bytes / 1000} kB`)
    const store = await storeOf(`${server}/bench_mirror_from`, { tiles, bytes, signal, closing })
    const expected = (await store.info()).doc_count
    const left = /** @type {Record<string, number>} */ ({})
    const results = await interleave(contenders.map(({ name, copy }) => ({
      name,
      before: () => newDatabase(`${target}/bench_mirror_to`),
      run: async to => {
        signal.throwIfAborted()
        const { docs, refused } = await copy(`${server}/bench_mirror_from`, `${target}/bench_mirror_to`, { signal })
        if (docs !== expected || refused) {
          throw new Error(`${name}: ${docs} of ${expected} documents, ${refused} refused`)
        }
        return to && docs
      },
      after: async to => {
        if (!(name in left)) {
          left[name] = (await theirs()(`${server}/bench_mirror_from`, `${target}/bench_mirror_to`, { signal })).docs
        }
        await to.request({ method: 'DELETE' })
      }
    })), rounds, log)
    await store.destroy()
    log(
      `  documents that CouchDB's replicator finds missing afterwards: ` +
        `${Object.entries(left).map(([name, docs]) => `${name} ${docs}`).join(', ')}`
    )
    sizes.push({ bytes, documents: expected, results, left })
  }
  return { sizes, budgets: budgetsOf(sizes) }
}

/** The budgets of our mirror against CouchDB's replicator, with default and with tuned settings. */
export function budgetsOf (sizes) {
  const [ownName, ...otherNames] = contenders.map(({ name }) => name)
  return otherNames.flatMap(
    otherName => sizes.map(({ bytes, results }) => budget(`mirror / ${otherName}, ${bytes / 1000} kB a tile`,
      otherName.endsWith('tuned') ? TUNED[bytes] : TARGET, results[ownName].median / results[otherName].median, 'x'))
  )
}
