// Documents: one by its id (read, write, delete), its attachments, and many in one request.
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { encodeId } from '../../../core/couch/client.js'
import { chunks } from '../../../core/lists.js'
import { formats } from '../../../core/formats.js'
import { generation } from '../../../core/mirror/index.js'
import { sharePromise } from '../../../core/promises.js'
import { isObject } from '../../../core/values.js'
import { isGzip, pack } from '../../../loader/formats/unpack.js'
import { SAFE_HEADERS, SMALL, acceptsCoding } from '../../http/answers.js'
import { badRequest, HttpError, notFound } from '../../http/errors.js'
import { attachmentBytes, getDocument, isRev, leavesOf, openRevisions, requireRev, winner } from '../documents.js'
import { parseJson } from '../exchange.js'
import { parseMultipart, toMultipart } from '../multipart.js'
import { checkDocument, checkId, writeDocument, writeDocuments } from '../writer.js'
import { newId } from './server.js'

/** The revision in the query of an address. @returns {string | undefined} */
const queryRev = ({ query: { rev } }) => rev === undefined ? undefined : requireRev(rev)

const readOptions = ex => ({
  rev: queryRev(ex),
  revs: ex.flag('revs'),
  conflicts: ex.flag('conflicts'),
  attachments: ex.flag('attachments'),
  latest: ex.flag('latest')
})

function revisionsIn (text) {
  const revs = parseJson(text)
  if (!Array.isArray(revs) || !revs.every(isRev)) throw badRequest('Invalid rev format')
  return revs
}

async function read (ex, id) {
  const options = readOptions(ex)
  ex.flag('att_encoding_info') // ignored: nothing is stored compressed
  if (ex.query.open_revs !== undefined) {
    const requested = ex.query.open_revs === 'all' ? 'all' : revisionsIn(ex.query.open_revs)
    const isMultipart = /multipart\/mixed/i.test(ex.headers.accept ?? '')
    const attsSince = ex.query.atts_since === undefined ? undefined : revisionsIn(ex.query.atts_since)
    const attachments = options.attachments || isMultipart
    const revisions = await openRevisions(ex.db, id, requested, { ...options, attachments, attsSince })
    if (!revisions.length && requested === 'all') throw notFound()
    if (isMultipart) {
      const { type, body } = toMultipart(revisions)
      return ex.send(200, body, { 'Content-Type': type, 'Cache-Control': 'must-revalidate' })
    }
    return ex.sendJson(200, revisions)
  }
  const doc = await getDocument(ex.db, id, options)
  const etag = `"${doc._rev}"`
  if (!ex.unchanged(etag)) ex.sendJson(200, doc, { ETag: etag })
}

function answerWritten (ex, { id, rev }, status = 201) {
  const path = `/${encodeURIComponent(ex.db.name)}/${encodeId(id)}`
  ex.sendJson(status, { ok: true, id, rev }, { ETag: `"${rev}"`, Location: ex.origin() + path })
}

async function write (ex, id) {
  const type = ex.headers['content-type'] ?? ''
  const doc = /^multipart\/related/i.test(type) ? await parseMultipart(await ex.bytes(), type) : await ex.json()
  if (!isObject(doc)) throw badRequest('Document must be a JSON object')
  if (doc._id !== undefined) checkId(doc._id)
  const rev = queryRev(ex)
  if (rev && doc._rev && doc._rev !== rev) {
    throw badRequest('Document rev from request body and query string have different values')
  }
  const options = { userCtx: ex.userCtx, newEdits: ex.flag('new_edits', true) }
  answerWritten(ex, await writeDocument(ex.db, { ...doc, _id: id, _rev: doc._rev ?? rev }, options))
}

async function remove (ex, id) {
  checkId(id)
  const rev = queryRev(ex)
  if (!await winner(ex.db, id)) await getDocument(ex.db, id) // a local document has no leaves
  const written = await writeDocument(ex.db, { _id: id, _rev: rev, _deleted: true }, { userCtx: ex.userCtx })
  answerWritten(ex, written, 200)
}

const methods = { DELETE: remove, GET: read, HEAD: read, PUT: write }

export function documentRoute (ex, id) {
  ex.only(...Object.keys(methods))
  return methods[ex.method](ex, id)
}

const TEXT = /^(text\/|application\/(javascript|json|xml))/ // as CouchDB's default, attachments/compressible_types

/** By digest: as many as the viewer and the client library have files. @type {LRUCache<string, Promise<Buffer>>} */
const packedTexts = new LRUCache({ max: 32 })

/** Sends an attachment, with the md5 of its bytes as ETag. */
export async function attachmentRoute (ex, id, name) {
  ex.only('GET', 'HEAD')
  const rev = queryRev(ex)
  const doc = await getDocument(ex.db, id, { rev })
  const stub = Object.hasOwn(doc._attachments ?? {}, name) ? doc._attachments[name] : undefined
  if (!stub) throw notFound('Document is missing attachment')
  const etag = `"${stub.digest.slice('md5-'.length)}"`
  if (ex.unchanged(etag)) return
  const bytes = await attachmentBytes(ex.db, id, name, stub)
  const headers = {
    'Content-Type': stub.content_type || 'application/octet-stream',
    ETag: etag,
    'Accept-Ranges': 'none',
    'Cache-Control': 'must-revalidate',
    ...(!id.startsWith('_design/') && SAFE_HEADERS) // only admins can attach pages there, such as the viewer
  }
  // a request that names a revision compares bytes, unless its address comes from _design/tiles/lists/at.js
  const isMapTile = stub.content_type === formats.mvt.type && (rev === undefined || ex.query.as === 'tile')
  const isText = TEXT.test(stub.content_type) && bytes.length > SMALL
  if (isMapTile || isText) ex.res.appendHeader('Vary', 'Accept-Encoding')
  const isPacked = isText || (isMapTile && isGzip(bytes))
  if (!isPacked || !acceptsCoding(ex.headers['accept-encoding'], 'gzip')) return ex.send(200, bytes, headers)
  const body = isText ? await sharePromise(packedTexts, stub.digest, () => pack(bytes)) : bytes
  ex.send(200, body, { ...headers, 'Content-Encoding': 'gzip' })
}

// Many documents: _bulk_docs, _bulk_get, _revs_diff

const MOST_DOCUMENTS = 20000 // in one request: each is validated

export async function bulkDocs (ex) {
  ex.only('POST')
  const body = await ex.jsonObject()
  if (body.docs === undefined) throw badRequest('POST body must include `docs` parameter.')
  if (!Array.isArray(body.docs)) throw badRequest('`docs` parameter must be an array.')
  if (body.docs.length > MOST_DOCUMENTS) {
    throw new HttpError(413, 'too_large', `at most ${MOST_DOCUMENTS} documents in one request`)
  }
  const newEdits = body.new_edits !== false
  const withId = doc => isObject(doc) && doc._id === undefined ? { ...doc, _id: newId() } : doc
  const docs = body.docs.map(doc => checkDocument(withId(doc), newEdits))
  const answers = await writeDocuments(ex.db, docs, { userCtx: ex.userCtx, newEdits })
  const results = answers.map((answer, i) => {
    if (!(answer instanceof HttpError)) return newEdits ? answer : undefined
    const { error, reason } = answer
    const { _id: id, _rev: rev } = docs[i]
    return newEdits ? { id, error, reason } : { id, rev, error, reason }
  })
  ex.sendJson(201, results.filter(Boolean))
}

const failure = (id, rev, error, reason) => ({ id, docs: [{ error: { id, rev: rev ?? 'undefined', error, reason } }] })

async function getOne (database, reference, options) {
  if (!isObject(reference) || typeof reference.id !== 'string') {
    return { id: null, docs: [{ error: { id: null, rev: null, error: 'bad_request', reason: 'document id missed' } }] }
  }
  const { id, rev, atts_since: attsSince } = reference
  if (rev !== undefined && !isRev(rev)) return failure(id, String(rev), 'bad_request', 'Invalid rev format')
  if (attsSince !== undefined && !(Array.isArray(attsSince) && attsSince.every(isRev))) {
    return failure(id, rev, 'bad_request', 'att_since value must be array of revs.')
  }
  const attachments = options.attachments || attsSince?.length > 0
  const revs = rev === undefined ? 'all' : [rev]
  const revisions = await openRevisions(database, id, revs, { ...options, attsSince, attachments })
  if (!revisions.length) return failure(id, rev, 'not_found', 'missing')
  const missingOf = missing => ({ error: { id, rev: missing, error: 'not_found', reason: 'missing' } })
  return { id, docs: revisions.map(({ ok, missing }) => ok ? { ok } : missingOf(missing)) }
}

export async function bulkGet (ex) {
  ex.only('POST')
  const { docs } = await ex.question()
  if (docs === undefined) throw badRequest("Missing JSON list of 'docs'.")
  if (!Array.isArray(docs)) throw badRequest("'docs' must be a list.")
  const options = { revs: ex.flag('revs'), attachments: ex.flag('attachments'), latest: ex.flag('latest') }
  await ex.write('{"results":[')
  for (let i = 0; i < docs.length; i++) {
    await ex.write(`${i ? ',' : ''}${JSON.stringify(await getOne(ex.db, docs[i], options))}`)
  }
  ex.res.end(']}\n')
}

const COMPARED_AT_ONCE = 500 // documents

/** Tells replicators which revisions are missing here, and which leaves could be their ancestors. */
export async function revsDiff (ex) {
  ex.only('POST')
  const entries = Object.entries(await ex.question())
  if (!entries.every(([, revs]) => Array.isArray(revs) && revs.every(isRev))) {
    throw badRequest('revisions must be lists of revision ids by document id')
  }
  const differences = []
  for (const chunk of chunks(entries, COMPARED_AT_ONCE)) {
    const compared = chunk.map(async ([id, revs]) => [id, differenceOf(revs, await leavesOf(ex.db, id))])
    differences.push(...await Promise.all(compared))
    await setImmediate() // other requests get their turn
    ex.signal.throwIfAborted()
  }
  ex.sendJson(200, Object.fromEntries(differences.filter(([, difference]) => difference)))
}

function differenceOf (revs, leaves) {
  const missing = revs.filter(rev => !leaves.some(leaf => leaf.revs.has(rev)))
  if (!missing.length) return undefined
  const newest = Math.max(...missing.map(generation))
  const ancestors = leaves.map(({ rev }) => rev).filter(rev => generation(rev) < newest)
  return { missing, ...(ancestors.length && { possible_ancestors: ancestors }) }
}
