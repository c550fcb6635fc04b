// Documents by id: read, write, delete, copy.
import { badRequest, notFound, HttpError } from '../errors.js'
import { decode, isObject } from '../exchange.js'
import { getDocument, isRev, openRevisions, requireRev, winner } from '../documents.js'
import { parseJson } from '../json.js'
import { parseMultipart, toMultipart } from '../multipart.js'
import { checkId, writeDocument } from '../writer.js'
import { notAllowed } from '../errors.js'

export const documentPath = (db, id) => `/${encodeURIComponent(db.name)}/${/^_(design|local)\//.test(id) ? id.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(id)}`

/** The revision a request names, in the URL or as If-Match. */
export function namedRev (ex) {
  const match = ex.headers['if-match']?.replace(/^"|"$/g, '')
  const { rev = match } = ex.query
  return rev === undefined ? undefined : requireRev(rev)
}

const readOptions = ex => ({
  ...(ex.query.rev !== undefined && { rev: requireRev(ex.query.rev) }),
  revs: ex.flag('revs'),
  revs_info: ex.flag('revs_info'),
  conflicts: ex.flag('conflicts'),
  attachments: ex.flag('attachments'),
  latest: ex.flag('latest'),
  local_seq: ex.flag('local_seq')
})

function askedRevisions (text) {
  if (text === 'all') return 'all'
  const revs = parseJson(text)
  if (!Array.isArray(revs) || !revs.every(isRev)) throw badRequest('Invalid rev format')
  return revs
}

async function read (ex, id) {
  const options = readOptions(ex)
  ex.flag('att_encoding_info') // nothing is stored compressed, so there is nothing to tell
  if (ex.query.open_revs !== undefined) {
    const asked = askedRevisions(ex.query.open_revs)
    const isMultipart = /multipart\/mixed/i.test(ex.headers.accept ?? '')
    const attsSince = ex.query.atts_since === undefined ? undefined : askedRevisions(ex.query.atts_since)
    const found = await openRevisions(ex.db, id, asked, { ...options, ...(attsSince && { attsSince }), ...(isMultipart && { attachments: true }) })
    if (!found.length && asked === 'all') throw notFound()
    if (isMultipart) {
      const { type, body } = toMultipart(found)
      return ex.send(200, body, { 'Content-Type': type, 'Cache-Control': 'must-revalidate' })
    }
    return ex.sendJson(200, found)
  }
  const doc = await getDocument(ex.db, id, options)
  if (ex.flag('meta')) Object.assign(doc, await getDocument(ex.db, id, { conflicts: true, revs_info: true }))
  const etag = `"${doc._rev}"`
  if (!ex.unchanged(etag)) ex.sendJson(200, doc, { ETag: etag })
}

function answerWritten (ex, { id, rev }, status = 201) {
  if (ex.query.batch === 'ok') return ex.sendJson(202, { ok: true, id })
  ex.sendJson(status, { ok: true, id, rev }, { ETag: `"${rev}"`, Location: ex.origin() + documentPath(ex.db, id) })
}

async function bodyDocument (ex) {
  const type = ex.headers['content-type'] ?? ''
  const doc = /^multipart\/related/i.test(type) ? parseMultipart(await ex.bytes(), type) : await ex.json()
  if (!isObject(doc)) throw badRequest('Document must be a JSON object')
  return doc
}

async function write (ex, id) {
  checkId(id)
  const doc = await bodyDocument(ex)
  if (doc._id !== undefined && typeof doc._id !== 'string') throw new HttpError(400, 'illegal_docid', 'Document id must be a string')
  const rev = namedRev(ex)
  if (rev && doc._rev && doc._rev !== rev) throw badRequest('Document rev from request body and query string have different values')
  const newEdits = ex.flag('new_edits', true)
  if (!newEdits && !doc._rev && !doc._revisions) throw badRequest('When `new_edits: false`, the document needs `_rev` or `_revisions` specified')
  answerWritten(ex, await writeDocument(ex.db, { ...doc, _id: id, _rev: doc._rev ?? rev }, { userCtx: ex.userCtx, newEdits }))
}

async function remove (ex, id) {
  checkId(id)
  const rev = namedRev(ex)
  if (!id.startsWith('_local/') && !await winner(ex.db, id)) throw notFound()
  if (id.startsWith('_local/')) await getDocument(ex.db, id)
  answerWritten(ex, await writeDocument(ex.db, { _id: id, _rev: rev, _deleted: true }, { userCtx: ex.userCtx }), 200)
}

async function copy (ex, id) {
  const destination = ex.headers.destination
  if (!destination) throw badRequest('Destination header is mandatory for COPY.')
  if (/^https?:\/\//i.test(destination)) throw badRequest('Destination URL must be relative.')
  const [target, rev] = destination.split('?rev=')
  const source = await getDocument(ex.db, id, { ...readOptions(ex), attachments: true })
  const { _revisions, _conflicts, ...doc } = source
  const newId = decode(target.replace(/^\//, ''))
  answerWritten(ex, await writeDocument(ex.db, { ...doc, _id: newId, _rev: rev === undefined ? undefined : requireRev(rev) }, { userCtx: ex.userCtx }))
}

const methods = { GET: read, HEAD: read, PUT: write, DELETE: remove, COPY: copy }

export async function documentRoute (ex, id) {
  const handler = Object.hasOwn(methods, ex.method) ? methods[ex.method] : undefined
  if (!handler) throw notAllowed(['DELETE', 'GET', 'HEAD', 'PUT', 'COPY'])
  await handler(ex, id)
}
