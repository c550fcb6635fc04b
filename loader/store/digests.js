// The digests of versions that are listed: an index knows times and sizes, and a version is its time and its bytes.
import { versionId } from '../../core/index.js'
import { batchesOf } from '../../core/lists.js'

const BATCH = 500 // versions asked for together

/** @typedef {import('./list.js').Listed & {digest?: string}} Entry */

/**
 * @param {any[]} entries listed
 * @param {AbortSignal} [signal]
 * @returns {Promise<Map<any, string | undefined>>} nothing for what is nowhere any more
 */
export async function digestsOf (store, entries, signal) {
  const digests = new Map()
  await lookUp(entries, ({ id }) => id)
  // a head that was overwritten since it was listed: its copy is in the past
  const moved = entries.filter(entry => digests.get(entry) === undefined && entry.current)
  await lookUp(moved, ({ layer, z, x, y, time }) => versionId(layer, z, x, y, time))
  return digests

  async function lookUp (wanted, idOf) {
    if (!wanted.length) return
    const storedVersions = await store.versionsById(wanted.map(idOf), { signal })
    for (const entry of wanted) {
      const version = storedVersions.get(idOf(entry))
      if (version && version.time === entry.time) digests.set(entry, version.digest)
    }
  }
}

/**
 * Listed versions, each with its digest where it has one.
 * @template T
 * @param {import('./index.js').Store} store
 * @param {AsyncIterable<T>} listed
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<T & {digest?: string}>}
 */
export async function * withDigests (store, listed, signal) {
  for await (const batch of batchesOf(listed, { most: BATCH, bytes: Infinity })) {
    const digests = await digestsOf(store, batch, signal)
    for (const one of batch) yield { ...one, digest: digests.get(one) }
  }
}
