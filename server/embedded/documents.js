// Reads documents from PouchDB as CouchDB answers them.
import { compareRevs, generation } from '../../core/mirror/index.js'
import { badRequest, notFound } from '../http/errors.js'
import { valuesOf } from './level.js'

/** A sequence as clients see it. */
export const seqText = seq => `${seq}-embedded`

export const isRev = rev => typeof rev === 'string' && /^\d{1,15}-[^"\s-]{1,64}$/.test(rev)

export function requireRev (rev) {
  if (!isRev(rev)) throw badRequest('Invalid rev format')
  return rev
}

/**
 * The leaves of a document, best first, each with the revisions that lead to it.
 * @param {import('./databases.js').Database} database
 * @returns {Promise<{rev: string, deleted: boolean, revs: Set<string>}[]>}
 */
export async function leavesOf (database, id) {
  const tree = await new Promise((resolve, reject) => database.pouch._getRevisionTree(id, (error, revisions) => {
    if (!error) resolve(revisions)
    else if (error.status === 404) resolve([])
    else reject(error)
  }))
  const leaves = []
  const pending = tree.map(({ pos, ids }) => ({ pos, ids, parent: undefined }))
  while (pending.length) {
    const { pos, ids: [hash, { deleted = false } = {}, branches], parent } = pending.pop()
    const revision = { rev: `${pos}-${hash}`, parent }
    if (!branches.length) leaves.push({ rev: revision.rev, deleted, revs: pathTo(revision) })
    for (const ids of branches) pending.push({ pos: pos + 1, ids, parent: revision })
  }
  return leaves.sort((a, b) => Number(a.deleted) - Number(b.deleted) || compareRevs(b.rev, a.rev))
}

/**
 * Returns a revision and its ancestors.
 * @typedef {{rev: string, parent?: Revision}} Revision
 * @param {Revision} leaf @returns {Set<string>}
 */
function pathTo (leaf) {
  const revs = new Set()
  for (let revision = /** @type {Revision | undefined} */ (leaf); revision; revision = revision.parent) {
    revs.add(revision.rev)
  }
  return revs
}

/**
 * Reads one revision. `latest` is resolved here: for an unknown revision PouchDB throws outside its callback, which
 * ends the process.
 * @param {import('./databases.js').Database} database @param {string} id @param {any} [options] of PouchDB's get
 */
export async function getDocument (database, id, { latest, ...options } = {}) {
  if (latest && options.rev && !id.startsWith('_local/')) {
    const newer = (await leavesOf(database, id)).find(({ revs }) => revs.has(options.rev))
    if (newer) options.rev = newer.rev
  }
  return database.pouch.get(id, options).catch(error => {
    // for a revision of an unknown document PouchDB has an error of its own
    throw error.status === 404 ? notFound(error.reason === 'deleted' ? 'deleted' : 'missing') : error
  })
}

/** Like getDocument, with null instead of a 404. */
export const findDocument = (database, id, options = {}) => getDocument(database, id, options).catch(error => {
  if (error.status === 404) return null
  throw error
})

/** Reads the bytes of an attachment, by the stub in its document. */
export const attachmentBytes = (database, id, name, stub) => new Promise((resolve, reject) =>
  database.pouch._getAttachment(id, name, stub, { binary: true }, (error, bytes) =>
    error ? reject(error) : resolve(bytes)))

/**
 * Reads all leaves of a document, or the requested revisions: [{ok: doc}] and [{missing: rev}].
 * @param {import('./databases.js').Database} database @param {any} id @param {'all' | string[]} requested
 * @param {any} options of PouchDB's get; attsSince: revisions the client has, whose attachments are left out
 */
export async function openRevisions (database, id, requested, { latest, attsSince, ...options }) {
  const isAll = requested === 'all'
  const leaves = isAll || latest ? await leavesOf(database, id) : []
  const newestOf = revision => {
    const revs = leaves.filter(leaf => leaf.revs.has(revision)).map(({ rev }) => rev)
    return revs.length ? revs : revision
  }
  const revs = new Set(isAll ? leaves.map(({ rev }) => rev) : requested.flatMap(newestOf))
  return Promise.all(Array.from(revs, async rev => {
    const ok = await findDocument(database, id, { ...options, rev })
    if (ok && attsSince && options.attachments) await leaveOut(database, ok, attsSince)
    return ok ? { ok } : { missing: rev }
  }))
}

/** Leaves out attachments that the client has: it has one of these revisions, and they are not newer. */
async function leaveOut (database, doc, clientRevs) {
  const attachments = Object.values(doc._attachments ?? {})
  if (!attachments.length) return
  const ancestry = (await leavesOf(database, doc._id)).find(({ revs }) => revs.has(doc._rev))?.revs
  const ancestors = clientRevs.filter(rev => ancestry?.has(rev)).map(generation)
    .filter(number => number <= generation(doc._rev))
  const since = Math.max(0, ...ancestors)
  for (const attachment of attachments) {
    if (attachment.revpos > since || attachment.data === undefined) continue
    attachment.length = Buffer.byteLength(attachment.data, 'base64')
    attachment.stub = true
    delete attachment.data
  }
}

/** Reads the winning revision of a document, deleted or not; null if it never existed. */
export async function winner (database, id, options = {}) {
  const [best] = await leavesOf(database, id)
  return best ? findDocument(database, id, { ...options, rev: best.rev }) : null
}

const LOCAL = '\xfflocal-store\xff' // where PouchDB keeps local documents in its LevelDB

/**
 * Lists local documents in the order of their ids. PouchDB can only read them one by one.
 * @param {import('./databases.js').Database} database @returns {AsyncGenerator<any>}
 */
export async function * localDocuments ({ pouch }) {
  const level = pouch.__opts.db.opened.get(pouch.name)
  for await (const value of valuesOf(level, { gte: LOCAL, lt: `${LOCAL}\xff` })) yield JSON.parse(value)
}
