// Rights that stand in a backup: anybody who can write the file can name himself there. Who would get what is said, and asked,
// before it is given; a signature that was checked is the answer as well.
import { isDeepStrictEqual } from 'node:util'
import { TilecouchError } from '../../core/index.js'
import { isOpen, lists, readersOf, writersOf } from '../access/rules.js'

/**
 * @typedef {object} Change
 * @property {boolean} gains false: loses
 * @property {'admin' | 'write' | 'read' | 'field'} right field: another field of `_security`, which is taken as it is
 * @property {'everybody' | 'user' | 'role' | 'field'} kind
 * @property {string} [name]
 */

const [NOBODY, ADMINS] = [{ names: [], roles: [] }, '_admin']
const KNOWN = ['admins', 'members', 'tilecouch']

/** Who has which right, but for admins of the server. */
function holders (security) {
  const admins = lists(security.admins)
  const readers = readersOf(security)
  const isReadByAll = isOpen(security)
  const mayAnyRead = isReadByAll || readers.names.length || readers.roles.length
  const { own, writers } = writersOf(security)
  return {
    isReadByAll,
    admin: { names: admins.names, roles: admins.roles.filter(role => role !== ADMINS) },
    write: own || mayAnyRead ? writers : NOBODY, // CouchDB asks first who reads; but whoever opens a store opens it to those named, too
    read: isReadByAll ? NOBODY : readers
  }
}

/**
 * Who gets and who loses which right when one `_security` takes the place of another.
 * @param {any} before @param {any} after
 * @returns {Change[]}
 */
export function rightsBetween (before, after) {
  const [old, next] = [holders(before), holders(after)]
  const found = /** @type {Change[]} */ ([])
  const add = (gains, right, kind, name) => found.push({ gains, right, kind, ...(name !== undefined && { name }) })
  for (const right of /** @type {const} */ (['admin', 'write', 'read'])) {
    for (const [kind, list] of /** @type {const} */ ([['user', 'names'], ['role', 'roles']])) {
      for (const name of next[right][list]) if (!old[right][list].includes(name)) add(true, right, kind, name)
      for (const name of old[right][list]) if (!next[right][list].includes(name)) add(false, right, kind, name)
    }
  }
  if (next.isReadByAll !== old.isReadByAll) add(next.isReadByAll, 'read', 'everybody')
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!KNOWN.includes(name) && !isDeepStrictEqual(before[name], after[name])) add(name in after, 'field', 'field', name)
  }
  return found
}

/**
 * May the rights of a backup be given? Not where nobody is there to say so. Throws RESTORE_RIGHTS where somebody said no.
 * @param {Change[]} changes
 * @param {{given: 'give' | 'leave' | ((changes: Change[]) => Promise<boolean>) | undefined, signed: boolean}} said
 * @returns {Promise<boolean>}
 */
export async function mayGive (changes, { given, signed }) {
  if (given === 'leave') return false
  if (given === 'give' || signed || !changes.some(({ gains }) => gains)) return true
  if (given === undefined) return false
  if (await given(changes)) return true
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
 * The `_security` of a file, such that CouchDB and our validation function read it as it is shown: lists of texts, and no `readers`,
 * which CouchDB takes for `members` where there are none.
 * @param {any} security
 */
export function plainSecurity (security) {
  if (!isObject(security)) return null
  const { readers, members = readers, admins, tilecouch, ...others } = security
  const writers = isObject(tilecouch) && tilecouch.writers !== undefined ? { writers: lists(tilecouch.writers) } : {}
  return { ...others, admins: lists(admins), members: lists(members), ...(isObject(tilecouch) && { tilecouch: { ...tilecouch, ...writers } }) }
}

const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)
