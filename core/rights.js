// Who may do what in a store, as CouchDB and our validation function decide it. The control room hides what they would
// refuse, and a gateway lets nobody but writers and admins into it.

const WRITER_ROLE = 'tilecouch-writer'

/**
 * @typedef {object} User
 * @property {string | null} name
 * @property {string[]} roles
 * @property {boolean} isServerAdmin of all databases
 * @property {boolean} isAdmin of this database
 * @property {boolean} isWriter
 */

const isIn = (group, { name, roles }) =>
  (name !== null && list(group?.names).includes(name)) || list(group?.roles).some(role => roles.includes(role))

const list = value => Array.isArray(value) ? value : []

/** @param {{name: string | null, roles: string[]}} session @param {any} security of the database @returns {User} */
export function userOf ({ name, roles }, security) {
  const user = { name, roles }
  const isServerAdmin = roles.includes('_admin')
  const isAdmin = isServerAdmin || isIn(security?.admins, user)
  const writers = security?.tilecouch?.writers ?? { roles: [WRITER_ROLE] }
  return { ...user, isServerAdmin, isAdmin, isWriter: isAdmin || isIn(writers, user) }
}
