// Reads documents with their attachments, a few requests at a time, bounded by bytes. A request that fails is repeated
// in halves, so that a document that cannot be read does not affect the others.
import { pMapIterable } from 'p-map'
import { formats } from '../../core/index.js'
import { batchesOf } from '../../core/lists.js'
import { noAnswer } from '../../core/couch/answers.js'
import { digestOf, imageOf } from '../store/tile.js'
import { decodeDefaults, problemsOf } from './files/decode.js'

const BATCH = { most: 100, bytes: 4e6 } // documents, and bytes of tiles, in a request
const CONCURRENCY = 2 // requests at a time
const TYPES = new Set(Object.values(formats).map(({ type }) => type))

/** Failures that one document may cause: the server cannot read it, or its answer ends in the middle. */
const DOCUMENT_ERRORS = new Set(['BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR', 'UNREACHABLE'])

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {AsyncIterable<any>} docs without their bytes
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<import('./files/tiles.js').Job>}
 */
export async function * readBytes (couch, docs, signal) {
  const batches = batchesOf(docs, { ...BATCH, sizeOf: doc => isTooLong(doc) ? 0 : lengthOf(doc) })
  const read = batch => jobsOf(couch, batch, signal)
  for await (const jobs of pMapIterable(batches, read, { concurrency: CONCURRENCY })) yield * jobs
}

const lengthOf = doc => imageOf(doc).length
const isTooLong = doc => lengthOf(doc) > decodeDefaults.bytes

async function jobsOf (couch, batch, signal) {
  const readable = batch.filter(doc => !isTooLong(doc))
  const docsById = await readEach(couch, readable.map(({ _id }) => _id), signal)
  for (const { _id: id } of readable) {
    const doc = docsById.get(id)
    if (!(doc instanceof Error) && !imageOf(doc)?.data) docsById.set(id, await missingImage(couch, id))
  }
  return batch.map(doc => {
    const stored = docsById.get(doc._id)
    return {
      where: doc._id,
      size: lengthOf(doc),
      read () {
        if (stored instanceof Error) throw stored
        return imageOf(stored)?.data
      },
      compare: ({ type, bytes }) =>
        compare(imageOf(stored), stored._rev === doc._rev ? lengthOf(doc) : undefined, type, bytes)
    }
  })
}

/** Returns no error if the tile was deleted or became gone a moment ago. */
async function missingImage (couch, id) {
  const stored = await couch.get(id)
  return imageOf(stored) ? new Error('the store lists it, but does not send it') : undefined
}

/**
 * Reads documents with their attachments, by id. The value of a document that cannot be read is an Error.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string[]} ids
 * @param {AbortSignal} [signal]
 * @param {Map<string, any>} [docsById]
 */
export async function readEach (couch, ids, signal, docsById = new Map()) {
  if (!ids.length) return docsById
  try {
    for (const { id, doc } of await couch.docs(ids, { attachments: true, signal })) if (doc) docsById.set(id, doc)
    return docsById
  } catch (error) {
    if (!DOCUMENT_ERRORS.has(error.code)) throw error
    await couch.request({ path: '', signal }) // throws if the server itself is the problem
    if (error.code === 'NO_ANSWER') {
      const { ids: failedIds, reason } = error.details
      for (const id of failedIds) docsById.set(id, noAnswer(couch.url, [id], { reason }))
      return readEach(couch, ids.filter(id => !failedIds.includes(id)), signal, docsById)
    }
    if (ids.length === 1) return docsById.set(ids[0], error)
    const half = ids.length >> 1
    await readEach(couch, ids.slice(0, half), signal, docsById)
    return readEach(couch, ids.slice(half), signal, docsById)
  }
}

function compare ({ length: statedLength, content_type: type, digest }, listedLength, actualType, bytes) {
  const length = statedLength ?? listedLength ?? bytes.length
  const computedDigest = digestOf(bytes)
  return problemsOf([
    [length !== bytes.length, 'wrong-length', `${bytes.length} bytes, ${length} in the document`],
    [actualType && type !== actualType, 'wrong-type', `${actualType}, the document says ${type}`],
    // CouchDB compresses other types, and computes their digest from the compressed bytes
    [TYPES.has(type) && digest !== computedDigest, 'wrong-digest', `${computedDigest}, the document says ${digest}`]
  ])
}
