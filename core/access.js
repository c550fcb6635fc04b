// Who may read and who may write a store, from the `_security` of its database, and what is wrong with it. CouchDB
// enforces the readers (`members`), our validation function the writers (`tilecouch.writers`).

export const WRITER_ROLE = 'tilecouch-writer'

/**
 * @typedef {{names: string[], roles: string[]}} Group
 *
 * @typedef {object} Wanted what is not given stays
 * @property {boolean} [public] true: everybody may read; false: only readers and writers
 * @property {Partial<Group>} [readers] closes the store
 * @property {Partial<Group> | null} [writers] null: no list, so the role tilecouch-writer
 * @property {Partial<Group>} [admins] of the database
 *
 * @typedef {object} Rights
 * @property {boolean} public everybody may read, without a name
 * @property {Group} readers who may read besides admins, if it is not public; its writers are among them
 * @property {Group} writers who may write, besides admins
 * @property {boolean} ownWriters the store has its own list of writers; otherwise the role tilecouch-writer may write
 * @property {Group} admins of the database
 */

/** @param {any} security @returns {Rights} */
export function rightsOf (security) {
  const { writers, own: hasOwnWriters } = writersOf(security)
  const [readers, admins] = [readersOf(security), lists(security.admins)]
  return { public: isOpen(security), readers, writers, ownWriters: hasOwnWriters, admins }
}

/** The new `_security`. Fields of others stay. @param {any} security @param {Wanted} wanted */
export function withRights (security, { public: opens, readers, writers, admins }) {
  const { tilecouch: ourFields = {}, ...others } = security
  const { writers: stored, closed, ...rest } = ourFields
  const newWriters = writers ? lists(writers) : undefined
  const allWriters = writers === undefined ? stored : newWriters
  const closes = opens === false || readers !== undefined
  const isClosed = closes || (!opens && !isOpen(security))
  const isMarked = closes || (closed && isClosed)
  const tilecouch = { ...rest, ...(allWriters && { writers: allWriters }), ...(isMarked && { closed: true }) }
  const hasOwn = Object.keys(tilecouch).length > 0
  const next = { ...others, ...(hasOwn && { tilecouch }), ...(admins && { admins: lists(admins) }) }
  if (!isClosed) return opens ? { ...next, members: { names: [], roles: [] } } : next
  if (!closes && (!writers || isUntouched(security))) return next // still unpublished
  return { ...next, members: membersOf(readers ?? (closes ? undefined : readersOf(security)), allWriters) }
}

/** Writers must be readers, too: CouchDB checks that first. An empty list would mean everybody, so it names admins. */
function membersOf (readers, writers) {
  const join = kind => [...new Set([...lists(readers)[kind], ...lists(writers)[kind]])]
  const [names, roles] = [join('names'), join('roles')]
  return { names, roles: names.length || roles.length ? roles : ['_admin'] }
}

/**
 * What is wrong with the rights, each with a stable code.
 * @param {Rights & {validation: 'ours' | 'another' | 'none', party: boolean}} access party: the server has no admin
 * @returns {{code: string, kind?: 'names' | 'roles', name?: string}[]} kind, name: whom it is about
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
    const shutOut = writers[kind].filter(one => !readers[kind].includes(one))
    faults.push(...shutOut.map(name => ({ code: 'WRITER_SHUT_OUT', kind, name })))
  }
  return faults
}

/** Only the strings: `_security` may have been edited by hand. @returns {Group} */
export const lists = (/** @type {any} */ group) => ({ names: texts(group?.names), roles: texts(group?.roles) })

const texts = list => Array.isArray(list) ? list.filter(item => typeof item === 'string') : []

/** Whether everybody may read: without members CouchDB asks for no name. */
export const isOpen = ({ members } = /** @type {any} */ ({})) => !members?.names?.length && !members?.roles?.length

/** Whether the rights are as CouchDB creates them: for admins only, set by nobody. */
export const isUntouched = (/** @type {any} */ { members = {}, admins = {}, tilecouch }) =>
  !tilecouch?.closed && !members.names?.length && !admins.names?.length &&
  members.roles?.length > 0 && members.roles.every(role => role === '_admin')

/** @returns {Group} who may read, besides admins */
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

/** What a user may do. @param {{name: string | null, roles: string[]}} session @param {any} security @returns {User} */
export function userOf (session, security) {
  const isServerAdmin = session.roles.includes('_admin')
  const isAdmin = isServerAdmin || isListed(session, security?.admins)
  const isWriter = isAdmin || isListed(session, writersOf(security ?? {}).writers)
  return { name: session.name, roles: session.roles, isServerAdmin, isAdmin, isWriter }
}
