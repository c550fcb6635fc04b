// The two sides of a mirror: opens the source, and checks before anything is copied that the target may become its
// mirror.
import { TilecouchError } from '../../errors.js'
import { IDENTITY, identityOf, randomId } from '../../../core/mirror/index.js'
import { mayWrite } from '../../store/access.js'
import { passwordOf } from '../../store/secrets.js'
import { Couch } from '../../store/couch.js'
import { Store } from '../../store/index.js'
import { peerOf } from '../../store/peer.js'

const FIRST = { retries: 2 } // of the first requests: a mistyped address is reported soon
const CLOSED = new Set(['UNAUTHORIZED', 'FORBIDDEN'])

/**
 * Opens the source with the name in its URL or TILECOUCH_FROM_USER. COUCHDB_USER is a name at the target and is not
 * sent here.
 * @param {string} url @param {ConstructorParameters<typeof Couch>[1]} [options]
 */
export function openSource (url, options) {
  const { TILECOUCH_FROM_USER } = process.env
  if (!URL.canParse(url)) return new Couch(url, { ...options, ambient: false })
  const parsed = new URL(url)
  const user = parsed.username ? decodeURIComponent(parsed.username) : TILECOUCH_FROM_USER
  if (!user || parsed.password) return new Couch(url, { ...options, ambient: false })
  parsed.username = encodeURIComponent(user)
  parsed.password = encodeURIComponent(passwordOf('TILECOUCH_FROM', user) ?? '')
  return new Couch(parsed.href, { ...options, ambient: false })
}

/**
 * @param {Couch} source @param {Couch | null} target
 * @param {{dryRun?: boolean, isForAll?: boolean, signal?: AbortSignal}} options isForAll: everybody may read the mirror
 * @returns {Promise<{exists: boolean, validates: boolean}>} exists: the target's database; validates: it has a
 *   validation function
 */
export async function checkSides (source, target, { dryRun = false, isForAll = false, signal }) {
  const exists = target !== null && await isWritable(target, signal)
  const validates = exists && await recogniseTarget(target)
  await recogniseSource(source, signal)
  if (!exists) return { exists, validates }
  await checkDifferent(source, target, !dryRun)
  if (!isForAll && await isPublic(target, signal) && !await isPublic(source, signal)) {
    throw new TilecouchError('WOULD_BE_PUBLIC', { url: source.url, where: target.url })
  }
  return { exists, validates }
}

/** @returns {Promise<boolean>} false: there is no such database */
async function isWritable (target, signal) {
  try {
    // removing a document that does not exist: a side that only reads refuses without looking for it
    await target.request({ method: 'DELETE', path: '_local/tilecouch-nothing', ...FIRST, signal })
  } catch (error) {
    if (error.code === 'DATABASE_NOT_FOUND') return false
    const { status } = error.details ?? {}
    if (status === 405) {
      throw new TilecouchError('READ_ONLY', { reason: `${target.url} takes no documents: it may be a gateway` })
    }
    if (status !== 404) throw error
  }
  return true
}

/** @returns {Promise<boolean>} whether it has a validation function */
async function recogniseTarget (target) {
  const store = new Store(target)
  await store.checkIsStore()
  const { validate_doc_update: validation } = await target.get('_design/tiles') ?? {}
  if (validation !== undefined) await checkRight(store)
  return validation !== undefined
}

/** Reports missing rights once, not with every document. */
async function checkRight (store) {
  const { couch } = store
  const session = await couch.find({ path: '_session', server: true, ...FIRST })
  if (!session?.userCtx) return
  if (mayWrite(session.userCtx, await store.security())) return
  const { name } = session.userCtx
  const reason = `${name === null ? 'without a name you' : name} may read there, but not write`
  throw new TilecouchError('FORBIDDEN', { url: couch.url, reason })
}

async function recogniseSource (source, signal) {
  try {
    const { doc_count: count } = await source.info(signal, FIRST)
    if (!Number.isInteger(count)) throw new TilecouchError('BAD_ANSWER', { url: source.url, why: 'not a database' })
    await new Store(source).checkIsStore()
  } catch (error) {
    if (error.code === 'DATABASE_NOT_FOUND') {
      throw new TilecouchError('SOURCE_NOT_FOUND', { value: source.url }, { cause: error })
    }
    if (error.details?.status === 404) {
      const why = 'there is no database; of a gateway, name its /db'
      throw new TilecouchError('SOURCE_UNREADABLE', { value: source.url, why }, { cause: error })
    }
    if (error.code !== 'NOT_A_STORE') throw error
    const why = `it is not a tilecouch store: it has documents such as ${JSON.stringify(error.details.value)}`
    throw new TilecouchError('SOURCE_UNREADABLE', { value: source.url, why }, { cause: error })
  }
}

/** One database may have several addresses: another name or port, or a gateway in front. */
async function checkDifferent (source, target, writes) {
  const [from, to] = [peerOf(source), peerOf(target)]
  const targetIdentity = await identityOf(to, writes) // the target first: a gateway in front of it shows the id then
  if (targetIdentity !== await identityOf(from, writes)) return
  const same = new TilecouchError('SAME_DATABASE', { url: source.url, where: target.url })
  if (!writes) throw same
  // a copy of the database's files has the same id: a random value tells them apart
  const probe = randomId()
  await to.updateLocal(IDENTITY, doc => ({ ...doc, probe }))
  const isSame = (await from.getLocal(IDENTITY))?.probe === probe
  await to.updateLocal(IDENTITY, ({ uuid }) => ({ uuid: isSame ? uuid : randomId() }))
  if (isSame) throw same
}

/**
 * Whether everybody may read a store: tries without a name, and reads its rules where they are shown, since an embedded
 * store lets in everybody who reaches it. A mirror of a store that is not public is not public either.
 * @param {Couch} couch @param {AbortSignal} [signal]
 */
export async function isPublic (couch, signal) {
  const { retries, firstDelay, longestDelay } = couch.options
  const anonymous = new Couch(couch.url, { retries, firstDelay, longestDelay, ambient: false })
  try {
    await anonymous.info(signal)
  } catch (error) {
    if (CLOSED.has(error.code)) return false
    throw error
  }
  const { names, roles } = (await securityOf(couch, signal))?.members ?? {}
  return !names?.length && !roles?.length
}

/** @returns undefined where they are not shown, as by a gateway */
async function securityOf (couch, signal) {
  try {
    return await couch.find({ path: '_security', signal })
  } catch (error) {
    if (CLOSED.has(error.code) || error.details?.status === 405) return undefined
    throw error
  }
}
