// Addresses of both sides: of the client, for limits on each client, and of the gateway, for the links in its answers.
import { isIP } from 'node:net'
import { TilecouchError } from '../../loader/errors.js'

const LOOPBACK = /^(127\.|::1$|$)/

/**
 * @param {{headers: import('node:http').IncomingHttpHeaders, socket: {remoteAddress?: string}}} req
 * @returns {string | null} an address, or a network of IPv6; null: a proxy on this machine, for many clients
 */
export function clientAddress ({ headers, socket }, trustProxy) {
  const forwarded = trustProxy ? withoutPort(lastItem(headers['x-forwarded-for'])) : ''
  const address = (isIP(forwarded) ? forwarded : socket.remoteAddress || '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (LOOPBACK.test(address)) return null
  return address.includes(':') ? networkOf(address) : address
}

/** The address of `1.2.3.4:5678`, `[2001:db8::1]:80` or `[2001:db8::1]`, as some proxies write it. */
const withoutPort = text => text.replace(/^\[(.*)\](?::\d{1,5})?$/, '$1').replace(/^([\d.]+):\d{1,5}$/, '$1')

/** The first four groups of an IPv6 address: a client usually has all addresses that begin with them. */
function networkOf (address) {
  const [front, back] = address.toLowerCase().split('::')
  const groups = front.split(':').filter(Boolean)
  const missing = back === undefined ? 0 : 8 - groups.length - back.split(':').filter(Boolean).length
  return [...groups, ...Array(Math.max(0, missing)).fill('0')].slice(0, 4).join(':')
}

/** Limits concurrent uses: of all clients together, and of each address. */
export class AddressLimit {
  #count = 0
  /** @type {Map<string, number>} */
  #each = new Map()

  constructor ({ most = Infinity, each = Infinity }) {
    this.most = most
    this.each = each
  }

  /**
   * @param {string | null} address null: counts only among all clients
   * @returns {(() => void) | undefined} to be called at the end; undefined: the limit is reached
   */
  acquire (address) {
    const count = address === null ? 0 : this.#each.get(address) ?? 0
    if (this.#count >= this.most || count >= this.each) return
    this.#count++
    if (address !== null) this.#each.set(address, count + 1)
    return () => {
      this.#count--
      if (address === null) return
      const remaining = (this.#each.get(address) ?? 0) - 1
      if (remaining > 0) this.#each.set(address, remaining)
      else this.#each.delete(address)
    }
  }
}

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/** Whether a text is a host with or without a port, as in a Host header. */
const isHost = text => HOST.test(text) && URL.canParse(`http://${text}`)

/**
 * The base of the links in answers. Clients write the Host header, so it may be made up: a link from it is for the
 * client that asked, and no shared cache may keep it.
 * @typedef {{base: string, isShared: boolean}} PublicUrl base: ends in a slash; isShared: the same for every client
 *
 * @param {{publicUrl?: string | null}} options
 * @returns {(req: import('node:http').IncomingMessage) => PublicUrl}
 */
export function publicUrlOf ({ publicUrl }) {
  if (publicUrl) return () => ({ base: publicUrl, isShared: true })
  return ({ headers, socket }) => {
    const hostHeader = headers.host?.toLowerCase()
    if (hostHeader && !isHost(hostHeader)) {
      throw new TilecouchError('BAD_REQUEST', { why: 'the Host header is not a host name' })
    }
    // HTTP/1.0 needs no Host
    const { localAddress = '127.0.0.1', localPort = 80 } = socket
    const base = hostHeader ? `http://${hostHeader}/` : `${urlOf(localAddress, localPort)}/`
    return { base, isShared: false }
  }
}

/** `Cache-Control` of an answer with links. @param {PublicUrl} url */
export const cacheControlWith = ({ isShared }, cacheControl) =>
  isShared ? cacheControl : cacheControl.replace(/\bpublic\b/, 'private')

/** The last item, which the nearest proxy wrote: clients can make up the others. */
const lastItem = header => String(header ?? '').split(',').at(-1)?.trim() ?? ''

/** @param {string} host to listen on */
export const urlOf = (host, port) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`
