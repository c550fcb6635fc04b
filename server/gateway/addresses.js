// Addresses of both sides: whose request this is, for limits that count each client by itself, and where clients reach
// the gateway, for the links in its answers.
import { isIP } from 'node:net'

const LOOPBACK = /^(127\.|::1$|$)/

/**
 * @param {{headers: import('node:http').IncomingHttpHeaders, socket: {remoteAddress?: string}}} req
 * @param {boolean} trustProxy
 * @returns {string | null} an address, or a network of IPv6; null: a proxy on this machine, behind which anybody may be
 */
export function clientAddress ({ headers, socket }, trustProxy) {
  const forwarded = trustProxy ? lastItem(headers['x-forwarded-for']) : ''
  const address = (isIP(forwarded) ? forwarded : socket.remoteAddress || '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (LOOPBACK.test(address)) return null
  return address.includes(':') ? networkOf(address) : address
}

/** A client with one address of IPv6 has all 2^64 that begin with the same four groups. */
function networkOf (address) {
  const [front, back] = address.toLowerCase().split('::')
  const groups = front.split(':').filter(Boolean)
  const missing = back === undefined ? 0 : 8 - groups.length - back.split(':').filter(Boolean).length
  return [...groups, ...Array(Math.max(0, missing)).fill('0')].slice(0, 4).join(':')
}

export const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/**
 * The base of the links in answers. Clients write the Host header, so it may be made up: a link from it is for the
 * client that
 * asked, and no shared cache may keep it.
 * @typedef {{base: string, isShared: boolean}} PublicUrl base: ends in a slash; isShared: the same for every client
 *
 * @param {{publicUrl?: string | null, publicHosts?: string[] | null, trustProxy?: boolean}} options
 * @returns {(req: import('node:http').IncomingMessage) => PublicUrl}
 */
export function publicUrlOf ({ publicUrl, publicHosts, trustProxy }) {
  if (publicUrl) return () => ({ base: publicUrl, isShared: true })
  const known = publicHosts?.length ? publicHosts : undefined
  return ({ headers, socket }) => {
    const given = headers.host?.toLowerCase()
    const valid = given !== undefined && HOST.test(given) ? given : ownAddress(socket) // HTTP/1.0 needs no Host
    const host = known ? known.find(name => name === given) ?? known[0] : valid
    const protocol = trustProxy && /^https$/i.test(lastItem(headers['x-forwarded-proto'])) ? 'https' : 'http'
    return { base: `${protocol}://${host}/`, isShared: false }
  }
}

/** `Cache-Control` of an answer with such links. @param {PublicUrl} url @param {string} cacheControl */
export const cacheControlWith = ({ isShared }, cacheControl) =>
  isShared ? cacheControl : cacheControl.replace(/\bpublic\b/, 'private')

/** What the nearest proxy wrote: all others may be made up. @param {string | string[] | undefined} header */
const lastItem = header => String(header ?? '').split(',').at(-1)?.trim() ?? ''

function ownAddress ({ localAddress = '127.0.0.1', localPort = 80 }) {
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
}

/** @param {string} host to listen on @param {number} port */
export const urlOf = (host, port) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`
