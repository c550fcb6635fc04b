// Compares the rights in a backup with those of the database. Anyone who can write the file can add a name to it, so
// the changes are shown and confirmed before they are made.
import { isDeepStrictEqual } from 'node:util'
import { TilecouchError } from '../errors.js'
import { isOpen, lists, readersOf, writersOf } from '../store/access.js'
import { isObject } from '../../core/values.js'

/**
 * @typedef {object} Change
 * @property {boolean} gains false: loses
 * @property {'admin' | 'write' | 'read' | 'field'} right field: another field of `_security`, taken as it is
 * @property {'everybody' | 'user' | 'role' | 'field'} kind
 * @property {string} [name]
 */

const [NOBODY, ADMINS] = [{ names: [], roles: [] }, '_admin']
const KNOWN = ['admins', 'members', 'tilecouch']

/** Lists the users and roles with each right, except for admins of the server. */
function holders (security) {
  const admins = lists(security.admins)
  const readers = readersOf(security)
  const isReadByAll = isOpen(security)
  const mayAnyRead = isReadByAll || readers.names.length || readers.roles.length
  const { own: hasOwnWriters, writers } = writersOf(security)
  return {
    isReadByAll,
    admin: { names: admins.names, roles: admins.roles.filter(role => role !== ADMINS) },
    // writers need to read; in a store with its own list of writers, they may write as soon as it is opened to readers
    write: hasOwnWriters || mayAnyRead ? writers : NOBODY,
    read: isReadByAll ? NOBODY : readers
  }
}

/**
 * Lists the rights that users and roles gain or lose when one `_security` replaces another.
 * @param {any} before @param {any} after
 * @returns {Change[]}
 */
export function rightsBetween (before, after) {
  const [old, next] = [holders(before), holders(after)]
  const changes = /** @type {Change[]} */ ([])
  const add = (gains, right, kind, name) => changes.push({ gains, right, kind, ...(name !== undefined && { name }) })
  for (const right of /** @type {const} */ (['admin', 'write', 'read'])) {
    for (const [kind, list] of /** @type {const} */ ([['user', 'names'], ['role', 'roles']])) {
      for (const name of next[right][list]) if (!old[right][list].includes(name)) add(true, right, kind, name)
      for (const name of old[right][list]) if (!next[right][list].includes(name)) add(false, right, kind, name)
    }
  }
  if (next.isReadByAll !== old.isReadByAll) add(next.isReadByAll, 'read', 'everybody')
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (KNOWN.includes(name) || isDeepStrictEqual(before[name], after[name])) continue
    add(name in after, 'field', 'field', name)
  }
  return changes
}

/**
 * Whether the rights of a backup may be given; false if no user can be asked. Throws RESTORE_RIGHTS if the user
 * declines.
 * @param {Change[]} changes
 * @param {'give' | 'leave' | ((changes: Change[]) => Promise<boolean>) | undefined} permission
 * @returns {Promise<boolean>}
 */
export async function mayGive (changes, permission) {
  if (permission === 'leave') return false
  if (permission === 'give' || !changes.some(({ gains }) => gains)) return true
  if (permission === undefined) return false
  if (await permission(changes)) return true
  throw new TilecouchError('RESTORE_RIGHTS', { who: changes.filter(({ gains }) => gains).map(inWords) })
}

const RIGHTS = { admin: 'becomes an admin', write: 'may write', read: 'may read' }
const LOST = { admin: 'is no admin any more', write: 'may not write any more', read: 'may not read any more' }

/** @param {Change} change */
export function inWords ({ gains, right, kind, name }) {
  if (right === 'field') return `${gains ? 'another field is set' : 'a field is removed'}: ${name}`
  const who = kind === 'everybody' ? 'everybody' : `the ${kind} ${name}`
  return `${who} ${(gains ? RIGHTS : LOST)[right]}${kind === 'everybody' && gains ? ', without a name' : ''}`
}

/**
 * Returns the `_security` of a file in the form in which it is shown, which CouchDB and our validation function read
 * alike: lists of texts, and `members` in place of `readers`, which CouchDB reads if there are no `members`.
 * @param {any} security
 */
export function plainSecurity (security) {
  if (!isObject(security)) return null
  const { readers, members = readers, admins, tilecouch, ...otherFields } = security
  const plain = { ...otherFields, admins: lists(admins), members: lists(members) }
  if (!isObject(tilecouch)) return plain
  const { writers, restoring, ...otherOptions } = tilecouch // restoring: the store was itself being restored
  return { ...plain, tilecouch: { ...otherOptions, ...(writers !== undefined && { writers: lists(writers) }) } }
}
