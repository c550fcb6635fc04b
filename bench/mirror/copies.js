// The same tiles copied by each contender into a new database, in turns; and whether the other replicator finds
// anything left to do.
import { budget, interleave } from '../measure.js'
import { contenders, theirs } from './contenders.js'
import { newDatabase } from '../stoppable.js'
import { storeOf } from './data.js'

const TARGET = 4 // times CouchDB's own as it comes, DESIGN.md 7
// times the tuned one, by bytes of a tile: large ones are at the limit of _bulk_docs
const TUNED = { 3000: 4, 10_000: 3.5, 50_000: 2.5 }

export async function copyAll ({ server, target, tiles, bytes: wanted, rounds, signal, closing, log }) {
  const sizes = []
  await newDatabase(`${target}/bench_mirror_to`, closing)
  for (const bytes of wanted) {
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

/** Beside either of CouchDB's, as it comes and tuned. */
export function budgetsOf (sizes) {
  const [own, ...others] = contenders.map(({ name }) => name)
  return others.flatMap(
    other => sizes.map(({ bytes, results }) => budget(`mirror / ${other}, ${bytes / 1000} kB a tile`,
      other.endsWith('tuned') ? TUNED[bytes] : TARGET, results[own].median / results[other].median, 'x'))
  )
}
