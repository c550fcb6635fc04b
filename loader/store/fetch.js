// Reads the bytes and digests of listed versions, in the order of the list: a few bulk reads in flight, bounded memory.
import { pMapIterable } from 'p-map'
import { versionId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { batchesOf, chunks } from '../../core/lists.js'
import { childSignal } from '../child-signal.js'
import { storedVersionOf, withBytes } from './reader.js'
import { imageOf } from './tile.js'

export const fetchDefaults = {
  batch: 100, // documents a request
  batchBytes: 1e6, // bytes of tiles a request, unless one tile has more
  concurrency: 4 // requests in flight
}

const PAGE = 500 // documents a request, without bytes

/** @typedef {import('./list.js').Listed} Listed */
/** @typedef {import('./reader.js').StoredVersion & {bytes: Buffer}} Fetched */

/**
 * Reads the bytes of listed versions and returns them in the same order. Versions without bytes are left out.
 * @template {Listed} T
 * @param {import('./couch.js').Couch} couch
 * @param {Iterable<T> | AsyncIterable<T>} listed
 * @param {{signal?: AbortSignal, concurrency?: number, onMissing?: (listed: T) => void}} [options] onMissing: called
 *   for each version that has no bytes or no longer exists
 * @returns {AsyncGenerator<T & Fetched>}
 */
export async function * fetchListed (couch, listed, { signal, concurrency, onMissing } = {}) {
  const { batch: most, batchBytes: bytes } = fetchDefaults
  const { signal: ownSignal, end } = childSignal(signal)
  try {
    const answers = pMapIterable(batchesOf(listed, { most, bytes }), async batch => {
      const tiles = await readBytesOf(couch, batch, { signal: ownSignal })
      return batch.map((entry, index) => ({ entry, version: tiles[index] }))
    }, { concurrency: concurrency ?? fetchDefaults.concurrency })
    for await (const answer of answers) {
      for (const { entry, version } of answer) {
        if (signal?.aborted) throw new TilecouchError('ABORTED')
        if (version) yield /** @type {any} */ (Object.assign({}, entry, version))
        else onMissing?.(entry)
      }
    }
  } finally {
    end()
  }
}

/**
 * Reads listed versions in one bulk request, also those that have moved to the past since.
 * @param {import('./couch.js').Couch} couch
 * @param {Listed[]} listed
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<(Fetched | undefined)[]>}
 */
export async function readBytesOf (couch, listed, { signal } = {}) {
  const rows = await couch.docs(listed.map(({ id }) => id), { attachments: true, signal })
  const versions = rows.map(({ doc }, index) => isListed(doc, listed[index]) ? withBytes(doc) : undefined)
  // if a listed head has another time now, the listed version has moved to the past
  const moved = [...listed.keys()].filter(index =>
    !versions[index] && listed[index].time && !listed[index].id.includes('@'))
  if (moved.length) {
    const ids = moved.map(index => listed[index]).map(({ layer, z, x, y, time }) => versionId(layer, z, x, y, time))
    const copies = await couch.docs(ids, { attachments: true, signal })
    copies.forEach(({ doc }, index) => {
      if (imageOf(doc)) versions[moved[index]] = withBytes(doc)
    })
  }
  return /** @type {any} */ (versions)
}

/** @param {any} doc @param {Listed} listed */
const isListed = (doc, { time }) =>
  Boolean(imageOf(doc)) && (time === undefined || doc.time === time)

/**
 * Reads versions by their ids, without bytes. Missing ones are not in the map.
 * @param {import('./couch.js').Couch} couch
 * @param {Iterable<string>} ids
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Map<string, import('./reader.js').StoredVersion>>}
 */
export async function versionsById (couch, ids, { signal } = {}) {
  const idList = [...ids]
  const versions = new Map()
  for (const chunk of chunks(idList, PAGE)) {
    const rows = await couch.docs(chunk, { signal })
    for (const { id, doc } of rows) if (doc?.type === 'tile') versions.set(id, storedVersionOf(doc))
  }
  return versions
}

// Digests of listed versions: the index has only times and sizes.

/**
 * @param {import('./index.js').Store} store
 * @param {any[]} entries listed
 * @param {AbortSignal} [signal]
 * @returns {Promise<Map<any, string | undefined>>} without versions that no longer exist
 */
export async function digestsOf (store, entries, signal) {
  const digests = new Map()
  const lookUp = async (batch, idOf) => {
    if (!batch.length) return
    const versions = await store.versionsById(batch.map(idOf), { signal })
    for (const entry of batch) {
      const version = versions.get(idOf(entry))
      if (version && version.time === entry.time) digests.set(entry, version.digest)
    }
  }
  await lookUp(entries, ({ id }) => id)
  // a head that was overwritten since it was listed: its copy is in the past
  const moved = entries.filter(entry => !digests.has(entry) && entry.current)
  await lookUp(moved, ({ layer, z, x, y, time }) => versionId(layer, z, x, y, time))
  return digests
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
  for await (const batch of batchesOf(listed, { most: PAGE, bytes: Infinity })) {
    const digests = await digestsOf(store, batch, signal)
    for (const version of batch) yield { ...version, digest: digests.get(version) }
  }
}
