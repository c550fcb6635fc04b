// Documents with attachments as multipart. CouchDB takes multipart/related in a PUT: the document first, then the
// attachments that "follow". CouchDB's replicator reads multipart/mixed.
import { randomUUID } from 'node:crypto'
import { partsOf } from '../../core/couch/multipart.js'
import { unpack } from '../../loader/formats/unpack.js'
import { badRequest } from '../http/errors.js'
import { MAX_BODY, parseJson } from './exchange.js'
import { attempt, isObject } from '../../core/values.js'

const nameOf = ({ 'content-disposition': disposition = '' }) => /filename="([^"]*)"/i.exec(disposition)?.[1]

/** @param {string} type the Content-Type header */
function split (bytes, type) {
  const [, quoted, boundary = quoted] = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? []
  if (!boundary) throw badRequest('missing boundary')
  const parts = attempt(() => partsOf(bytes, boundary))
  if (!parts?.length) throw badRequest('malformed multipart body')
  return parts.map(({ headers, content }) => ({ name: nameOf(headers), body: /** @type {Buffer} */ (content) }))
}

/** Parses a document whose attachments follow it. */
export async function parseMultipart (bytes, type) {
  const [first, ...files] = split(bytes, type)
  const doc = parseJson(first.body)
  if (!isObject(doc) || !isObject(doc._attachments ?? {})) throw badRequest('Document must be a JSON object')
  const expected = Object.entries(doc._attachments ?? {}).filter(([, attachment]) => attachment?.follows)
  // of two files with one name, the first counts
  const filesByName = new Map(files.map(file => /** @type {const} */ ([file.name, file])).reverse())
  let room = MAX_BODY
  for (const [i, [name, { content_type: contentType, encoding }]] of expected.entries()) {
    const file = filesByName.get(name) ?? files[i]
    if (!file) throw badRequest(`attachment ${name} does not follow`)
    const body = encoding === 'gzip' ? await unpackText(file.body, name, room) : file.body
    room -= body.length
    doc._attachments[name] = { content_type: contentType, data: body.toString('base64') }
  }
  return doc
}

/** Unpacks text, which CouchDB keeps and sends compressed. All attachments may have as many bytes as a body. */
const unpackText = (bytes, name, room) => unpack(bytes, { limit: Math.max(1, room) }).catch(() => {
  throw badRequest(`attachment ${name} is not compressed as it says, or too large`)
})

/**
 * Writes documents one after the other, with attachments inline, and missing revisions.
 * @param {any[]} revisions {ok} or {missing}
 * @returns {{type: string, body: string}}
 */
export function toMultipart (revisions) {
  const boundary = randomUUID()
  const typeOf = ok => `application/json${ok ? '' : '; error="true"'}`
  const parts = revisions.map(({ ok, missing }) =>
    `\r\n--${boundary}\r\nContent-Type: ${typeOf(ok)}\r\n\r\n${JSON.stringify(ok ?? { missing })}`)
  // the first boundary has no line end before it
  return { type: `multipart/mixed; boundary="${boundary}"`, body: `${parts.join('').slice(2)}\r\n--${boundary}--` }
}
