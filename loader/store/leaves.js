// What _bulk_get answers: every leaf of every document asked for, as JSON or as multipart. One of them is the winner.
import { TilecouchError } from '../../core/index.js'
import { bulkGetRows } from '../../core/bulk-answer.js'
import { winnerFirst } from '../../core/mirror/index.js'

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
export const winnerOf = (leaves = []) => leaves.reduce((best, leaf) => !best || isBefore(leaf, best) ? leaf : best, undefined)

const isBefore = (a, b) => (Number(Boolean(a._deleted)) - Number(Boolean(b._deleted)) || winnerFirst(a, b)) < 0
