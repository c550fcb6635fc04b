// Who may do what, as CouchDB 3 has it: server admins everything; database admins _security and design documents;
// members of a database (everybody, when its members are empty) the rest. And what pages of other origins may do: read.
import { createHash, timingSafeEqual } from 'node:crypto'
import { isListed, isOpen } from '../../core/access.js'
import { READS } from '../../core/addresses.js'
import { mapValues } from '../../core/values.js'
import { forbidden, unauthorized } from '../http/errors.js'

const digest = text => createHash('sha256').update(text).digest()

/**
 * @param {Record<string, string> | 'everybody'} admins passwords by name
 * @param {Record<string, {password: string, roles?: string[]}>} [users]
 */
export function createAccounts (admins, users = {}) {
  const isForAll = admins === 'everybody'
  const asAdmin = password => ({ password, roles: ['_admin'] })
  const all = Object.entries({ ...users, ...(isForAll ? {} : mapValues(admins, asAdmin)) })
  const usersByName = new Map(all.map(([name, { password, roles = [] }]) =>
    [name, { password: digest(password), roles }]))
  const nobody = { name: null, roles: isForAll ? ['_admin'] : [] }

  function find (name) {
    const user = usersByName.get(name)
    return user && { name, roles: [...user.roles] }
  }

  /** The user with this password, if there is one. @param {string} name */
  function check (name, password) {
    const right = timingSafeEqual(usersByName.get(name)?.password ?? digest(''), digest(password))
    return right ? find(name) : undefined
  }

  /** Whom the Authorization of a request names. */
  function userOf (headers) {
    const [, encoded] = /^basic\s+(\S+)\s*$/i.exec(headers.authorization ?? '') ?? []
    // without any users a given name (of COUCHDB_USER, for example) is ignored
    if (encoded === undefined || usersByName.size === 0) return nobody
    const text = Buffer.from(encoded, 'base64').toString('utf8')
    const colon = text.indexOf(':')
    const user = colon < 0 ? check(text, '') : check(text.slice(0, colon), text.slice(colon + 1))
    if (!user) throw unauthorized('Name or password is incorrect.')
    return user
  }

  return { find, check, userOf }
}

const isServerAdmin = user => user.roles.includes('_admin')

export const isDatabaseAdmin = (user, security) => isServerAdmin(user) || isListed(user, security.admins)

export const isMember = (user, security) =>
  isOpen(security) || isDatabaseAdmin(user, security) || isListed(user, security.members)

export function requireServerAdmin (user) {
  if (!isServerAdmin(user)) throw unauthorized('You are not a server admin.')
}

export function notDatabaseAdmin ({ name }) {
  const refuse = name === null ? unauthorized : forbidden
  return refuse('You are not a db or server admin.')
}

export function requireDatabaseAdmin (user, security) {
  if (!isDatabaseAdmin(user, security)) throw notDatabaseAdmin(user)
}

export function requireMember (user, security) {
  if (isMember(user, security)) return
  if (user.name === null) throw unauthorized('You are not authorized to access this db.')
  throw forbidden('You are not allowed to access this db.')
}

/**
 * Whether a request comes from a page of this server, from the user himself or from a program. Pages on other ports of
 * the same host are other origins, although they share its cookies.
 * @param {import('node:http').IncomingHttpHeaders} headers
 */
export function isOwnPage ({ origin, host, 'sec-fetch-site': site }) {
  // no page can write this header
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase())
}

/** Names of this machine in every DNS. */
const LOCAL = /^(localhost|[\w-]+\.localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])(:\d{1,5})?$/i

/**
 * Whether a Host header is an address or a name of this machine. The store can often be read without a name, and a page
 * can connect under a name of its own that leads here (DNS rebinding): to the browser that is the page's own server.
 * @param {string} [header] missing: no browser
 */
export const isLocalName = header => header === undefined || LOCAL.test(header)

/**
 * Lets pages of any origin read, as on a CouchDB that `tilecouch doctor --fix --cors '*'` has prepared. They may not
 * write: any page that the owner of the store opens can connect. Before anything but plain reads browsers send a
 * preflight request.
 * @returns {boolean} whether this was a preflight request: it is answered
 */
export function allowReaders ({ method = '', url = '', headers }, res) {
  if (headers.origin === undefined) return false
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Access-Control-Expose-Headers', 'Content-Type, Cache-Control, Accept-Ranges, ETag, X-Tilecouch-Time')
  const asked = headers['access-control-request-method']
  if (method !== 'OPTIONS' || asked === undefined) return false
  const reads = asked === 'GET' || asked === 'HEAD' || (asked === 'POST' && isReading(url))
  res.writeHead(reads ? 204 : 405, reads ? {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST',
    'Access-Control-Allow-Headers': 'Accept, Content-Type, If-None-Match, Range',
    'Access-Control-Max-Age': '600'
  } : { Allow: 'GET, HEAD, POST' }).end()
  return true
}

function isReading (url) {
  const [, ...rest] = url.replace(/\?.*/, '').split('/').filter(Boolean) // the first is the database
  return READS.test(rest.join('/').replace(/^_design\/[^/]+\/_rewrite\/db\//, ''))
}
