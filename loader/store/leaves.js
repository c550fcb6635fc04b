// What _bulk_get answers: every leaf of every document asked for, as JSON or as multipart. One of them is the winner.
import { TilecouchError } from '../../core/index.js'
import { bulkGetRows } from '../../core/bulk-answer.js'

/** The rows of an answer in bytes, attachments as buffers. The embedded store answers JSON whatever is asked for, CouchDB when it is. @param {Buffer} bytes */
export function parseRows (bytes) {
  const rows = bulkGetRows(bytes)
  for (const { doc } of rows) if (doc) withBuffers(doc)
  return rows
}

/** An answer in JSON; one that is not whole is no answer. @param {Buffer} bytes */
export function parseWhole (bytes) {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw new TilecouchError('BAD_ANSWER', { url: 'the store', why: 'cut off' })
  }
}

function withBuffers (doc) {
  for (const attachment of Object.values(doc._attachments ?? {})) {
    if (typeof attachment.data === 'string') attachment.data = Buffer.from(attachment.data, 'base64')
  }
}

/** The leaf that CouchDB shows: not deleted, the longest history, then the greater revision. */
export function winnerOf (leaves = []) {
  const rank = leaf => [leaf._deleted ? 0 : 1, parseInt(leaf._rev), leaf._rev]
  return leaves.reduce((best, leaf) => {
    if (!best) return leaf
    const [a, b] = [rank(leaf), rank(best)]
    const first = [0, 1, 2].find(index => a[index] !== b[index])
    return first !== undefined && a[first] > b[first] ? leaf : best
  }, undefined)
}
