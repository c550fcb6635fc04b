// Does it get slower as it grows? Databases that grow side by side, a stretch each in turn, until all documents are in or the
// time of one is up: then it is stopped, and that is said.
import { dropping } from '../stoppable.js'
import { writeBulk, writePuts } from '../raw.js'
import { checkStored, emptyDatabase, sizes, witness } from './database.js'
import { DIGITS, IDS, RANDOM, TILES, documentsOf } from './documents.js'

export const PUTS = `a PUT each, ${RANDOM}`
const COMPACTION = 600 // seconds a compaction may take

/** Who grows: how it writes and with which ids. @type {Record<string, {ids: string, write: typeof writeBulk}>} */
const GROWING = {
  [DIGITS]: { ids: DIGITS, write: writeBulk },
  [TILES]: { ids: TILES, write: writeBulk },
  [RANDOM]: { ids: RANDOM, write: writeBulk },
  [PUTS]: { ids: RANDOM, write: writePuts }
}

/**
 * @typedef {object} Point
 * @property {number} documents in the database
 * @property {number} seconds of writing until here
 * @property {number} rate documents a second in this stretch
 * @property {number} file bytes
 *
 * @typedef {object} Curve
 * @property {string} name
 * @property {boolean} stopped since its time was up
 * @property {Point[]} points
 * @property {number} written bytes of the file at the end
 * @property {number | null} compacted bytes; null when that took too long
 */

/**
 * @param {string} url of databases: a number is added for each
 * @param {{documents: number, steps: number, batch: number, make: (index: number) => any}} payload
 * @param {{seconds: number, putSeconds: number, signal: AbortSignal, closing: (() => any)[], log: (text: string) => void, onRetry: () => void}} options seconds:
 *   of writing that a contender has
 * @returns {Promise<Curve[]>}
 */
export async function grow (url, { documents, steps, batch, make }, { seconds, putSeconds, signal, closing, log, onRetry }) {
  const growing = []
  for (const [name, { ids, write }] of Object.entries(GROWING)) {
    const store = await emptyDatabase(`${url}_${growing.length}`, { onRetry })
    closing.push(dropping(store))
    const limit = write === writePuts ? putSeconds : seconds
    growing.push({ name, store, write, limit, source: documentsOf(make, IDS[ids](documents)), stopped: false, points: /** @type {Point[]} */ ([]), ...witness() })
  }
  const stretch = Math.ceil(documents / steps)
  for (let step = 0; step < steps; step++) {
    for (let turn = 0; turn < growing.length; turn++) {
      const one = growing[(turn + step) % growing.length]
      if (one.stopped) continue
      signal.throwIfAborted()
      await stretchOf(one, { stretch, batch, signal })
      const { documents: now, seconds: spent, rate, file } = one.points[one.points.length - 1]
      one.stopped = now < documents && spent >= one.limit
      log(`  ${one.name.padEnd(28)} ${String(now).padStart(8)} documents  ${spent.toFixed(1).padStart(7)} s  ${String(rate).padStart(6)}/s  ${Math.round(file / 1e6)} MB${one.stopped ? `  stopped: its ${one.limit} s are up` : ''}`)
    }
  }
  const curves = []
  for (const { name, store, points, stopped, written: sample } of growing) {
    await checkStored(store, points[points.length - 1].documents, sample)
    log(`  compacting: ${name}`)
    const within = AbortSignal.timeout(COMPACTION * 1000)
    const size = await sizes(store, { signal: AbortSignal.any([signal, within]) }).catch(error => {
      signal.throwIfAborted()
      if (!within.aborted) throw error
      return { written: points[points.length - 1].file, compacted: null }
    })
    curves.push({ name, stopped, points, ...size })
    await store.destroy()
  }
  return curves
}

async function stretchOf ({ store, write, limit, source, points, onWritten }, { stretch, batch, signal }) {
  const docs = []
  for (let next; docs.length < stretch && !(next = source.next()).done;) docs.push(next.value) // made before the clock runs
  const { documents = 0, seconds = 0 } = points[points.length - 1] ?? {}
  const start = performance.now()
  const count = await write(store.couch, docs, { batch, signal, deadline: start + (limit - seconds) * 1000, onWritten })
  const took = (performance.now() - start) / 1000
  const { sizes: { file } } = await store.info()
  points.push({ documents: documents + count, seconds: seconds + took, rate: Math.round(count / took), file })
}
