// Reads _changes over one connection, line by line, until the connection ends, fails or is silent. A half-open
// connection does not end or fail: only the heartbeat is missing.
import { TilecouchError } from '../errors.js'

/**
 * @typedef {{seq: string | number | null, id: string, changes: {rev: string}[], deleted?: boolean}} Change
 *
 * @param {import('./client.js').CouchClient} couch
 * @param {object} options
 * @param {Record<string, any>} options.query
 * @param {number} options.silence milliseconds without a byte, after which the connection is closed
 * @param {AbortSignal} options.signal
 * @param {() => void} options.onSign called with every piece that arrives
 * @param {(change: Change) => void} options.onChange
 * @returns {Promise<string | number | undefined>} the last sequence, if the feed contains one
 */
export async function readFeed (couch, { query, silence, signal, onSign, onChange }) {
  const decoder = new TextDecoder()
  let [incompleteLine, lastSequence] = ['', undefined]
  let lineError // kept here because the client would treat it as a broken connection
  const onPiece = piece => {
    onSign()
    const lines = (incompleteLine + decoder.decode(piece, { stream: true })).split('\n')
    incompleteLine = lines.pop() ?? ''
    try {
      for (const line of lines) lastSequence = readLine(line, onChange, couch) ?? lastSequence
    } catch (error) {
      lineError = error
      throw error
    }
  }
  try {
    await couch.request({ path: '_changes', qs: query, retries: 0, timeout: silence, signal, onPiece })
    return lastSequence
  } catch (error) {
    throw lineError ?? error
  }
}

/** Reads a line of a continuous feed, or of a long poll, whose array has one change per line. */
function readLine (line, onChange, couch) {
  const text = line.trim().replace(/,$/, '')
  if (['', '{"results":[', ']'].includes(text)) return undefined // a heartbeat, or the frame of a long poll
  const lastSequence = /^"last_seq":\s*("[^"]*"|\d+)/.exec(text)
  if (lastSequence) return JSON.parse(lastSequence[1])
  let row
  try {
    row = JSON.parse(text)
  } catch {
    const why = `a change that is no JSON: ${text.slice(0, 60)}`
    throw new TilecouchError('BAD_ANSWER', { url: couch.url, why })
  }
  const { id, changes, last_seq: sequence, error, reason = error } = row
  if (id !== undefined && changes?.[0]) onChange(row)
  else if (sequence === undefined && error) {
    throw new TilecouchError('COUCHDB_ERROR', { url: couch.url, status: 500, reason })
  }
  return sequence
}
