// multipart/related as CouchDB takes it in a PUT: the document first, then the attachments it says "follow".
import { badRequest } from './errors.js'
import { isObject } from './exchange.js'

function boundaryOf (type) {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? []
  if (!quoted && !plain) throw badRequest('missing boundary')
  return quoted ?? plain
}

/** @param {Buffer} bytes @param {string} boundary */
function split (bytes, boundary) {
  const mark = Buffer.from(`--${boundary}`)
  const parts = []
  for (let at = bytes.indexOf(mark); at >= 0;) {
    const next = bytes.indexOf(mark, at + mark.length)
    if (next < 0) break
    const part = bytes.subarray(at + mark.length + 2, next - 2)
    const end = part.indexOf('\r\n\r\n')
    const bare = part.subarray(0, 2).toString() === '\r\n' // a part without headers
    if (end < 0 && !bare) throw badRequest('malformed multipart body')
    parts.push({ headers: bare ? '' : part.subarray(0, end).toString(), body: bare ? part.subarray(2) : part.subarray(end + 4) })
    at = next
  }
  return parts
}

const nameOf = headers => /content-disposition:[^\r\n]*filename="([^"]*)"/i.exec(headers)?.[1]

/** @param {Buffer} bytes @param {string} type the Content-Type header */
export function parseMultipart (bytes, type) {
  const [first, ...files] = split(bytes, boundaryOf(type))
  if (!first) throw badRequest('malformed multipart body')
  let doc
  try {
    doc = JSON.parse(first.body.toString('utf8'))
  } catch {
    throw badRequest('invalid UTF-8 JSON')
  }
  if (!isObject(doc) || !isObject(doc._attachments ?? {})) throw badRequest('Document must be a JSON object')
  const expected = Object.entries(doc._attachments ?? {}).filter(([, attachment]) => attachment?.follows)
  for (const [i, [name, { content_type: contentType }]] of expected.entries()) {
    const file = files.find(({ headers }) => nameOf(headers) === name) ?? files[i]
    if (!file) throw badRequest(`attachment ${name} does not follow`)
    doc._attachments[name] = { content_type: contentType, data: file.body.toString('base64') }
  }
  return doc
}
