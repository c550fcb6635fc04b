// Reads from the headers of an upstream until when its answer is fresh, and when it last changed: by RFC 9111, within
// limits.
import { addSeconds, fromSeconds, toSeconds } from '../../../core/index.js'

const SHORTEST = 60 // seconds a tile is fresh at least, whatever the upstream says
const LONGEST = 31536000 // seconds it is fresh at most; some upstreams say a hundred years
const FIRST_MAPS = '1995-01-01T00:00:00Z' // an earlier Last-Modified comes from a clock that was never set

/** @typedef {Record<string, string | string[] | undefined>} Headers names in small letters */

/** A header as one line. @param {Headers} headers @param {string} name */
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
  const layerExpiry = ttl ? addSeconds(now, ttl) : null
  if (typeof expires === 'number') return addSeconds(now, expires)
  if (expires === 'layer') return layerExpiry
  const seconds = lifetime(headers)
  return seconds === undefined ? layerExpiry : addSeconds(now, Math.min(Math.max(seconds, SHORTEST), LONGEST))
}

/** Seconds that a shared cache may keep the answer, or nothing if the upstream does not say. */
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
  return (dateOf(expires) ?? date) - date - age // "0" and other invalid dates mean: expired
}

/**
 * When the tile last changed, as the upstream states it; undefined if that cannot be true.
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

/** The validators with which a later request asks for changes, if they can be sent. @param {Headers} headers */
export function validatorsFrom (headers) {
  const etag = headerOf(headers, 'etag')
  const lastModified = headerOf(headers, 'last-modified') ?? ''
  const isDate = lastModified.length < 40 && /^[ -~]*$/.test(lastModified) && dateOf(lastModified) !== undefined
  return {
    ...(etag && /^(W\/)?"[!#-~]{0,250}"$/.test(etag) && { etag }),
    ...(isDate && { lastModified })
  }
}
