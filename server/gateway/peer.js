// Who is at the other end, for limits that count each visitor by himself.
import { isIP } from 'node:net'
import { last } from './public-url.js'

const LOOPBACK = /^(127\.|::1$|$)/

/**
 * @param {{headers: import('node:http').IncomingHttpHeaders, socket: {remoteAddress?: string}}} req
 * @param {boolean} trustProxy
 * @returns {string | null} null: a proxy on this machine, behind which anybody may be
 */
export function peerOf ({ headers, socket }, trustProxy) {
  const forwarded = trustProxy ? last(headers['x-forwarded-for']) : ''
  const address = (isIP(forwarded) ? forwarded : socket.remoteAddress || '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (LOOPBACK.test(address)) return null
  return address.includes(':') ? networkOf(address) : address
}

/** Whoever has one address of IPv6 has the 2^64 that begin with the same four groups. */
function networkOf (address) {
  const [front, back] = address.toLowerCase().split('::')
  const groups = front.split(':').filter(Boolean)
  const missing = back === undefined ? 0 : 8 - groups.length - back.split(':').filter(Boolean).length
  return [...groups, ...Array(Math.max(0, missing)).fill('0')].slice(0, 4).join(':')
}
