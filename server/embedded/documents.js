// Reading documents from PouchDB in CouchDB's words.
import { badRequest, notFound } from './errors.js'

export const isRev = rev => typeof rev === 'string' && /^\d{1,15}-[^"\s]{1,64}$/.test(rev)

export function requireRev (rev) {
  if (!isRev(rev)) throw badRequest('Invalid rev format')
  return rev
}

/** PouchDB says "missing" for several reasons, and answers a rev of an unknown document with an error of its own. */
const missing = error => {
  if (error?.status === 404) throw notFound(error.reason === 'deleted' ? 'deleted' : 'missing')
  throw error
}

/**
 * @param {import('./databases.js').Database} database
 * @param {string} id @param {any} [options] of PouchDB's get
 * @returns {Promise<any>}
 */
export const getDocument = (database, id, options = {}) => database.pouch.get(id, options).catch(missing)

/** The same, with null instead of a 404. */
export const findDocument = (database, id, options = {}) => getDocument(database, id, options).catch(error => {
  if (error.status === 404) return null
  throw error
})

/** Bytes of an attachment, by the stub in its document. @returns {Promise<Buffer>} */
export const attachmentBytes = (database, id, name, stub) => new Promise((resolve, reject) =>
  database.pouch._getAttachment(id, name, stub, { binary: true }, (error, bytes) => error ? reject(error) : resolve(bytes)))

/**
 * All leaves of a document, or the revisions asked for: [{ok: doc}] and [{missing: rev}].
 * @returns {Promise<any[]>}
 */
export async function openRevisions (database, id, revs, options) {
  const found = await database.pouch.get(id, { ...options, open_revs: revs }).catch(error => {
    if (error.status === 404) return revs === 'all' ? [] : revs.map(rev => ({ missing: rev }))
    throw error
  })
  return found.filter(one => one.ok || one.missing)
}

/** The winning revision of a document, deleted or not; null when there never was one. */
export async function winner (database, id, options = {}) {
  const doc = await findDocument(database, id, options)
  if (doc) return doc
  const leaves = (await openRevisions(database, id, 'all', options)).map(({ ok }) => ok)
  leaves.sort((a, b) => generation(b._rev) - generation(a._rev) || (a._rev < b._rev ? 1 : -1))
  return leaves[0] ?? null
}

export const generation = rev => Number.parseInt(rev, 10)
