// Who may read and who may write a store: read it, describe it, set it. Everything is kept in the database's
// `_security`: CouchDB enforces the readers (`members`), our validation function the writers (`tilecouch.writers`).
//
//   const access = await accessOf(store) // {public, readers, writers, admins, warnings, …}
//   await setAccess(store, { readers: { roles: ['staff'] } })
import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { TilecouchError } from './errors.js'
import { withoutComments } from './couchapp/compose.js'
import { Couch } from './store/couch.js'
import { WRITER_ROLE } from './store/index.js'

const VALIDATION = new URL('../_design/tiles/validate_doc_update.js', import.meta.url)

/**
 * @typedef {{names: string[], roles: string[]}} Group
 *
 * @typedef {object} Access
 * @property {string} url
 * @property {boolean} public everybody may read, without a name
 * @property {Group} readers who may read besides admins, if it is not public; its writers are among them
 * @property {Group} writers who may write, besides admins
 * @property {boolean} ownWriters the store has its own list of writers; otherwise the role tilecouch-writer may write
 * @property {Group} admins of the database
 * @property {'ours' | 'another' | 'none'} validation the function that refuses everybody else's writes
 * @property {boolean} party the server has no admin: everybody may do everything
 * @property {{code: string, text: string}[]} warnings
 *
 * @typedef {object} Wanted what is not given stays
 * @property {boolean} [public] true: everybody may read; false: only readers and writers
 * @property {Partial<Group>} [readers] closes the store
 * @property {Partial<Group> | null} [writers] null: no list, so the role tilecouch-writer
 * @property {boolean} [dryRun]
 */

/** @param {import('./store/index.js').Store} store @returns {Promise<Access>} */
export async function accessOf (store) {
  return describe(store.url, await store.security(), await factsOf(store.couch))
}

const factsOf = async couch => ({ validation: await validationOf(couch), party: await isParty(couch) })

/** @returns {Access} */
function describe (url, security, { validation, party }) {
  const { writers, own } = writersOf(security)
  const [readers, admins] = [readersOf(security), lists(security.admins)]
  const access = { url, public: isOpen(security), readers, writers, ownWriters: own, admins, validation, party }
  return { ...access, warnings: warningsOf(access) }
}

/**
 * Changes the rights. `_security` has no revisions: of two changes at once the second wins.
 * @param {import('./store/index.js').Store} store @param {Wanted} wanted
 * @returns {Promise<{before: Access, after: Access, changed: boolean, dryRun: boolean}>}
 */
export async function setAccess (store, { dryRun = false, ...wanted }) {
  const security = await store.security()
  const facts = await factsOf(store.couch)
  const before = describe(store.url, security, facts)
  const next = changed(security, wanted)
  const isNew = !isDeepStrictEqual(next, security)
  if (isNew && isOpen(next) && !before.public && facts.validation === 'none') {
    throw new TilecouchError('NO_VALIDATION', { url: store.url })
  }
  if (isNew && !dryRun) {
    await requireAdmin(store, security) // CouchDB would answer "no_majority"
    await store.secure(next)
  }
  const stored = isNew && !dryRun ? await store.security() : next
  return { before, after: describe(store.url, stored, facts), changed: isNew, dryRun }
}

/** The new `_security`. Fields of others stay. @param {any} security @param {Wanted} wanted */
function changed (security, { public: opens, readers, writers }) {
  const { tilecouch: own = {}, ...others } = security
  const { writers: stored, closed, ...rest } = own
  const named = writers === undefined ? stored : writers === null ? undefined : lists(writers)
  const closes = opens === false || readers !== undefined
  const isClosed = closes || (!opens && !isOpen(security))
  const isMarked = closes || (closed && isClosed)
  const tilecouch = { ...rest, ...(named && { writers: named }), ...(isMarked && { closed: true }) }
  const next = { ...others, ...(Object.keys(tilecouch).length && { tilecouch }) }
  if (!isClosed) return opens ? { ...next, members: { names: [], roles: [] } } : next
  if (!closes && (!writers || isUntouched(security))) return next // still unpublished
  return { ...next, members: membersOf(readers ?? (closes ? undefined : readersOf(security)), named) }
}

/** Writers must be readers, too: CouchDB checks that first. An empty list would mean everybody, so it names admins. */
function membersOf (readers, writers) {
  const join = kind => [...new Set([...lists(readers)[kind], ...lists(writers)[kind]])]
  const [names, roles] = [join('names'), join('roles')]
  return { names, roles: names.length || roles.length ? roles : ['_admin'] }
}

async function requireAdmin (store, security) {
  const { userCtx } = await store.couch.request({ path: '_session', server: true })
  if (isOneOf(userCtx, { roles: ['_admin'] }) || isOneOf(userCtx, security.admins)) return
  const who = userCtx.name ?? 'a request without a name'
  const reason = `${who} is not an admin of it, and only admins may change rights`
  throw new TilecouchError('FORBIDDEN', { url: store.url, reason })
}

/** @returns {Promise<Access['validation']>} */
async function validationOf (couch) {
  const rows = await couch.page({ startkey: '_design/', endkey: '_design0', include_docs: true })
  const functions = rows.map(({ doc }) => doc?.validate_doc_update).filter(found => typeof found === 'string')
  const own = withoutComments(await readFile(VALIDATION, 'utf8'))
  return functions.includes(own) ? 'ours' : functions.length ? 'another' : 'none'
}

/** Asks without a name. */
async function isParty ({ url, options: { retries, firstDelay, longestDelay } }) {
  const anonymous = new Couch(url, { retries, firstDelay, longestDelay, ambient: false })
  try {
    const { userCtx } = await anonymous.request({ path: '_session', server: true })
    return userCtx?.roles?.includes('_admin') === true
  } catch (error) {
    if (['UNAUTHORIZED', 'FORBIDDEN'].includes(error.code)) return false
    throw error
  }
}

/** What is wrong with the rights, each with a stable code. */
function warningsOf ({ public: isPublic, readers, writers, ownWriters, validation, party }) {
  const found = []
  const warn = (code, text) => found.push({ code, text })
  const deploys = 'the store has no validation function. `tilecouch push` deploys it.'
  if (party) {
    warn('EVERYBODY_IS_ADMIN', 'This server has no admin: everybody may do everything. ' +
      'Give it an admin, or let it listen on this machine only.')
  } else if (isPublic && validation === 'none') {
    warn('EVERYBODY_WRITES', `EVERYBODY MAY WRITE: everybody may read, and ${deploys}`)
  } else if (validation === 'none' && (readers.names.length || readers.roles.length)) {
    warn('READERS_WRITE', `Everybody who may read may write: ${deploys}`)
  }
  if (validation === 'another') {
    warn('OTHER_VALIDATION', 'The validation function is not that of this tilecouch. `tilecouch push` deploys that.')
  }
  if (isPublic || !ownWriters) return found
  for (const [kind, what] of [['names', 'user'], ['roles', 'role']]) {
    for (const name of writers[kind].filter(one => !readers[kind].includes(one))) {
      warn('WRITER_SHUT_OUT', `the ${what} ${name} may not write, since CouchDB does not let it read: set the writers again.`)
    }
  }
  return found
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
  const own = tilecouch?.writers !== undefined
  return { own, writers: own ? lists(tilecouch.writers) : { names: [], roles: [WRITER_ROLE] } }
}

/** @param {{name: string | null, roles: string[]}} user @param {any} group */
function isOneOf ({ name, roles }, group) {
  const listed = lists(group)
  return (name !== null && listed.names.includes(name)) || listed.roles.some(role => roles.includes(role))
}

/** Whether a user may write tiles, provided that CouchDB lets them read. */
export const mayWrite = (user, security) =>
  isOneOf(user, { roles: ['_admin'] }) || isOneOf(user, security.admins) || isOneOf(user, writersOf(security).writers)
