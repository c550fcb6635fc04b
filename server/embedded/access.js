// Decides who may do what, as CouchDB 3 does. Server admins may do everything. Database admins may change _security and
// design documents. Members (everybody, if there are none) may do the rest. Pages of other origins may only read.
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
  const userEntries = Object.entries({ ...users, ...(isForAll ? {} : mapValues(admins, asAdmin)) })
  const usersByName = new Map(userEntries.map(([name, { password, roles = [] }]) =>
    [name, { password: digest(password), roles }]))
  const anonymous = { name: null, roles: isForAll ? ['_admin'] : [] }

  function find (name) {
    const user = usersByName.get(name)
    return user && { name, roles: [...user.roles] }
  }

  /** Returns the user, if the password is right. @param {string} name */
  function check (name, password) {
    const isRight = timingSafeEqual(usersByName.get(name)?.password ?? digest(''), digest(password))
    return isRight ? find(name) : undefined
  }

  /** Returns the user that the Authorization of a request names. */
  function userOf (headers) {
    const [, encoded] = /^basic\s+(\S+)\s*$/i.exec(headers.authorization ?? '') ?? []
    // if there are no users, a name (from COUCHDB_USER, for example) is ignored
    if (encoded === undefined || usersByName.size === 0) return anonymous
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
 * Whether a request comes from a page of this server, from the address bar or from a program. Pages on other ports of
 * the same host are other origins, although they share its cookies.
 * @param {import('node:http').IncomingHttpHeaders} headers
 */
export function isOwnPage ({ origin, host, 'sec-fetch-site': site }) {
  // no page can write this header
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase())
}

/** Names and addresses that no DNS can give to another machine. */
const LOCAL = /^(localhost|[\w-]+\.localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])(:\d{1,5})?$/i

/**
 * Whether a Host header is an address or a name of this machine. A page can connect under a host name of its own that
 * leads here (DNS rebinding). For the browser, this store is then the server of the page, which may read it.
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
  const requestedMethod = headers['access-control-request-method']
  if (method !== 'OPTIONS' || requestedMethod === undefined) return false
  const isRead = requestedMethod === 'GET' || requestedMethod === 'HEAD' ||
    (requestedMethod === 'POST' && isReading(url))
  res.writeHead(isRead ? 204 : 405, isRead ? {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST',
    'Access-Control-Allow-Headers': 'Accept, Content-Type, If-None-Match, Range',
    'Access-Control-Max-Age': '600'
  } : { Allow: 'GET, HEAD, POST' }).end()
  return true
}

function isReading (url) {
  const [, ...parts] = url.replace(/\?.*/, '').split('/').filter(Boolean) // the first part is the database
  return READS.test(parts.join('/').replace(/^_design\/[^/]+\/_rewrite\/db\//, ''))
}
