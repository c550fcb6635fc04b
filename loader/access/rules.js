// What a store's `_security` says, as our validation function and CouchDB read it.
import { WRITER_ROLE } from '../store/index.js'

/** @typedef {{names: string[], roles: string[]}} Group */

/** Nothing but texts: what somebody wrote there by hand may be anything. @returns {Group} */
export const lists = (/** @type {any} */ group) => ({ names: texts(group?.names), roles: texts(group?.roles) })

const texts = list => Array.isArray(list) ? list.filter(item => typeof item === 'string') : []

/** Whether everybody reads: CouchDB asks nobody who he is where no member is named. */
export const isOpen = ({ members } = /** @type {any} */ ({})) => !members?.names?.length && !members?.roles?.length

/** Whether a door is as CouchDB makes it, for admins alone: nobody has set anything. */
export const isUntouched = (/** @type {any} */ { members = {}, admins = {}, tilecouch }) =>
  !tilecouch?.closed && !members.names?.length && !admins.names?.length && members.roles?.length > 0 && members.roles.every(role => role === '_admin')

/** @returns {Group} of whom the database lets in, but for its admins */
export function readersOf (security) {
  const { names, roles } = lists(security.members)
  return { names, roles: roles.filter(role => role !== '_admin') }
}

/** @returns {{writers: Group, own: boolean}} own: the store names them itself */
export function writersOf ({ tilecouch }) {
  const own = tilecouch?.writers !== undefined
  return { own, writers: own ? lists(tilecouch.writers) : { names: [], roles: [WRITER_ROLE] } }
}

/** @param {{name: string | null, roles: string[]}} user @param {any} group */
export function isOneOf ({ name, roles }, group) {
  const listed = lists(group)
  return (name !== null && listed.names.includes(name)) || listed.roles.some(role => roles.includes(role))
}

/** Whether somebody may write tiles, once CouchDB lets him in. */
export const mayWrite = (user, security) =>
  isOneOf(user, { roles: ['_admin'] }) || isOneOf(user, security.admins) || isOneOf(user, writersOf(security).writers)
