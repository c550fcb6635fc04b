// Who asks, and what CouchDB 3 lets them do: server admins everything; database admins its _security and design
// documents; members of a database (everyone, when its members are empty) the rest.
import { createHash, timingSafeEqual } from 'node:crypto'
import { HttpError } from './errors.js'

const digest = text => createHash('sha256').update(text).digest()

/**
 * @param {Record<string, string> | 'everybody'} admins passwords by name
 * @param {Record<string, {password: string, roles?: string[]}> | undefined} users
 */
export function createAuth (admins, users) {
  const party = admins === 'everybody'
  /** @type {Map<string, {password: Buffer, roles: string[]}>} */
  const known = new Map()
  for (const [name, { password, roles = [] }] of Object.entries(users ?? {})) known.set(name, { password: digest(password), roles })
  for (const [name, password] of Object.entries(party ? {} : admins)) known.set(name, { password: digest(password), roles: ['_admin'] })

  return function authenticate (headers) {
    const [, encoded] = /^basic\s+(\S+)\s*$/i.exec(headers.authorization ?? '') ?? []
    // where nobody has a name, one that is given all the same (COUCHDB_USER is set, say) tells nothing
    if (encoded === undefined || known.size === 0) return { name: null, roles: party ? ['_admin'] : [] }
    const text = Buffer.from(encoded, 'base64').toString('utf8')
    const at = text.indexOf(':')
    const name = at < 0 ? text : text.slice(0, at)
    const user = known.get(name)
    const right = timingSafeEqual(user?.password ?? digest(''), digest(at < 0 ? '' : text.slice(at + 1)))
    if (!user || !right) throw new HttpError(401, 'unauthorized', 'Name or password is incorrect.')
    return { name, roles: [...user.roles] }
  }
}

export const isServerAdmin = user => user.roles.includes('_admin')

const listed = (group, user) =>
  (user.name !== null && asList(group?.names).includes(user.name)) || asList(group?.roles).some(role => user.roles.includes(role))

const asList = value => Array.isArray(value) ? value : []

export const isDatabaseAdmin = (user, security) => isServerAdmin(user) || listed(security.admins, user)

function isMember (user, security) {
  const { members } = security
  const open = asList(members?.names).length === 0 && asList(members?.roles).length === 0
  return open || isDatabaseAdmin(user, security) || listed(members, user)
}

export function requireServerAdmin (user) {
  if (!isServerAdmin(user)) throw new HttpError(401, 'unauthorized', 'You are not a server admin.')
}

export const notDatabaseAdmin = user =>
  new HttpError(user.name === null ? 401 : 403, user.name === null ? 'unauthorized' : 'forbidden', 'You are not a db or server admin.')

export function requireDatabaseAdmin (user, security) {
  if (!isDatabaseAdmin(user, security)) throw notDatabaseAdmin(user)
}

export function requireMember (user, security) {
  if (isMember(user, security)) return
  if (user.name === null) throw new HttpError(401, 'unauthorized', 'You are not authorized to access this db.')
  throw new HttpError(403, 'forbidden', 'You are not allowed to access this db.')
}
