// Compacts a store: frees disk space of old revisions, deletions and changed indexes, if there is enough of it. Returns
// the sizes before and after. `tilecouch prune` and `remove` use it.
import { setTimeout as sleep } from 'node:timers/promises'
import { TilecouchError } from '../errors.js'
import { indexStates, indexesOf, warmAll } from '../store/indexes.js'

export const compactDefaults = {
  ratio: 1.5, // smallest ratio of file size to used bytes that is worth a compaction
  slack: 32 * 1024 * 1024, // smallest number of unused bytes that is worth a compaction
  poll: 250, // milliseconds between two checks whether it is done
  begin: 1000 // milliseconds to wait for a compaction to begin; a small one may end before the first check
}

/**
 * @typedef {{file: number, active: number}} Size file: bytes on the disk; active: bytes in use
 * @typedef {Size & {external: number, views: Size}} Sizes external: bytes of the documents only,
 *   uncompressed
 *
 * @typedef {object} Compaction
 * @property {Sizes} before
 * @property {Sizes} after
 * @property {boolean} done
 * @property {string} why reason for compacting or not
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Sizes>}
 */
export async function sizesOf ({ couch }, { signal } = {}) {
  const { sizes } = await couch.request({ path: '', signal })
  const views = { file: 0, active: 0 }
  for (const { index } of await indexStates(couch, signal)) {
    views.file += index.sizes?.file ?? 0
    views.active += index.sizes?.active ?? 0
  }
  return { file: sizes?.file ?? 0, active: sizes?.active ?? 0, external: sizes?.external ?? 0, views }
}

/** @param {Size} size @param {typeof compactDefaults} limits */
const isSlack = ({ file, active }, { ratio, slack }) => file - active >= slack && file >= active * ratio

/**
 * @param {import('../store/index.js').Store} store
 * @param {object} [options]
 * @param {'worth' | 'always'} [options.when] worth: if it frees enough
 * @param {AbortSignal} [options.signal] stops waiting; the server continues
 * @param {(state: Partial<Sizes & import('../store/indexes.js').IndexProgress>) => void} [options.onProgress] called
 *   with the progress of indexes that are behind, then with sizes
 * @param {Partial<typeof compactDefaults>} [options.limits]
 * @returns {Promise<Compaction>}
 */
export async function compact (store, { when = 'worth', signal, onProgress, limits } = {}) {
  const { couch } = store
  const settings = { ...compactDefaults, ...limits }
  const before = await sizesOf(store, { signal })
  const notDone = why => ({ before, after: before, done: false, why })
  const [data, views] = when === 'always' ? [true, true] : [isSlack(before, settings), isSlack(before.views, settings)]
  if (!data && !views) return notDone('there is too little to be had')
  try {
    // an index that is compacted while it is behind would forget later purges (CouchDB 3.5)
    await warmAll(couch, signal, onProgress)
    await post(couch, '_view_cleanup', signal)
    if (data) await post(couch, '_compact', signal)
    if (views) {
      for (const { id } of await indexesOf(couch, signal)) {
        await post(couch, id.replace('_design/', '_compact/'), signal)
      }
    }
  } catch (error) {
    if (error.code !== 'FORBIDDEN' && error.code !== 'UNAUTHORIZED') throw error
    return notDone('only an admin may compact')
  }
  await waitForEnd(store, settings, { signal, onProgress })
  const after = await sizesOf(store, { signal })
  return { before, after, done: true, why: when === 'always' ? 'it was asked for' : 'there was enough to be had' }
}

/**
 * Compacts a store after documents were removed.
 * @param {import('../store/index.js').Store} store
 * @param {'auto' | 'always' | 'never'} when auto: if it frees enough
 * @param {number} removed number of removed documents
 * @param {{signal?: AbortSignal, onCompact?: NonNullable<Parameters<typeof compact>[1]>['onProgress']}} options
 * @returns {Promise<{compaction?: Compaction}>}
 */
export async function compactAfter (store, when, removed, { signal, onCompact }) {
  if (when === 'never' || (when === 'auto' && !removed)) return {}
  return { compaction: await compact(store, { when: when === 'auto' ? 'worth' : when, signal, onProgress: onCompact }) }
}

const post = (couch, path, signal) => couch.request({ method: 'POST', path, body: {}, signal })

/** Waits until no compaction of the database is running. */
async function waitForEnd (store, { poll, begin }, { signal, onProgress }) {
  const started = performance.now()
  for (let hasBegun = false; ;) {
    await sleep(poll, undefined, { signal }).catch(() => {})
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (await isCompacting(store.couch, signal)) {
      hasBegun = true
      onProgress?.(await sizesOf(store, { signal }))
    } else if (hasBegun || performance.now() - started >= begin) return
  }
}

async function isCompacting (couch, signal) {
  if ((await couch.request({ path: '', signal })).compact_running) return true
  return (await indexStates(couch, signal)).some(({ index }) => index.compact_running)
}
