// Every write goes through here. It makes CouchDB's checks of the document and the user, and calls validate_doc_update,
// before PouchDB gets the document. For some bad documents PouchDB throws outside its callback, and the request would
// never be answered.
import { hasStubs } from '../../core/couch/answers.js'
import { isDatabaseAdmin, notDatabaseAdmin } from './access.js'
import { checkDesign, validationError } from './design/runtime.js'
import { findDocument, isRev, leavesOf } from './documents.js'
import { badRequest, forbidden, HttpError } from '../http/errors.js'
import { conflict, toHttpError } from './errors.js'
import { isObject, mapValues } from '../../core/values.js'

const keptFields = new Set(['_id', '_rev', '_deleted', '_attachments', '_revisions'])
const droppedFields = new Set(['_revs_info', '_local_seq', '_conflicts', '_deleted_conflicts'])

/** Documents with the paths of PouchDB's indexes. A client that writes them could open and delete any folder. */
const POUCH_PATHS = '_local/_pouch_'

// without groups: an expression with groups overflows the stack at 4 MB
const isBase64 = text => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

const badId = reason => new HttpError(400, 'illegal_docid', reason)
const badDocument = reason => new HttpError(400, 'doc_validation', reason)
const badMember = name => badDocument(`Bad special document member: ${name}`)

export function checkId (id) {
  if (typeof id !== 'string') throw badId('Document id must be a string')
  if (id === '') throw badId('Document id must not be empty')
  if (id.length > 7168) throw badId('Document id is too long')
  const isReserved = /^_(design|local)\/./.test(id)
  if (id.startsWith('_') && !isReserved) throw badId('Only reserved document ids may start with underscore.')
}

/** Returns a copy of a document for the store, or throws the error of CouchDB. */
export function checkDocument (doc, newEdits = true) {
  if (!isObject(doc)) throw badRequest('Document must be a JSON object')
  if (!newEdits && !doc._rev && !doc._revisions) {
    throw badRequest('When `new_edits: false`, the document needs `_rev` or `_revisions` specified')
  }
  const clean = {}
  for (const [name, value] of Object.entries(doc)) {
    if (name === '__proto__' || droppedFields.has(name)) continue
    if (name.startsWith('_') && !keptFields.has(name)) throw badMember(name)
    clean[name] = value
  }
  checkId(clean._id)
  if (clean._id.startsWith(POUCH_PATHS)) {
    throw forbidden('The embedded store keeps this local document for itself.')
  }
  if (clean._rev === undefined || clean._rev === null) delete clean._rev
  else if (!isRev(clean._rev)) throw badRequest('Invalid rev format')
  if (clean._deleted !== undefined && typeof clean._deleted !== 'boolean') throw badMember('_deleted')
  if (clean._revisions !== undefined) checkRevisions(clean._revisions)
  if (clean._attachments !== undefined) clean._attachments = checkAttachments(clean._attachments)
  if (Object.keys(clean._attachments ?? {}).length === 0) delete clean._attachments
  return clean
}

function checkRevisions ({ start, ids } = /** @type {any} */ ({})) {
  if (!Number.isInteger(start) || start < 1) throw badDocument("_revisions.start isn't an integer.")
  const isHash = id => typeof id === 'string' && isRev(`1-${id}`)
  if (!Array.isArray(ids) || !ids.length || ids.length > start || !ids.every(isHash)) {
    throw badDocument("_revisions.ids isn't an array.")
  }
}

function checkAttachments (attachments) {
  if (!isObject(attachments)) throw badMember('_attachments')
  const clean = {}
  for (const [name, attachment] of Object.entries(attachments)) {
    if (name === '__proto__' || name === '') throw badRequest(`Invalid attachment name ${name}`)
    if (name.startsWith('_')) throw badRequest(`Attachment name '${name}' starts with prohibited character '_'`)
    if (!isObject(attachment)) throw badRequest(`Invalid attachment data for ${name}`)
    clean[name] = checkAttachment(name, attachment)
  }
  return clean
}

function checkAttachment (name, attachment) {
  const { content_type: type = 'application/octet-stream', data, stub, digest, length, revpos } = attachment
  if (typeof type !== 'string' || /[\r\n]/.test(type)) throw badRequest(`Invalid content type for ${name}`)
  if (stub === true) return { content_type: type, stub, digest, length, revpos }
  if (typeof data !== 'string') throw badRequest(`Invalid attachment data for ${name}`)
  if (isBase64(data)) return { content_type: type, data }
  const plain = data.replace(/\s+/g, '')
  if (!isBase64(plain)) throw badRequest(`Invalid attachment data for ${name}`)
  return { content_type: type, data: plain }
}

/** Fills in stubs from the previous revision. Throws 412 if that has no such attachment, as CouchDB does. */
function resolveStubs (doc, oldDoc) {
  for (const [name, attachment] of Object.entries(doc._attachments ?? {})) {
    if (!attachment.stub) continue
    const storedAttachment = oldDoc?._attachments?.[name]
    if (storedAttachment) doc._attachments[name] = { ...storedAttachment, stub: true }
    else throw new HttpError(412, 'missing_stub', `Invalid attachment stub in ${doc._id} for ${name}`)
  }
}

/** Finds the revision that a replicated document continues: the nearest stored ancestor. */
async function findAncestor (database, { _id: id, _revisions: { start, ids } = { start: 0, ids: [] } }) {
  for (let i = 1; i < ids.length; i++) {
    const oldDoc = await findDocument(database, id, { rev: `${start - i}-${ids[i]}`, revs: true })
    if (oldDoc) return oldDoc
  }
  return null
}

/** Finds the leaf that an edit continues. An edit of any other revision is a conflict, even if it is invalid too. */
async function findLeaf (database, { _id: id, _rev: rev }) {
  if (id.startsWith('_local/')) return null
  const leaves = await leavesOf(database, id)
  const isLeaf = rev ? leaves.some(leaf => leaf.rev === rev) : leaves.every(leaf => leaf.deleted)
  if (!isLeaf) throw conflict()
  return rev ? findDocument(database, id, { rev, revs: true }) : null
}

/**
 * Stores documents. Returns {ok, id, rev} or an HttpError for each, in order.
 * @param {import('./databases.js').Database} database @param {any[]} docs checked by checkDocument
 * @param {{userCtx: any, newEdits?: boolean}} options
 */
export async function writeDocuments (database, docs, { userCtx, newEdits = true }) {
  await database.writable()
  /** @type {any[]} */
  const answers = new Array(docs.length)
  const validators = await database.designs.validators()
  const oldDocs = await Promise.all(docs.map((doc, i) => {
    if (!validators.length && !hasStubs(doc)) return null
    const oldDoc = newEdits ? findLeaf(database, doc) : findAncestor(database, doc)
    return oldDoc.catch(error => { answers[i] = toHttpError(error) })
  }))
  docs.forEach((doc, i) => { if (!answers[i]) resolveStubs(doc, oldDocs[i]) })
  for (const [i, doc] of docs.entries()) {
    if (answers[i] || !doc._id.startsWith('_design/')) continue
    if (!isDatabaseAdmin(userCtx, database.security)) answers[i] = notDatabaseAdmin(userCtx)
    else if (!doc._deleted) answers[i] = await checkDesign(doc, database.designs.threads).catch(toHttpError)
  }
  await validate(validators, docs, oldDocs, { userCtx, database, answers })
  await store(database, docs, answers, newEdits)
  return answers
}

async function store (database, docs, answers, newEdits) {
  const indexes = docs.map((doc, i) => i).filter(i => !answers[i] && !docs[i]._id.startsWith('_local/'))
  for (const [i, doc] of docs.entries()) {
    if (!doc._id.startsWith('_local/')) continue
    answers[i] = await database.localWrites.run(() => writeLocal(database, doc)).catch(toHttpError)
  }
  if (!indexes.length) return
  const results = await database.pouch.bulkDocs({ docs: indexes.map(i => docs[i]) }, { new_edits: newEdits })
  if (newEdits) {
    results.forEach((result, n) => {
      const { ok, id, rev } = result
      answers[indexes[n]] = ok ? { ok, id, rev } : toHttpError(result)
    })
  }
  if (indexes.some(i => docs[i]._id.startsWith('_design/'))) database.designs.invalidate()
  database.changed()
}

/** Local documents have no conflicts: CouchDB overwrites with any revision. */
async function writeLocal (database, doc) {
  const oldDoc = await findDocument(database, doc._id)
  const { _attachments, _revisions, ...plain } = doc
  const { rev } = await database.pouch.put({ ...plain, _rev: oldDoc?._rev })
  return { ok: true, id: doc._id, rev: doc._deleted ? '0-0' : rev }
}

/** Stores one document, or throws its error. */
export async function writeDocument (database, doc, options) {
  const [answer] = await writeDocuments(database, [checkDocument(doc, options.newEdits)], options)
  if (answer instanceof HttpError) throw answer
  return answer ?? { ok: true, id: doc._id, rev: doc._rev }
}

/** A document for a validation function: attachments as stubs, and the revisions that it continues. */
function docForValidation (doc) {
  const copy = { ...doc }
  if (doc._rev && !doc._revisions) {
    const [start, id] = doc._rev.split('-')
    copy._revisions = { start: Number(start), ids: [id] }
  }
  if (doc._attachments) copy._attachments = mapValues(doc._attachments, stubOf)
  return copy
}

function stubOf ({ data, ...attachment }) {
  if (data === undefined) return attachment
  const padding = Number(data.endsWith('=')) + Number(data.endsWith('=='))
  return { ...attachment, revpos: 0, length: data.length / 4 * 3 - padding, stub: true }
}

/**
 * Calls validate_doc_update, once for a batch, since each call of the thread costs time. Puts an error into answers[i]
 * for each refused document. Design and local documents are not validated.
 * @param {import('./design/runtime.js').DesignRuntime[]} validators @param {any[]} docs @param {any[]} oldDocs
 * @param {{userCtx: any, database: import('./databases.js').Database, answers: any[]}} context
 */
async function validate (validators, docs, oldDocs, { userCtx, database, answers }) {
  const user = { db: database.name, name: userCtx.name, roles: userCtx.roles }
  for (const runtime of validators) {
    const indexes = docs.map((doc, i) => i).filter(i => !answers[i] && !/^_(design|local)\//.test(docs[i]._id))
    if (!indexes.length) return
    const jobs = indexes.map(i => ({
      newDoc: docForValidation(docs[i]),
      oldDoc: oldDocs[i] && !oldDocs[i]._deleted ? oldDocs[i] : null
    }))
    const source = runtime.ddoc.validate_doc_update
    const errors = await runtime.callEach('validate', { source, userCtx: user, secObj: database.security }, jobs)
    errors.forEach((error, n) => { if (error) answers[indexes[n]] = validationError(error) })
  }
}
