// The database that is restored into: not there, or empty, or left by the same restore when it was killed.
import { isDeepStrictEqual } from 'node:util'
import { TilecouchError } from '../../core/index.js'
import { peerOf } from '../mirror/peer.js'
import { PRIVATE_SECURITY, Store } from '../store/index.js'

const MARK = 'tilecouch-restoring' // _local/…: the database is being restored, and of what
const CLOSED = { ...PRIVATE_SECURITY, tilecouch: { closed: true } } // nobody takes it for one that is yet to be opened

/**
 * @typedef {object} Site
 * @property {boolean} resumed
 * @property {any} security as it is now
 * @property {(of: {chain: string[], q?: number}) => Promise<void>} begin closes it, and makes it where it is not there
 * @property {() => Promise<void>} end
 */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string[]} chain ids of the backups, where they are known already
 * @returns {Promise<Site>}
 */
export async function openSite (couch, chain) {
  const peer = peerOf(couch)
  const info = await infoOf(couch)
  // whoever may read may have written it: it holds for a database as a restore closes it, and for those files alone
  const security = info ? await new Store(couch).security() : PRIVATE_SECURITY
  const mark = info && isDeepStrictEqual(security, CLOSED) ? await peer.getLocal(MARK) : undefined
  const isEmpty = !info || (!info.doc_count && !info.doc_del_count) // CouchDB counts that its rights were set as a change
  const refuse = why => new TilecouchError('RESTORE_NOT_EMPTY', { db: couch.url, why })
  const check = of => {
    if (mark && !isEmpty && String(mark.chain) !== String(of)) throw refuse('another restore was begun there and not ended; remove the database to begin anew')
  }
  if (!mark && !isEmpty) throw refuse()
  if (chain.length) check(chain)
  return {
    resumed: !isEmpty,
    security,
    async begin ({ chain: of, q }) {
      check(of)
      if (!info) await make(couch, q)
      await new Store(couch).secure(CLOSED)
      await peer.updateLocal(MARK, () => ({ chain: of }))
    },
    async end () {
      const { _rev: rev } = await peer.getLocal(MARK) ?? {} // another run may have been quicker
      if (rev) await couch.find({ method: 'DELETE', path: `_local/${MARK}`, qs: { rev } })
    }
  }
}

async function infoOf (couch) {
  try {
    return await couch.request({ path: '' })
  } catch (error) {
    if (error.code === 'DATABASE_NOT_FOUND') return undefined
    throw error
  }
}

async function make (couch, q) {
  try {
    await couch.request({ method: 'PUT', qs: { ...(q && { q }) } })
  } catch (error) {
    if (error.details?.status !== 412) throw error
    throw new TilecouchError('RESTORE_NOT_EMPTY', { db: couch.url, why: 'somebody else has just made it' })
  }
}
