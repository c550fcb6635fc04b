// One size after the other: two editions of what is new, compaction, the index as a whole, questions.
import { NEW, OLD } from '../block.js'
import { deploy, untilIdle } from '../history/data.js'
import { askAll } from './asks.js'
import { BYTES, edition } from './data.js'
import { watching } from './process.js'

export const FIXED = { batch: 500, concurrency: 4 } // a load that does not tune itself: its curve shall be the store's alone
const SLICES = 10 // of a load at most, each with its rate
const SLICE = 10_000 // tiles at least: what is in flight at the moment shall not show

const DESIGN = ['_design/versions', '_design/tiles']

/**
 * Loads one edition of what is new.
 * @param {import('../../loader/store/index.js').Store} store
 * @param {import('./data.js').Stage} stage @param {import('./data.js').Stage | undefined} before
 * @param {string} time @param {AbortSignal} signal
 */
export async function load (store, stage, before, time, signal) {
  const held = before?.tiles ?? 0
  const count = stage.tiles - held
  const parts = Math.max(1, Math.min(SLICES, Math.floor(count / SLICE)))
  const slices = /** @type {{tiles: number, rate: number}[]} */ ([])
  const start = performance.now()
  let last = { tiles: 0, at: start }
  const { failed } = await store.write(edition(stage, before, time), {
    ...FIXED,
    stored: time,
    signal,
    onProgress: ({ tiles }) => {
      if (tiles < Math.floor((slices.length + 1) * count / parts)) return
      const at = performance.now()
      slices.push({ tiles: held + tiles, rate: Math.round((tiles - last.tiles) / (at - last.at) * 1000) })
      last = { tiles, at }
    }
  })
  if (failed) throw new Error(`${failed} tiles were not written`)
  const seconds = (performance.now() - start) / 1000
  return { seconds, rate: Math.round(count / seconds), slices }
}

const fileOf = async store => (await store.info()).sizes.file
const indexOf = async store => (await store.couch.request({ path: '_design/versions/_info' })).view_index.sizes.file

async function compacted (store, path, signal) {
  const start = performance.now()
  await store.couch.request({ method: 'POST', path, body: {} })
  await untilIdle(store, signal)
  return (performance.now() - start) / 1000
}

/** No index while a load runs, as in a new store: CouchDB would build it meanwhile. */
async function withdraw (store) {
  for (const id of DESIGN) {
    const doc = await store.couch.get(id)
    if (doc) await store.couch.request({ method: 'DELETE', path: id, qs: { rev: doc._rev } })
  }
  await store.couch.request({ method: 'POST', path: '_view_cleanup', body: {} })
}

/**
 * @param {import('../../loader/store/index.js').Store} store
 * @param {{stage: import('./data.js').Stage, before?: import('./data.js').Stage, small?: import('../../loader/store/index.js').Store,
 *   smallest: import('./data.js').Stage, rounds: number, counted: number, pid?: number, signal: AbortSignal, log: (text: string) => void}} options
 */
export async function grow (store, { stage, before, small, smallest, rounds, counted, pid, signal, log }) {
  const added = stage.versions - (before?.versions ?? 0)
  const mega = bytes => (bytes / 1e6).toFixed(1)
  log(`\n${stage.tiles.toLocaleString('en-US')} tiles, ${stage.versions.toLocaleString('en-US')} versions`)
  await withdraw(store)
  const empty = await fileOf(store)
  const { result: [first, second], peak: loading } = await watching(pid, async () => [
    await load(store, stage, before, OLD, signal), await load(store, stage, before, NEW, signal)
  ])
  const loaded = await fileOf(store)
  log(`  first edition ${first.rate} tiles/s, second ${second.rate} tiles/s, ${Math.round((loaded - empty) / added)} bytes a version of the file`)
  const { result: compaction, peak: compacting } = await watching(pid, () => compacted(store, '_compact', signal))
  const database = { loaded: (loaded - empty) / added, file: await fileOf(store), compaction }
  log(`  compacted in ${compaction.toFixed(1)} s to ${mega(database.file)} MB, ${Math.round(database.file / stage.versions)} bytes a version, ${BYTES} of them the image`)
  const { result: seconds, peak: indexing } = await watching(pid, () => deploy(store, { signal }))
  const built = await indexOf(store)
  await compacted(store, '_compact/versions', signal)
  const index = { seconds, rate: Math.round(stage.versions / seconds), built, compacted: await indexOf(store) }
  log(`  index in ${seconds.toFixed(1)} s (${index.rate} versions/s), ${mega(built)} MB, compacted ${mega(index.compacted)} MB`)
  const { result: { results, reads }, peak: asking } = await watching(pid, () => askAll({ store, stage, small, smallest, rounds, counted, pid, signal }))
  for (const [name, { ms: { p50, p90, p99, max } }] of Object.entries(results)) {
    const read = reads?.[name]
    log(`  ${name.padEnd(64)} p50 ${p50}  p90 ${p90}  p99 ${p99}  max ${max} ms${read ? `  reads ${read.bytes} bytes, ${read.disk} from the disk` : ''}`)
  }
  const memory = pid ? { loading, compacting, indexing, asking } : null
  if (memory) log(`  memory of CouchDB, MB: ${Object.entries(memory).map(([phase, peak]) => `${phase} ${peak}`).join(', ')}`)
  return { tiles: stage.tiles, versions: stage.versions, first, second, database, index, results, reads, memory }
}
