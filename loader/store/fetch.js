// The bytes and digests of what was listed: a few bulk reads on their way, in the order of the list, in bounded memory.
import { pMapIterable } from 'p-map'
import { versionId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { batchesOf, chunks } from '../../core/lists.js'
import { childSignal } from './follow.js'
import { describe, withBytes } from './reader.js'

export const fetchDefaults = {
  batch: 100, // documents a request
  batchBytes: 1e6, // bytes of tiles a request, unless one tile has more
  concurrency: 4 // requests on their way
}

const PAGE = 500 // documents a request, without bytes

/** @typedef {import('./list.js').Listed} Listed */
/** @typedef {import('./reader.js').StoredVersion & {bytes: Buffer}} Fetched */

/**
 * What was listed, with its bytes, in the same order. What is gone has none and is given as it was listed.
 * @template {Listed} T
 * @param {import('./couch.js').Couch} couch
 * @param {Iterable<T> | AsyncIterable<T>} listed
 * @param {{signal?: AbortSignal, concurrency?: number, onMissing?: (listed: T) => void}} [options] onMissing: told of
 *   what is not there any more
 * @returns {AsyncGenerator<T & Fetched>}
 */
export async function * fetchListed (couch, listed, { signal, concurrency, onMissing } = {}) {
  const { batch: most, batchBytes: bytes } = fetchDefaults
  const { signal: ownSignal, end } = childSignal(signal)
  try {
    const answers = pMapIterable(batchesOf(listed, { most, bytes }), async batch => {
      const tiles = await readBytesOf(couch, batch, { signal: ownSignal })
      return batch.map((one, index) => ({ one, version: tiles[index] }))
    }, { concurrency: concurrency ?? fetchDefaults.concurrency })
    for await (const answer of answers) {
      for (const { one, version } of answer) {
        if (signal?.aborted) throw new TilecouchError('ABORTED')
        if (version) yield /** @type {any} */ (Object.assign({}, one, version))
        else onMissing?.(one)
      }
    }
  } finally {
    end()
  }
}

/**
 * One bulk read: what was listed, also if it has moved since.
 * @param {import('./couch.js').Couch} couch
 * @param {Listed[]} listed
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<(Fetched | undefined)[]>}
 */
export async function readBytesOf (couch, listed, { signal } = {}) {
  const rows = await couch.docs(listed.map(({ id }) => id), { attachments: true, signal })
  const versions = rows.map(({ doc }, index) => isListed(doc, listed[index]) ? withBytes(doc) : undefined)
  // what was a head when it was listed and has another time now has moved to the past
  const moved = [...listed.keys()].filter(at => !versions[at] && listed[at].time && !listed[at].id.includes('@'))
  if (moved.length) {
    const ids = moved.map(at => listed[at]).map(({ layer, z, x, y, time }) => versionId(layer, z, x, y, time))
    const copies = await couch.docs(ids, { attachments: true, signal })
    copies.forEach(({ doc }, at) => { if (doc && withBytes(doc).bytes) versions[moved[at]] = withBytes(doc) })
  }
  return /** @type {any} */ (versions)
}

/** @param {any} doc @param {Listed} listed */
const isListed = (doc, { time }) => Boolean(doc?._attachments?.tile) && (time === undefined || doc.time === time)

/**
 * Documents by their ids, without bytes. What is not there is not in the answer.
 * @param {import('./couch.js').Couch} couch
 * @param {Iterable<string>} ids
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Map<string, import('./reader.js').StoredVersion>>}
 */
export async function versionsById (couch, ids, { signal } = {}) {
  const all = [...ids]
  const versions = new Map()
  for (const chunk of chunks(all, PAGE)) {
    const rows = await couch.docs(chunk, { signal })
    for (const { id, doc } of rows) if (doc?.type === 'tile') versions.set(id, describe(doc))
  }
  return versions
}

// The digests of what was listed: an index knows times and sizes, and a version is its time and its bytes.

/**
 * @param {import('./index.js').Store} store
 * @param {any[]} entries listed
 * @param {AbortSignal} [signal]
 * @returns {Promise<Map<any, string | undefined>>} nothing for what is nowhere any more
 */
export async function digestsOf (store, entries, signal) {
  const digests = new Map()
  const lookUp = async (some, idOf) => {
    if (!some.length) return
    const versions = await store.versionsById(some.map(idOf), { signal })
    for (const entry of some) {
      const version = versions.get(idOf(entry))
      if (version && version.time === entry.time) digests.set(entry, version.digest)
    }
  }
  await lookUp(entries, ({ id }) => id)
  // a head that was overwritten since it was listed: its copy is in the past
  const moved = entries.filter(entry => digests.get(entry) === undefined && entry.current)
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
