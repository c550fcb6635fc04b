// Reads _changes over one connection, line by line, until it ends, fails or falls silent. A connection that is half
// open neither ends nor fails: the missing heartbeat is the only sign of it.
import { TilecouchError } from '../errors.js'

/**
 * @typedef {{seq: string | number | null, id: string, changes: {rev: string}[], deleted?: boolean}} Change
 *
 * @param {import('./client.js').CouchClient} couch
 * @param {object} options
 * @param {Record<string, any>} options.query
 * @param {number} options.silence milliseconds without a byte after which the connection is given up
 * @param {AbortSignal} options.signal
 * @param {() => void} options.onSign called with every sign of life
 * @param {(change: Change) => void} options.onChange
 * @returns {Promise<string | number | undefined>} the last sequence, if the feed has it
 */
export async function readFeed (couch, { query, silence, signal, onSign, onChange }) {
  const decoder = new TextDecoder()
  let [rest, last] = ['', undefined]
  let thrown // by a line: the client would take it for a broken connection
  const onPiece = piece => {
    onSign()
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    try {
      for (const line of lines) last = readLine(line, onChange, couch) ?? last
    } catch (error) {
      thrown = error
      throw error
    }
  }
  try {
    await couch.request({ path: '_changes', qs: query, retries: 0, timeout: silence, signal, onPiece })
    return last
  } catch (error) {
    throw thrown ?? error
  }
}

/** A line of a continuous feed, or of a long poll, whose changes are lines of an array. */
function readLine (line, onChange, couch) {
  const text = line.trim().replace(/,$/, '')
  if (['', '{"results":[', ']'].includes(text)) return undefined // a heartbeat, or the frame of a long poll
  const last = /^"last_seq":\s*("[^"]*"|\d+)/.exec(text)
  if (last) return JSON.parse(last[1])
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
