// What _bulk_get answers: every leaf of every document asked for, as JSON or as multipart. One of them is the winner.
import { TilecouchError } from '../../core/index.js'
import { parseBulkGet as parseMultipart } from '../../core/multipart.js'

/**
 * The documents of an answer in bytes. The embedded store answers JSON whatever is asked for, CouchDB when it is.
 * @param {Buffer} bytes
 * @param {(error: {id: string, error: string, reason: string}) => void} [onError] told of each document that could not be read, most often because there is none
 */
export function parseLeaves (bytes, onError) {
  if (bytes[0] !== 0x7b) return parseMultipart(bytes, onError)
  const answer = parseWhole(bytes)
  if (onError) for (const { docs } of answer.results) for (const { error } of docs) if (error) onError(error)
  return leavesOf(answer).map(withBuffers)
}

/** An answer in JSON; one that is not whole is no answer. @param {Buffer} bytes */
export function parseWhole (bytes) {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw new TilecouchError('BAD_ANSWER', { url: 'the store', why: 'cut off' })
  }
}

/** The documents of an answer in JSON. */
export const leavesOf = answer => answer.results.flatMap(({ docs }) => docs.filter(({ ok }) => ok).map(({ ok }) => ok))

function withBuffers (doc) {
  for (const attachment of Object.values(doc._attachments ?? {})) {
    if (typeof attachment.data === 'string') attachment.data = Buffer.from(attachment.data, 'base64')
  }
  return doc
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
