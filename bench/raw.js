// Writes documents straight into a database, without look-ups and without retries. This is the ceiling for every
// loader, and equals a hand-written upload.
import pMap from 'p-map'

/**
 * @typedef {{id: string, doc: any}} Written
 * @typedef {{concurrency?: number, signal?: AbortSignal, deadline?: number, onWritten?: (written: Written) => void}}
 *   RawOptions deadline: performance.now() after which no request starts; onWritten: called with the first document
 *   of every request
 */

/**
 * @param {import('../loader/store/couch.js').Couch} couch
 * @param {Iterable<any>} documents as JSON has them; generated one at a time
 * @param {RawOptions & {batch: number}} options batch: documents per request
 * @returns {Promise<number>} documents that were written
 */
export function writeBulk (couch, documents, { batch, ...options }) {
  return writeAll(batchesOf(documents, batch), async docs => {
    const results = await couch.bulk(docs, { signal: options.signal })
    const failed = results.find(result => result.error)
    if (failed) throw new Error(`raw write failed: ${JSON.stringify(failed)}`)
    if (results.length !== docs.length) {
      throw new Error(`raw write: ${results.length} results for ${docs.length} documents`)
    }
    options.onWritten?.({ id: results[0].id, doc: docs[0] })
    return docs.length
  }, options)
}

/**
 * One PUT a document.
 * @param {import('../loader/store/couch.js').Couch} couch
 * @param {Iterable<any>} documents
 * @param {RawOptions} options
 * @returns {Promise<number>} documents that were written
 */
export function writePuts (couch, documents, options) {
  return writeAll(documents, async doc => {
    await couch.put(doc)
    options.onWritten?.({ id: doc._id, doc })
    return 1
  }, options)
}

/** A document as JSON has it, as one would post it to _bulk_docs by hand. */
export function plain (doc) {
  doc._attachments.tile.data = doc._attachments.tile.data.toString('base64')
  return doc
}

/** @param {Iterable<any>} items @param {(item: any) => Promise<number>} write @param {RawOptions} options */
async function writeAll (items, write, { concurrency = 1, signal, deadline = Infinity }) {
  let written = 0
  await pMap(untilTime(items, deadline), async item => {
    const count = await write(item) // added after the await: other writes finish meanwhile
    written += count
  }, { concurrency, signal })
  return written
}

function * untilTime (items, deadline) {
  for (const item of items) {
    yield item
    if (performance.now() >= deadline) return
  }
}

function * batchesOf (documents, batch) {
  let docs = []
  for (const doc of documents) {
    if (docs.push(doc) < batch) continue
    yield docs
    docs = []
  }
  if (docs.length) yield docs
}
