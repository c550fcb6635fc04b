// What the two sides of a mirror are, and whether the one may become the other: all of it is said before anything is carried.
import { TilecouchError } from '../../core/index.js'
import { IDENTITY, identityOf, randomId } from '../../core/mirror/index.js'
import { mayWrite } from '../access/rules.js'
import { passwordOf } from '../secrets.js'
import { Couch } from '../store/couch.js'
import { Store } from '../store/index.js'
import { isPublic } from './door.js'
import { peerOf } from './peer.js'

const FIRST = { retries: 2 } // an address that was mistyped is told at once

/**
 * The side that is mirrored from, as who its URL or TILECOUCH_FROM_USER says: COUCHDB_USER is the name at the other side, and goes nowhere else.
 * @param {string} url @param {ConstructorParameters<typeof Couch>[1]} [options]
 */
export function openSource (url, options) {
  const { TILECOUCH_FROM_USER } = process.env
  if (!URL.canParse(url)) return new Couch(url, { ...options, ambient: false })
  const named = new URL(url)
  const user = named.username ? decodeURIComponent(named.username) : TILECOUCH_FROM_USER
  if (!user || named.password) return new Couch(url, { ...options, ambient: false })
  named.username = encodeURIComponent(user)
  named.password = encodeURIComponent(passwordOf('TILECOUCH_FROM', user) ?? '')
  return new Couch(named.href, { ...options, ambient: false })
}

/**
 * @param {Couch} source @param {Couch | null} target
 * @param {{dryRun?: boolean, isForAll?: boolean, signal?: AbortSignal}} options isForAll: that everybody reads the mirror is wanted
 * @returns {Promise<{isThere: boolean, validates: boolean}>} of the target: whether its database is there; whether it looks at documents by itself
 */
export async function examine (source, target, { dryRun = false, isForAll = false, signal }) {
  const isThere = target !== null && await isWritable(target, signal)
  const validates = isThere && await recogniseTarget(target)
  await recogniseSource(source, signal)
  if (!isThere) return { isThere, validates }
  await checkDifferent(source, target, !dryRun)
  if (!isForAll && await isPublic(target, signal) && !await isPublic(source, signal)) throw new TilecouchError('WOULD_BE_PUBLIC', { url: source.url, where: target.url })
  return { isThere, validates }
}

/** @returns {Promise<boolean>} false: there is no such database */
async function isWritable (target, signal) {
  try {
    // what is not there cannot be removed, but a side that only reads does not even look for it
    await target.request({ method: 'DELETE', path: '_local/tilecouch-nothing', ...FIRST, signal })
  } catch (error) {
    if (error.code === 'DATABASE_NOT_FOUND') return false
    const { status } = error.details ?? {}
    if (status === 405) throw new TilecouchError('READ_ONLY', { reason: `${target.url} only reads: it is a gateway, or something else that takes no documents` })
    if (status !== 404) throw error
  }
  return true
}

/** @returns {Promise<boolean>} whether it has a validation function */
async function recogniseTarget (target) {
  const store = storeAt(target)
  await store.recognise()
  const { validate_doc_update: validation } = await target.get('_design/tiles') ?? {}
  if (validation !== undefined) await checkRight(store)
  return validation !== undefined
}

const storeAt = couch => new Store(couch)

/** Told once, not with every document. Whoever has a validation function of his own is not second-guessed. */
async function checkRight (store) {
  const { couch } = store
  const session = await couch.find({ path: '_session', server: true, ...FIRST })
  if (!session?.userCtx) return
  if (mayWrite(session.userCtx, await store.security())) return
  const { name } = session.userCtx
  throw new TilecouchError('FORBIDDEN', { url: couch.url, reason: `${name === null ? 'without a name one' : name} may read there, and not write` })
}

async function recogniseSource (source, signal) {
  try {
    const { doc_count: count } = await source.request({ ...FIRST, signal })
    if (!Number.isInteger(count)) throw new TilecouchError('BAD_ANSWER', { url: source.url, why: 'it does not say what a database says of itself' })
    await storeAt(source).recognise()
  } catch (error) {
    if (error.code === 'DATABASE_NOT_FOUND') throw new TilecouchError('SOURCE_NOT_FOUND', { value: source.url }, { cause: error })
    if (error.details?.status === 404) throw new TilecouchError('SOURCE_UNREADABLE', { value: source.url, why: 'there is no database; the store behind a gateway is its /db' }, { cause: error })
    if (error.code !== 'NOT_A_STORE') throw error
    const why = `it is no store of tilecouch, and holds documents such as ${JSON.stringify(error.details.value)}`
    throw new TilecouchError('SOURCE_UNREADABLE', { value: source.url, why }, { cause: error })
  }
}

/** The same under another name, at another port, behind a gateway. */
async function checkDifferent (source, target, writes) {
  const [from, to] = [peerOf(source), peerOf(target)]
  const there = await identityOf(to, writes) // first: what only reads shows it then
  if (there !== await identityOf(from, writes)) return
  const same = new TilecouchError('SAME_DATABASE', { url: source.url, where: target.url })
  if (!writes) throw same
  // or a copy of its files, which has copied the identity, too
  const probe = randomId()
  await to.updateLocal(IDENTITY, doc => ({ ...doc, probe }))
  const isSame = (await from.getLocal(IDENTITY))?.probe === probe
  await to.updateLocal(IDENTITY, ({ uuid }) => ({ uuid: isSame ? uuid : randomId() }))
  if (isSame) throw same
}
