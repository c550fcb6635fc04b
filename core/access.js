// Reads and changes the access rights of a store in the `_security` of its database, and finds faults in them. CouchDB
// enforces the readers (`members`). Our validation function enforces the writers (`tilecouch.writers`).

export const WRITER_ROLE = 'tilecouch-writer'

/**
 * @typedef {{names: string[], roles: string[]}} Group
 *
 * @typedef {object} Wanted rights to set; absent fields stay as they are
 * @property {boolean} [public] true: everybody may read; false: only readers and writers
 * @property {Partial<Group>} [readers] setting them closes the store
 * @property {Partial<Group> | null} [writers] null: no list, so the role tilecouch-writer
 * @property {Partial<Group>} [admins] of the database
 *
 * @typedef {object} Rights
 * @property {boolean} public everybody may read, without a name
 * @property {Group} readers users and roles that may read a closed store, besides admins; the writers are among them
 * @property {Group} writers users and roles that may write, besides admins
 * @property {boolean} ownWriters the store has its own list of writers; otherwise the role tilecouch-writer may write
 * @property {Group} admins of the database
 */

/** @param {any} security @returns {Rights} */
export function rightsOf (security) {
  const { writers, own: hasOwnWriters } = writersOf(security)
  const [readers, admins] = [readersOf(security), lists(security.admins)]
  return { public: isOpen(security), readers, writers, ownWriters: hasOwnWriters, admins }
}

/** Makes the new `_security`. Fields of other programs stay. @param {any} security @param {Wanted} wanted */
export function withRights (security, { public: opens, readers, writers, admins }) {
  const { tilecouch: ourFields = {}, ...foreignFields } = security
  const { writers: stored, closed, ...otherFields } = ourFields
  const allWriters = writers === undefined ? stored : writers && lists(writers)
  const closes = opens === false || readers !== undefined
  const isClosed = closes || (!opens && !isOpen(security))
  const isMarked = closes || (closed && isClosed)
  const tilecouch = { ...otherFields, ...(allWriters && { writers: allWriters }), ...(isMarked && { closed: true }) }
  const hasOurFields = Object.keys(tilecouch).length > 0
  const newSecurity = { ...foreignFields, ...(hasOurFields && { tilecouch }), ...(admins && { admins: lists(admins) }) }
  if (!isClosed) return opens ? { ...newSecurity, members: { names: [], roles: [] } } : newSecurity
  if (closes) return { ...newSecurity, members: membersOf(readers, allWriters) }
  if (!writers || isUntouched(security)) return newSecurity // still unpublished
  return { ...newSecurity, members: membersOf(readersOf(security), allWriters) }
}

/**
 * Adds the writers to the readers, which CouchDB checks first. An empty list would let everybody read, so it names
 * admins.
 */
function membersOf (readers, writers) {
  const union = kind => [...new Set([...lists(readers)[kind], ...lists(writers)[kind]])]
  const [names, roles] = [union('names'), union('roles')]
  return { names, roles: names.length || roles.length ? roles : ['_admin'] }
}

/**
 * Lists the faults in the rights, each with a stable code.
 * @param {Rights & {validation: 'ours' | 'another' | 'none', party: boolean}} access party: the server has no admin
 * @returns {{code: string, kind?: 'names' | 'roles', name?: string}[]} kind, name: the writer in question
 */
export function faultsOf ({ public: isPublic, readers, writers, ownWriters, validation, party }) {
  /** @type {{code: string, kind?: 'names' | 'roles', name?: string}[]} */
  const faults = []
  if (party) faults.push({ code: 'EVERYBODY_IS_ADMIN' })
  else if (isPublic && validation === 'none') faults.push({ code: 'EVERYBODY_WRITES' })
  else if (validation === 'none' && readers.names.length + readers.roles.length) faults.push({ code: 'READERS_WRITE' })
  if (validation === 'another') faults.push({ code: 'OTHER_VALIDATION' })
  if (isPublic || !ownWriters) return faults
  for (const kind of /** @type {const} */ (['names', 'roles'])) {
    const shutOut = writers[kind].filter(name => !readers[kind].includes(name))
    faults.push(...shutOut.map(name => ({ code: 'WRITER_SHUT_OUT', kind, name })))
  }
  return faults
}

/** Keeps only the strings of a group: an admin may have edited `_security` by hand. @returns {Group} */
export const lists = (/** @type {any} */ group) => ({ names: texts(group?.names), roles: texts(group?.roles) })

const texts = list => Array.isArray(list) ? list.filter(item => typeof item === 'string') : []

/** Whether everybody may read: without members CouchDB asks for no name. */
export const isOpen = ({ members } = /** @type {any} */ ({})) => !members?.names?.length && !members?.roles?.length

/** Whether the rights are still as CouchDB creates them: for admins only. */
export const isUntouched = (/** @type {any} */ { members = {}, admins = {}, tilecouch }) =>
  !tilecouch?.closed && !members.names?.length && !admins.names?.length &&
  members.roles?.length > 0 && members.roles.every(role => role === '_admin')

/** @returns {Group} names and roles that may read, besides admins */
export function readersOf (security) {
  const { names, roles } = lists(security.members)
  return { names, roles: roles.filter(role => role !== '_admin') }
}

/** @returns {{writers: Group, own: boolean}} own: the store has its own list */
export function writersOf ({ tilecouch }) {
  const isOurs = tilecouch?.writers !== undefined
  return { own: isOurs, writers: isOurs ? lists(tilecouch.writers) : { names: [], roles: [WRITER_ROLE] } }
}

/**
 * @typedef {object} User
 * @property {string | null} name
 * @property {string[]} roles
 * @property {boolean} isServerAdmin of all databases
 * @property {boolean} isAdmin of this database
 * @property {boolean} isWriter
 */

/**
 * Whether a group of `_security` lists a user, by the name or by a role.
 * @param {{name: string | null, roles: string[]}} session @param {any} group
 */
export function isListed ({ name, roles }, group) {
  const listed = lists(group)
  return (name !== null && listed.names.includes(name)) || listed.roles.some(role => roles.includes(role))
}

/**
 * Finds the rights of a user.
 * @param {{name: string | null, roles: string[]}} session @param {any} security @returns {User}
 */
export function userOf (session, security) {
  const isServerAdmin = session.roles.includes('_admin')
  const isAdmin = isServerAdmin || isListed(session, security?.admins)
  const isWriter = isAdmin || isListed(session, writersOf(security ?? {}).writers)
  return { name: session.name, roles: session.roles, isServerAdmin, isAdmin, isWriter }
}
