// Decides which addresses an upstream may have. Neither the author of a layer nor a redirect may lead into the network
// of this machine. The address of the connection counts, not its name, which may change.
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { buildConnector } from 'undici'
import { TilecouchError } from '../../errors.js'

const familyOf = address => isIPv6(address) ? 'ipv6' : 'ipv4'

/** Addresses outside of the public internet: the registries of special addresses of IANA, and multicast. */
const INNER = blockListsOf([
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '224.0.0.0/4', '240.0.0.0/4',
  // of IPv6 only 2000::/3 is public, without Teredo and the like, documentation, 6to4
  '::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'
])

/** Two lists, since a BlockList of both families takes an IPv4 address for a part of an IPv6 network. */
function blockListsOf (networks) {
  const lists = { 4: new BlockList(), 6: new BlockList() }
  for (const network of networks) {
    const [address, bits] = network.split('/')
    lists[isIP(address)].addSubnet(address, +bits, familyOf(address))
  }
  return lists
}

/** @param {ReturnType<typeof blockListsOf>} lists @param {string} address */
const includes = (lists, address) => lists[isIP(address)].check(address, familyOf(address))

const EMBEDDED = /^(?:::ffff|64:ff9b:):([\da-f]{1,4}):([\da-f]{1,4})$/ // IPv4 in IPv6: mapped, and behind a NAT64

/** An address without a zone; an IPv4 address that is written as an IPv6 one as IPv4. */
function plain (address) {
  if (!isIPv6(address)) return address
  const short = withoutBrackets(new URL(`http://[${address.replace(/%.*/, '')}]`).hostname)
  const [, ...halves] = EMBEDDED.exec(short) ?? []
  if (!halves.length) return short
  return halves.map(half => parseInt(half, 16)).flatMap(half => [half >> 8, half & 255]).join('.')
}

const withoutBrackets = host => host.replace(/^\[|\]$/g, '')
const nameOf = host => host.toLowerCase().replace(/\.$/, '')

/** @typedef {{host?: string, lists?: ReturnType<typeof blockListsOf>, port?: number}} Entry with a host or lists */

/** @param {string} text @returns {Entry} */
function parse (text) {
  const [, network, bits] = /^([\da-f.:]+)\/(\d{1,3})$/i.exec(text) ?? []
  const mostBits = address => isIPv6(address) ? 128 : 32
  if (network) return isIP(network) && +bits <= mostBits(network) ? { lists: blockListsOf([text]) } : refuse(text)
  const [, host, port] = /^(\[.+\]|[^\s:/?#@[\]\\]+)(?::(\d{1,5}))?$/.exec(isIPv6(text) ? `[${text}]` : text) ?? []
  if (host === undefined || +(port ?? 1) > 65535 || !URL.canParse(`http://${host}`)) return refuse(text)
  const address = withoutBrackets(new URL(`http://${host}`).hostname)
  const plainAddress = plain(address)
  const where = isIP(address)
    ? { lists: blockListsOf([`${plainAddress}/${mostBits(plainAddress)}`]) }
    : { host: nameOf(address) }
  return { ...where, ...(port !== undefined && { port: +port }) }
}

/** @returns {never} */
function refuse (value) {
  const why = 'it takes host names, addresses and networks, such as maps.intranet, 127.0.0.1:8081 and 10.0.0.0/8; * ' +
    'for all'
  throw new TilecouchError('BAD_OPTION', { option: 'upstreamNetworks', value, why })
}

/** Whether an address is one of this machine, public or not: its firewall does not protect it from itself. */
const isOwnAddress = address =>
  Object.values(networkInterfaces()).some(entries => entries?.some(entry => plain(entry.address) === address))

export class Networks {
  #isOpen
  /** @type {Entry[]} */
  #entries
  #lookup

  /**
   * @param {readonly string[]} [allowed] inner ones: host names, addresses, networks; the first two also with a port
   * @param {{lookup?: typeof systemLookup}} [options]
   */
  constructor (allowed = [], { lookup = systemLookup } = {}) {
    this.#isOpen = allowed.includes('*')
    this.#entries = allowed.filter(text => text !== '*').map(parse)
    this.#lookup = lookup
  }

  /**
   * @param {string} address
   * @param {string} host its name in the request
   * @param {number} port
   */
  allows (address, host, port) {
    if (this.#isOpen) return true
    const plainAddress = plain(address)
    const isListed = entry => entry.lists ? includes(entry.lists, plainAddress) : entry.host === nameOf(host)
    if (this.#entries.some(entry => (entry.port ?? port) === port && isListed(entry))) return true
    return !includes(INNER, plainAddress) && !isOwnAddress(plainAddress)
  }

  /**
   * Connects as undici's own does, but only to addresses that are allowed.
   * @param {number} timeout milliseconds
   * @returns {import('undici').buildConnector.connector}
   */
  connector (timeout) {
    return (target, callback) => {
      const { hostname, protocol } = target
      const port = +target.port || (protocol === 'https:' ? 443 : 80)
      // an address is not looked up
      if (isIP(hostname) && !this.allows(hostname, hostname, port)) {
        return process.nextTick(callback, refusal(hostname, hostname, port), null)
      }
      // one connector for each connection, since a look-up does not get the port
      buildConnector({ timeout, lookup: this.#checkedLookup(port) })(target, callback)
    }
  }

  /** Looks a name up, without addresses that are not allowed. @param {number} port */
  #checkedLookup (port) {
    return (/** @type {string} */ host, /** @type {any} */ options, /** @type {Function} */ callback) => {
      this.#lookup(host, { ...options, all: true }, (error, /** @type {any} */ addresses) => {
        if (error) return callback(error)
        const allowed = addresses.filter(({ address }) => this.allows(address, host, port))
        if (addresses.length && !allowed.length) return callback(refusal(host, addresses[0].address, port))
        if (options.all) callback(null, allowed)
        else callback(null, allowed[0]?.address, allowed[0]?.family)
      })
    }
  }
}

/** The error of a connection that is not allowed. */
function refusal (host, address, port) {
  const shown = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const error = new Error('an address of an inner network')
  return Object.assign(error, { code: 'ADDRESS_REFUSED', address: host === address ? shown : `${host} (${shown})` })
}
