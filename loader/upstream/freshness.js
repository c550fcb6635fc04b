// Until when an answer of an upstream holds, and from when: read from its headers as RFC 9111 says, as far as that makes sense.
import { addSeconds, fromSeconds, toSeconds } from '../../core/index.js'

const SHORTEST = 60 // seconds a tile holds at least, whatever the upstream says: nobody's map changes for every reader
const LONGEST = 31536000 // seconds it holds at most; some say a hundred years and mean "long"
const FIRST_MAPS = '1995-01-01T00:00:00Z' // a Last-Modified before that is a clock that was never set

/** @typedef {Record<string, string | string[] | undefined>} Headers names in small letters */

/** One line, whatever was sent. @param {Headers} headers @param {string} name */
export const headerOf = (headers, name) => {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** An HTTP date in seconds since 1970, or nothing. */
function dateOf (text) {
  const time = text ? Date.parse(text) : NaN
  return Number.isFinite(time) ? Math.floor(time / 1000) : undefined
}

/**
 * When a tile that was fetched or checked now expires: null for never.
 * @param {Headers} headers
 * @param {{expires: 'layer' | 'upstream' | number, ttl?: number, now: string}} options ttl: seconds, of the layer
 * @returns {string | null}
 */
export function expiryFrom (headers, { expires, ttl, now }) {
  const own = ttl ? addSeconds(now, ttl) : null
  if (typeof expires === 'number') return addSeconds(now, expires)
  if (expires === 'layer') return own
  const seconds = lifetime(headers)
  return seconds === undefined ? own : addSeconds(now, Math.min(Math.max(seconds, SHORTEST), LONGEST))
}

/** Seconds the upstream promises, or nothing when it does not say. We are a cache that many share. */
function lifetime (headers) {
  const directives = new Map((headerOf(headers, 'cache-control') ?? '').toLowerCase().split(',').map(part => {
    const [name, value = ''] = part.trim().split('=')
    return [name.trim(), value.trim().replace(/^"(.*)"$/, '$1')]
  }))
  if (['no-store', 'no-cache', 'private'].some(name => directives.has(name))) return 0
  const age = /^\d{1,10}$/.test(headerOf(headers, 'age') ?? '') ? Number(headerOf(headers, 'age')) : 0
  for (const name of ['s-maxage', 'max-age']) {
    const value = directives.get(name)
    if (value !== undefined) return /^\d{1,15}$/.test(value) ? Number(value) - age : 0
  }
  const expires = headerOf(headers, 'expires')
  if (expires === undefined) return undefined
  const date = dateOf(headerOf(headers, 'date')) ?? Math.floor(Date.now() / 1000)
  return (dateOf(expires) ?? date) - date - age // "0" and other nonsense means: expired
}

/**
 * When the upstream says the tile last changed, if that can be true.
 * @param {Headers} headers
 * @param {string} now
 */
export function modifiedFrom (headers, now) {
  const seconds = dateOf(headerOf(headers, 'last-modified'))
  if (seconds === undefined || seconds > toSeconds(now)) return undefined
  const time = fromSeconds(seconds)
  return time >= FIRST_MAPS ? time : undefined
}

/** Seconds of a Retry-After, given as seconds or as a date. @param {Headers} headers */
export function retryAfter (headers) {
  const text = headerOf(headers, 'retry-after')
  if (text === undefined) return undefined
  if (/^\d{1,7}$/.test(text.trim())) return Number(text)
  const seconds = dateOf(text)
  return seconds === undefined ? undefined : Math.max(0, seconds - Math.floor(Date.now() / 1000))
}

/** What a later request is sent to ask whether anything changed. What could not be sent back is left out. @param {Headers} headers */
export function validatorsFrom (headers) {
  const etag = headerOf(headers, 'etag')
  const lastModified = headerOf(headers, 'last-modified')
  return {
    ...(etag && /^(W\/)?"[!#-~]{0,250}"$/.test(etag) && { etag }),
    ...(lastModified && lastModified.length < 40 && /^[ -~]*$/.test(lastModified) && dateOf(lastModified) !== undefined && { lastModified })
  }
}
