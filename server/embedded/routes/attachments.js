// Attachments by document and name. Bytes go out as they came in, with the md5 as ETag.
import { notAllowed, notFound } from '../errors.js'
import { attachmentBytes, findDocument, getDocument, requireRev } from '../documents.js'
import { checkId, writeDocument } from '../writer.js'
import { documentPath, namedRev } from './documents.js'

async function read (ex, id, name) {
  const doc = await getDocument(ex.db, id, ex.query.rev === undefined ? {} : { rev: requireRev(ex.query.rev) })
  const stub = Object.hasOwn(doc._attachments ?? {}, name) ? doc._attachments[name] : undefined
  if (!stub) throw notFound('Document is missing attachment')
  const etag = `"${stub.digest.slice('md5-'.length)}"`
  if (ex.unchanged(etag)) return
  const headers = { 'Content-Type': stub.content_type || 'application/octet-stream', ETag: etag, 'Accept-Ranges': 'none', 'Cache-Control': 'must-revalidate' }
  if (ex.method !== 'HEAD') return ex.send(200, await attachmentBytes(ex.db, id, name, stub), headers)
  ex.res.writeHead(200, { ...headers, 'Content-Length': stub.length })
  ex.res.end()
}

/** The document without its revision tree, ready to be written again. */
const base = async (ex, id, rev) => (rev ? getDocument(ex.db, id, { rev }) : findDocument(ex.db, id))

async function write (ex, id, name) {
  checkId(id)
  const rev = namedRev(ex)
  const data = (await ex.bytes()).toString('base64')
  const doc = await base(ex, id, rev) ?? { _id: id }
  const attachments = { ...doc._attachments, [name]: { content_type: ex.headers['content-type'] ?? 'application/octet-stream', data } }
  const written = await writeDocument(ex.db, { ...doc, _id: id, _rev: rev, _attachments: attachments }, { userCtx: ex.userCtx })
  const location = `${ex.origin()}${documentPath(ex.db, id)}/${name.split('/').map(encodeURIComponent).join('/')}`
  ex.sendJson(201, { ok: true, id, rev: written.rev }, { ETag: `"${written.rev}"`, Location: location })
}

async function remove (ex, id, name) {
  checkId(id)
  const rev = namedRev(ex)
  const doc = await getDocument(ex.db, id, rev ? { rev } : {})
  if (!Object.hasOwn(doc._attachments ?? {}, name)) throw notFound('Document is missing attachment')
  const { [name]: removed, ...attachments } = doc._attachments
  const written = await writeDocument(ex.db, { ...doc, _rev: rev, _attachments: attachments }, { userCtx: ex.userCtx })
  ex.sendJson(200, { ok: true, id, rev: written.rev })
}

const methods = { GET: read, HEAD: read, PUT: write, DELETE: remove }

export async function attachmentRoute (ex, id, name) {
  const handler = Object.hasOwn(methods, ex.method) ? methods[ex.method] : undefined
  if (!handler) throw notAllowed(['DELETE', 'GET', 'HEAD', 'PUT'])
  await handler(ex, id, name)
}
