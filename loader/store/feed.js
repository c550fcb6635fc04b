// One connection to _changes, line by line, until it ends, fails or falls silent. A connection that is half open neither
// ends nor fails: that no heartbeat comes is the only sign of it.
import { request } from 'undici'
import { TilecouchError } from '../errors.js'
import { childSignal } from './child-signal.js'

/**
 * @typedef {{seq: string | number | null, id: string, changes: {rev: string}[], deleted?: boolean}} Change
 * @typedef {{seq: string | number | undefined, heard: boolean}} End seq: how far it got, when it says so; heard: whether anything came at all
 */

/**
 * @param {import('./couch.js').Couch} couch
 * @param {object} options
 * @param {Record<string, any>} options.query
 * @param {number} options.silence milliseconds without a sign after which the connection is given up
 * @param {AbortSignal} options.signal
 * @param {() => void} options.onSign told of every sign of life
 * @param {(change: Change) => void} options.onChange
 * @returns {Promise<End>}
 */
export async function readFeed (couch, { query, silence, signal, onSign, onChange }) {
  const { origin, path, headers } = couch.access
  const quiet = childSignal(signal)
  const watchdog = setTimeout(quiet.end, silence)
  const end = { seq: undefined, heard: false }
  try {
    // not by fetch: its tie to a signal is gone after a collection of garbage, and then this would never end
    const response = await request(`${origin}${path}/_changes?${new URLSearchParams(query)}`, {
      headers: { accept: 'application/json', ...headers },
      headersTimeout: 0, // the watchdog sees to both
      bodyTimeout: 0,
      signal: quiet.signal
    })
    if (response.statusCode !== 200) throw await refusal(couch, response)
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of response.body) {
      watchdog.refresh()
      end.heard = true
      onSign()
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(line, end, onChange, couch)
    }
    return end
  } catch (error) {
    if (error instanceof TilecouchError || signal.aborted) throw error
    const why = quiet.signal.aborted ? `nothing heard for ${silence / 1000} s` : error.cause?.message || error.message
    throw Object.assign(new TilecouchError('UNREACHABLE', { url: couch.url, why }), { heard: end.heard, silent: quiet.signal.aborted })
  } finally {
    clearTimeout(watchdog)
    quiet.end() // a connection that somebody threw in the middle of is not read on
  }
}

/** A line of a continuous feed, or of a long poll, whose changes stand in lines of an array. */
function take (line, end, onChange, couch) {
  const text = line.trim().replace(/,$/, '')
  if (text === '' || text === '{"results":[' || text === ']') return // a heartbeat, or the frame of a long poll
  const last = /^"last_seq":\s*("[^"]*"|\d+)/.exec(text)
  if (last) {
    end.seq = JSON.parse(last[1])
    return
  }
  let row
  try {
    row = JSON.parse(text)
  } catch {
    throw new TilecouchError('BAD_ANSWER', { url: couch.url, why: `a change that is no JSON: ${text.slice(0, 60)}` })
  }
  if (row.id !== undefined && row.changes?.[0]) onChange(row)
  else if (row.last_seq !== undefined) end.seq = row.last_seq
  else if (row.error) throw new TilecouchError('COUCHDB_ERROR', { url: couch.url, status: 500, reason: row.reason ?? row.error })
}

async function refusal (couch, { statusCode: status, body }) {
  const answer = /** @type {any} */ (await body.json().catch(() => ({})))
  const reason = answer?.reason ?? `status ${status}`
  if (status === 401) return new TilecouchError('UNAUTHORIZED', { url: couch.url })
  if (status === 403) return new TilecouchError('FORBIDDEN', { url: couch.url, reason })
  if (status === 404 && typeof answer?.error !== 'string') return new TilecouchError('BAD_ANSWER', { url: couch.url, why: '404, and not in its words' })
  if (status === 404) return new TilecouchError('DATABASE_NOT_FOUND', { db: couch.db })
  return new TilecouchError('COUCHDB_ERROR', { url: couch.url, status, reason })
}
