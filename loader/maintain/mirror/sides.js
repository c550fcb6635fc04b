// Opens the source of a mirror. Checks both sides before the first copy: whether the target may become a mirror of the
// source.
import { TilecouchError } from '../../errors.js'
import { userOf } from '../../../core/access.js'
import { IDENTITY, identityOf, randomId } from '../../../core/mirror/index.js'
import { attempt } from '../../../core/values.js'
import { passwordOf } from '../../store/secrets.js'
import { Couch } from '../../store/couch.js'
import { Store } from '../../store/index.js'
import { peerOf } from '../../store/peer.js'

const FIRST = { retries: 2 } // of the first requests, so that a mistyped address is reported soon
const CLOSED = new Set(['UNAUTHORIZED', 'FORBIDDEN'])

/**
 * Opens the source with the user name in its URL or TILECOUCH_FROM_USER. COUCHDB_USER is a name at the target and is
 * not sent to the source.
 * @param {string} url @param {ConstructorParameters<typeof Couch>[1]} [options]
 */
export function openSource (url, options) {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  // of a name that cannot be decoded, Couch says that the address is wrong
  const user = parsed?.username ? attempt(() => decodeURIComponent(parsed.username)) : process.env.TILECOUCH_FROM_USER
  if (!parsed || !user || parsed.password) return new Couch(url, { ...options, ambient: false })
  parsed.username = encodeURIComponent(user)
  parsed.password = encodeURIComponent(passwordOf('TILECOUCH_FROM', user) ?? '')
  return new Couch(parsed.href, { ...options, ambient: false })
}

/**
 * @param {Couch} source @param {Couch | null} target
 * @param {{dryRun?: boolean, isForAll?: boolean, signal?: AbortSignal}} options isForAll: the mirror is public
 * @returns {Promise<{exists: boolean, validates: boolean}>} exists: the target database exists; validates: it has a
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

/** @returns {Promise<boolean>} false: the database does not exist */
async function isWritable (target, signal) {
  try {
    // deletes a missing document: a read-only side refuses that without a look-up
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

/** Checks the right to write, so that a missing one is reported once and not with every document. */
async function checkRight (store) {
  const { couch } = store
  const session = await couch.find({ path: '_session', server: true, ...FIRST })
  if (!session?.userCtx) return
  if (userOf(session.userCtx, await store.security()).isWriter) return
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
  const [sourcePeer, targetPeer] = [peerOf(source), peerOf(target)]
  const targetIdentity = await identityOf(targetPeer, writes) // first, because a gateway then returns the same id
  if (targetIdentity !== await identityOf(sourcePeer, writes)) return
  const sameDatabase = new TilecouchError('SAME_DATABASE', { url: source.url, where: target.url })
  if (!writes) throw sameDatabase
  // a copy of the database's files has the same id: a random value tells them apart
  const probe = randomId()
  await targetPeer.updateLocal(IDENTITY, doc => ({ ...doc, probe }))
  const isSame = (await sourcePeer.getLocal(IDENTITY))?.probe === probe
  await targetPeer.updateLocal(IDENTITY, ({ uuid }) => ({ uuid: isSame ? uuid : randomId() }))
  if (isSame) throw sameDatabase
}

/**
 * Whether a store is public: tries without a name, and reads its security object if possible, because an embedded store
 * accepts every request. A mirror of a store that is not public is not public either.
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
  const security = await couch.find({ path: '_security', signal }).catch(error => {
    if (!CLOSED.has(error.code) && error.details?.status !== 405) throw error // a gateway does not return it
  })
  const { names, roles } = security?.members ?? {}
  return !names?.length && !roles?.length
}
