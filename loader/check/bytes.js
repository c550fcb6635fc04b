// The bytes of many documents, a few requests in flight, bounded by bytes and not by numbers. What cannot be read costs only
// itself: a request that fails is asked again in halves, down to the one document.
import { gunzipSync } from 'node:zlib'
import { pMapIterable } from 'p-map'
import { formats } from '../../core/index.js'
import { batchesOf } from '../../core/batches.js'
import { noAnswer } from '../../core/couch/answers.js'
import { digestOf } from '../store/tile.js'
import { decodeDefaults } from '../verify/decode.js'

export const bytesDefaults = {
  batch: 100, // documents a request
  bytes: 4e6, // tiles a request
  concurrency: 2 // requests in flight
}

/** Failures that may lie in one document: the server stumbles over it, or breaks off in its middle. */
const MAY_BE_ONE = new Set(['BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR', 'UNREACHABLE'])

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {AsyncIterable<any>} docs without their bytes
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<import('../verify/tiles.js').Job>}
 */
export async function * readBytes (couch, docs, signal) {
  const batches = batchesOf(docs, { most: bytesDefaults.batch, bytes: bytesDefaults.bytes, sizeOf })
  for await (const jobs of pMapIterable(batches, batch => read(couch, batch, signal), { concurrency: bytesDefaults.concurrency })) yield * jobs
}

/**
 * The bytes of an attachment. CouchDB compresses what is said to be text, and sends it so.
 * @param {{data?: Uint8Array | string, encoding?: string}} attachment
 * @returns {Buffer}
 */
export function plainBytes ({ data = '', encoding }) {
  if (typeof data === 'string') return Buffer.from(data, 'base64')
  return encoding === 'gzip' ? gunzipSync(data, { maxOutputLength: decodeDefaults.bytes }) : Buffer.from(data.buffer, data.byteOffset, data.byteLength)
}

// what is too long is not read
const sizeOf = ({ _attachments: { tile: { length } } }) => length <= decodeDefaults.bytes ? length : 0

async function read (couch, batch, signal) {
  const wanted = batch.filter(doc => doc._attachments.tile.length <= decodeDefaults.bytes)
  const found = new Map()
  await fetchInto(found, couch, wanted, signal)
  return batch.map(doc => {
    const { length } = doc._attachments.tile
    const answer = found.get(doc._id)
    return {
      where: doc._id,
      size: length,
      read () {
        if (answer instanceof Error) throw answer
        return answer?._attachments?.tile?.data && plainBytes(answer._attachments.tile)
      },
      compare: ({ type, bytes }) => compare(answer._attachments.tile, answer._rev === doc._rev ? length : undefined, type, bytes)
    }
  })
}

async function fetchInto (found, couch, docs, signal) {
  if (!docs.length) return
  try {
    const rows = await couch.docs(docs.map(doc => doc._id), { attachments: true, signal })
    for (const { id, doc } of rows) if (doc) found.set(id, doc)
    for (const doc of docs) if (!found.get(doc._id)?._attachments?.tile?.data) found.set(doc._id, await explain(couch, doc))
  } catch (error) {
    if (!MAY_BE_ONE.has(error.code)) throw error
    await couch.request({ path: '', signal }) // the server itself is well, or this says what it is
    if (error.code === 'NO_ANSWER') {
      const { ids, reason } = error.details
      for (const id of ids) found.set(id, noAnswer(couch.url, [id], { reason }))
      return fetchInto(found, couch, docs.filter(({ _id: id }) => !ids.includes(id)), signal)
    }
    if (docs.length === 1) {
      found.set(docs[0]._id, error)
      return
    }
    const half = docs.length >> 1
    await fetchInto(found, couch, docs.slice(0, half), signal)
    await fetchInto(found, couch, docs.slice(half), signal)
  }
}

// deleted or overwritten by a gone version a moment ago is no fault
async function explain (couch, { _id }) {
  const stored = await couch.get(_id)
  return stored?._attachments?.tile ? new Error('the store lists it, but does not send it') : undefined
}

const TYPES = new Set(Object.values(formats).map(({ type }) => type))

/** @returns {import('../verify/decode.js').Problems} */
function compare (stub, listed, type, bytes) {
  /** @type {import('../verify/decode.js').Problems} */
  const problems = []
  const length = stub.length ?? listed
  if (length !== undefined && length !== bytes.length) problems.push(['wrong-length', `${bytes.length} bytes, ${length} in the document`])
  if (type && stub.content_type !== type) problems.push(['wrong-type', `${type}, the document says ${stub.content_type}`])
  // what CouchDB compresses by itself has the digest of the compressed bytes: none of a tile's types
  if (TYPES.has(stub.content_type) && stub.digest !== digestOf(bytes)) problems.push(['wrong-digest', `${digestOf(bytes)}, the document says ${stub.digest}`])
  return problems
}
