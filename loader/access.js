// Who may read a store and who may write into it: looked at, told, and set. All of it stands in the store's `_security`, of
// which CouchDB keeps the readers (`members`) and our validation function the writers (`tilecouch.writers`).
import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { TilecouchError } from '../core/index.js'
import { warningsOf } from './access/warnings.js'
import { isOneOf, isOpen, isUntouched, lists, readersOf, writersOf } from './access/rules.js'
import { withoutComments } from './couchapp/compose.js'
import { Couch } from './store/couch.js'

const VALIDATION = new URL('../_design/tiles/validate_doc_update.js', import.meta.url)

/**
 * @typedef {import('./access/rules.js').Group} Group
 *
 * @typedef {object} Access
 * @property {string} url
 * @property {boolean} public everybody reads, without a name
 * @property {Group} readers whom CouchDB lets read besides admins, when it is not public; its own writers are among them
 * @property {Group} writers who may write besides admins
 * @property {boolean} ownWriters the store names its writers itself; otherwise the role tilecouch-writer writes, as it does everywhere on the server
 * @property {Group} admins of the database
 * @property {'ours' | 'another' | 'none'} validation the function that keeps everybody else from writing
 * @property {boolean} party everybody who reaches the server is its admin
 * @property {{code: string, text: string}[]} warnings
 *
 * @typedef {object} Wanted what is not named stays as it is
 * @property {boolean} [public] true: everybody reads; false: readers and writers alone
 * @property {Partial<Group>} [readers] closes the store
 * @property {Partial<Group> | null} [writers] null: the role tilecouch-writer again
 * @property {boolean} [dryRun]
 */

/** @param {import('./store/index.js').Store} store @returns {Promise<Access>} */
export async function accessOf (store) {
  const [security, validation, party] = [await store.security(), await validationOf(store.couch), await isParty(store.couch)]
  return describe(store.url, security, { validation, party })
}

/** @returns {Access} */
function describe (url, security, { validation, party }) {
  const { writers, own } = writersOf(security)
  const access = {
    url, public: isOpen(security), readers: readersOf(security), writers, ownWriters: own, admins: lists(security.admins), validation, party
  }
  return { ...access, warnings: warningsOf(access) }
}

/**
 * Sets what is wanted. `_security` has no revisions: of two who set it at once the second stays.
 * @param {import('./store/index.js').Store} store @param {Wanted} wanted
 * @returns {Promise<{before: Access, after: Access, changed: boolean, dryRun: boolean}>}
 */
export async function setAccess (store, { dryRun = false, ...wanted }) {
  const security = await store.security()
  const facts = { validation: await validationOf(store.couch), party: await isParty(store.couch) }
  const before = describe(store.url, security, facts)
  const next = changed(security, wanted)
  const isNew = !isDeepStrictEqual(next, security)
  if (isNew && isOpen(next) && !before.public && facts.validation === 'none') throw new TilecouchError('NO_VALIDATION', { url: store.url })
  if (isNew && !dryRun) {
    await requireAdmin(store, security) // CouchDB itself answers "no_majority"
    await store.secure(next)
  }
  return { before, after: describe(store.url, isNew && !dryRun ? await store.security() : next, facts), changed: isNew, dryRun }
}

/**
 * The rules as they are wanted. Whatever else an operator keeps there stays.
 * @param {any} security @param {Omit<Wanted, 'dryRun'>} wanted
 */
function changed (security, { public: opens, readers, writers }) {
  const { tilecouch: { writers: stored, closed, ...rest } = /** @type {any} */ ({}), ...others } = security
  const named = writers === undefined ? stored : writers === null ? undefined : lists(writers)
  const closes = opens === false || readers !== undefined
  const isClosed = closes || (!opens && !isOpen(security))
  const tilecouch = { ...rest, ...(named && { writers: named }), ...((closes || (closed && isClosed)) && { closed: true }) }
  const next = { ...others, ...(Object.keys(tilecouch).length && { tilecouch }) }
  if (!isClosed) return opens ? { ...next, members: { names: [], roles: [] } } : next
  if (!closes && (!writers || isUntouched(security))) return next // what is yet to be published stays so
  return { ...next, members: membersOf(readers ?? (closes ? undefined : readersOf(security)), named) }
}

/** Who may write may read as well, since CouchDB asks that first. An empty list would be everybody: so admins stand there. */
function membersOf (readers, writers) {
  const join = kind => [...new Set([...lists(readers)[kind], ...lists(writers)[kind]])]
  const [names, roles] = [join('names'), join('roles')]
  return { names, roles: names.length || roles.length ? roles : ['_admin'] }
}

async function requireAdmin (store, security) {
  const { userCtx } = await store.couch.request({ path: '_session', server: true })
  if (isOneOf(userCtx, { roles: ['_admin'] }) || isOneOf(userCtx, security.admins)) return
  throw new TilecouchError('FORBIDDEN', { url: store.url, reason: `${userCtx.name ?? 'one without a name'} is no admin of it, and only they set who may do what` })
}

/** @param {Couch} couch @returns {Promise<Access['validation']>} */
async function validationOf (couch) {
  const rows = await couch.page({ startkey: '_design/', endkey: '_design0', include_docs: true })
  const functions = rows.map(({ doc }) => doc?.validate_doc_update).filter(found => typeof found === 'string')
  const own = withoutComments(await readFile(VALIDATION, 'utf8'))
  return functions.includes(own) ? 'ours' : functions.length ? 'another' : 'none'
}

/** Asked without any name. */
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
