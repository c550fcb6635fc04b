// Reads, describes and sets who may read and who may write a store. The rights are in the database's `_security`.
// CouchDB enforces the readers (`members`), our validation function the writers (`tilecouch.writers`).
//
//   const access = await accessOf(store) // {public, readers, writers, admins, warnings, …}
//   await setAccess(store, { readers: { roles: ['staff'] } })
import { isDeepStrictEqual } from 'node:util'
import { faultsOf, isOpen, rightsOf, userOf, withRights } from '../../core/access.js'
import { ignoring } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { Couch } from './couch.js'
import { readValidation, withoutComments } from './design-source.js'

export { isOpen, isUntouched, lists, readersOf, writersOf } from '../../core/access.js'

/**
 * @typedef {import('../../core/access.js').Group} Group
 *
 * @typedef {import('../../core/access.js').Rights & {
 *   url: string,
 *   validation: 'ours' | 'another' | 'none',
 *   party: boolean,
 *   warnings: {code: string, text: string}[]
 * }} Access validation: the function that refuses writes of others; party: the server has no admin, so everybody
 *   may do everything
 *
 * @typedef {import('../../core/access.js').Wanted & {dryRun?: boolean}} Wanted
 */

/** @param {import('./index.js').Store} store @returns {Promise<Access>} */
export async function accessOf (store) {
  return accessFacts(store.url, await store.security(), await factsOf(store.couch))
}

const factsOf = async couch => ({ validation: await validationOf(couch), party: await isParty(couch) })

/** @returns {Access} */
function accessFacts (url, security, facts) {
  const access = { url, ...rightsOf(security), ...facts }
  const warnings = faultsOf(access).map(fault => ({ code: fault.code, text: WARNINGS[fault.code](fault) }))
  return { ...access, warnings }
}

/**
 * Changes the rights. `_security` has no revisions: of two changes at once the second wins.
 * @param {import('./index.js').Store} store @param {Wanted} rights
 * @returns {Promise<{before: Access, after: Access, changed: boolean, dryRun: boolean}>}
 */
export async function setAccess (store, { dryRun = false, ...rights }) {
  const security = await store.security()
  const facts = await factsOf(store.couch)
  const before = accessFacts(store.url, security, facts)
  const next = withRights(security, rights)
  const isNew = !isDeepStrictEqual(next, security)
  if (isNew && isOpen(next) && !before.public && facts.validation === 'none') {
    throw new TilecouchError('NO_VALIDATION', { url: store.url })
  }
  if (isNew && !dryRun) {
    await requireAdmin(store, security) // CouchDB would answer "no_majority"
    await store.secure(next)
  }
  const stored = isNew && !dryRun ? await store.security() : next
  return { before, after: accessFacts(store.url, stored, facts), changed: isNew, dryRun }
}

async function requireAdmin (store, security) {
  const { userCtx } = await store.couch.request({ path: '_session', server: true })
  if (userOf(userCtx, security).isAdmin) return
  const who = userCtx.name ?? 'a request without a name'
  const reason = `${who} is not an admin of it, and only admins may change rights`
  throw new TilecouchError('FORBIDDEN', { url: store.url, reason })
}

/** @returns {Promise<Access['validation']>} */
async function validationOf (couch) {
  const rows = await couch.page({ startkey: '_design/', endkey: '_design0', include_docs: true })
  const functions = rows.map(({ doc }) => doc?.validate_doc_update).filter(text => typeof text === 'string')
  const ourFunction = withoutComments(await readValidation())
  if (functions.includes(ourFunction)) return 'ours'
  return functions.length ? 'another' : 'none'
}

/** Whether the server has no admin: a request without a name is then one of an admin. */
async function isParty ({ url, options: { retries, firstDelay, longestDelay } }) {
  const anonymous = new Couch(url, { retries, firstDelay, longestDelay, ambient: false })
  const session = await anonymous.request({ path: '_session', server: true })
    .catch(ignoring('UNAUTHORIZED', 'FORBIDDEN'))
  return session?.userCtx?.roles?.includes('_admin') === true
}

const DEPLOYS = 'the store has no validation function. `tilecouch push` deploys it.'

/** Texts for the faults of rights, by the codes of core/access.js. */
const WARNINGS = {
  EVERYBODY_IS_ADMIN: () => 'This server has no admin: everybody may do everything. ' +
    'Give it an admin, or let it listen on this machine only.',
  EVERYBODY_WRITES: () => `EVERYBODY MAY WRITE: everybody may read, and ${DEPLOYS}`,
  READERS_WRITE: () => `Everybody who may read may write: ${DEPLOYS}`,
  OTHER_VALIDATION: () => 'The validation function is not that of this tilecouch. `tilecouch push` deploys that.',
  WRITER_SHUT_OUT: ({ kind, name }) => `the ${kind === 'names' ? 'user' : 'role'} ${name} may not write, ` +
    'since CouchDB does not let it read: set the writers again.'
}
