// Which addresses an upstream may have. The author of a layer names an address, and a server may redirect to another: neither may
// lead into the network of this machine. What counts is the address that is connected to, not its name, which may change.
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { buildConnector } from 'undici'
import { TilecouchError } from '../errors.js'

const familyOf = address => isIPv6(address) ? 'ipv6' : 'ipv4'

/** What is not the public internet: the registries of special addresses of IANA, and multicast. */
const INNER = blockListsOf([
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24',
  '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
  // of IPv6 only 2000::/3 is public, and of that not: Teredo and the like, documentation, 6to4
  '::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'
])

/** One of two lists: a BlockList of both families takes an IPv4 address for a part of an IPv6 network. */
function blockListsOf (networks) {
  const lists = { 4: new BlockList(), 6: new BlockList() }
  for (const network of networks) {
    const [address, bits] = network.split('/')
    lists[isIP(address)].addSubnet(address, +bits, familyOf(address))
  }
  return lists
}

/** @param {ReturnType<typeof blockListsOf>} lists @param {string} address */
const holds = (lists, address) => lists[isIP(address)].check(address, familyOf(address))

const EMBEDDED = /^(?:::ffff|64:ff9b:):([\da-f]{1,4}):([\da-f]{1,4})$/ // IPv4 in IPv6: mapped, and behind a NAT64

/** An address as it is compared: without a zone, and an IPv4 address that is written as an IPv6 one as itself. */
function plain (address) {
  if (!isIPv6(address)) return address
  const short = withoutBrackets(new URL(`http://[${address.replace(/%.*/, '')}]`).hostname)
  const [, ...halves] = EMBEDDED.exec(short) ?? []
  return halves.length ? halves.map(half => parseInt(half, 16)).flatMap(half => [half >> 8, half & 255]).join('.') : short
}

const withoutBrackets = host => host.replace(/^\[|\]$/g, '')
const nameOf = host => host.toLowerCase().replace(/\.$/, '')

/** @typedef {{host?: string, lists?: ReturnType<typeof blockListsOf>, port?: number}} Entry of a list: either of the first two */

/** @param {string} text @returns {Entry} */
function parse (text) {
  const [, network, bits] = /^([\da-f.:]+)\/(\d{1,3})$/i.exec(text) ?? []
  if (network) return isIP(network) && +bits <= (isIPv6(network) ? 128 : 32) ? { lists: blockListsOf([text]) } : refuse(text)
  const [, host, port] = /^(\[.+\]|[^\s:/?#@[\]\\]+)(?::(\d{1,5}))?$/.exec(isIPv6(text) ? `[${text}]` : text) ?? []
  if (host === undefined || +(port ?? 1) > 65535 || !URL.canParse(`http://${host}`)) return refuse(text)
  const address = withoutBrackets(new URL(`http://${host}`).hostname)
  const where = isIP(address) ? { lists: blockListsOf([`${plain(address)}/${isIPv6(plain(address)) ? 128 : 32}`]) } : { host: nameOf(address) }
  return { ...where, ...(port !== undefined && { port: +port }) }
}

/** @returns {never} */
function refuse (value) {
  throw new TilecouchError('BAD_OPTION', { option: 'upstreamNetworks', value, why: 'it takes host names, addresses and networks, such as maps.intranet, 127.0.0.1:8081 and 10.0.0.0/8; * for all' })
}

/** The address of this machine is in its network, public or not: what its firewall keeps from others it does not keep from itself. */
const isOwn = address => Object.values(networkInterfaces()).some(all => all?.some(own => plain(own.address) === address))

export class Networks {
  #isOpen
  /** @type {Entry[]} */
  #entries
  #lookup

  /**
   * @param {readonly string[]} [open] inner ones that may be asked: host names, addresses, networks; the first two also with a port
   * @param {{lookup?: typeof systemLookup}} [options]
   */
  constructor (open = [], { lookup = systemLookup } = {}) {
    this.#isOpen = open.includes('*')
    this.#entries = open.filter(text => text !== '*').map(parse)
    this.#lookup = lookup
  }

  /**
   * @param {string} address
   * @param {string} host its name in the request
   * @param {number} port
   */
  allows (address, host, port) {
    if (this.#isOpen) return true
    const own = plain(address)
    if (this.#entries.some(entry => (entry.port ?? port) === port && (entry.lists ? holds(entry.lists, own) : entry.host === nameOf(host)))) return true
    return !holds(INNER, own) && !isOwn(own)
  }

  /**
   * Connects as undici's own does, to addresses that are allowed and to no other.
   * @param {number} timeout milliseconds
   * @returns {import('undici').buildConnector.connector}
   */
  connector (timeout) {
    return (target, callback) => {
      const { hostname, protocol } = target
      const port = +target.port || (protocol === 'https:' ? 443 : 80)
      // what is an address already is not looked up
      if (isIP(hostname) && !this.allows(hostname, hostname, port)) return process.nextTick(callback, refusal(hostname, hostname, port), null)
      // of its own for each connection: a look-up is not told the port
      buildConnector({ timeout, lookup: this.#checked(port) })(target, callback)
    }
  }

  /** Looks a name up, and leaves out what must not be asked. @param {number} port */
  #checked (port) {
    return (/** @type {string} */ host, /** @type {any} */ options, /** @type {Function} */ callback) => {
      this.#lookup(host, { ...options, all: true }, (error, /** @type {any} */ found) => {
        if (error) return callback(error)
        const allowed = found.filter(({ address }) => this.allows(address, host, port))
        if (found.length && !allowed.length) return callback(refusal(host, found[0].address, port))
        if (options.all) callback(null, allowed)
        else callback(null, allowed[0]?.address, allowed[0]?.family)
      })
    }
  }
}

/** What a connection fails with; who asked makes an error of the catalogue of it. */
function refusal (host, address, port) {
  const shown = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  return Object.assign(new Error('an address of an inner network'), { code: 'ADDRESS_REFUSED', address: host === address ? shown : `${host} (${shown})` })
}
