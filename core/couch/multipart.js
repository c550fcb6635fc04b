// Parses multipart bodies, in browsers and in Node: CouchDB's answers to _bulk_get, and documents that are sent to the
// embedded store. Their attachments are not base64 as in JSON, so twice as many tiles a second are read.
import { TilecouchError } from '../errors.js'
import { jsonOf } from '../values.js'

const encode = text => new TextEncoder().encode(text)
const decoder = new TextDecoder()

const CRLF = encode('\r\n')
const BLANK = encode('\r\n\r\n')
const DASH = 0x2d

// A store checks its size limits with the length that a document states. A writer may state a wrong length.
export const WRONG_LENGTH = 'an attachment does not have the length that its document says'

/**
 * Reads the documents of a multipart/mixed body. `data` of an attachment is a view of the body, not a copy.
 * @param {Uint8Array} body
 * @param {(error: {id: string, rev?: string, error: string, reason: string}) => void} [onError] called for each
 * document that could not be read, most often because it does not exist
 * @returns {any[]}
 */
export function parseBulkGet (body, onError) {
  // the body names its own boundary in its first line
  const start = indexOf(body, encode('--'), 0)
  const end = indexOf(body, CRLF, start)
  if (start < 0 || end < 0) throw cutOff()
  const docs = []
  for (const { headers, content } of readParts(body, body.subarray(start, end), start)) {
    const type = headers['content-type'] ?? ''
    const relatedType = /^multipart\/related;\s*boundary="?([^";]+)"?/i.exec(type)
    if (relatedType) {
      const { doc, reason } = parseRelated(content, encode(`--${relatedType[1]}`))
      if (!reason) docs.push(doc)
      else onError?.({ id: doc._id, rev: doc._rev, error: 'bad_attachment', reason })
    } else if (!/error="?true/i.test(type)) docs.push(parseJson(content))
    else onError?.(parseJson(content))
  }
  return docs
}

function parseRelated (content, delimiter) {
  const [first, ...attachmentParts] = readParts(content, delimiter, indexOf(content, delimiter, 0))
  const doc = parseJson(first.content)
  // the attachments follow in the order in which the document names them
  const following = Object.values(doc._attachments ?? {}).filter(attachment => attachment.follows)
  if (following.length !== attachmentParts.length) throw cutOff()
  const lengthOf = attachment => attachment.encoded_length ?? attachment.length
  const isWrong = following.some((attachment, index) => attachmentParts[index].content.length !== lengthOf(attachment))
  following.forEach((attachment, index) => {
    attachment.data = attachmentParts[index].content
    delete attachment.follows
  })
  return { doc, reason: isWrong ? WRONG_LENGTH : undefined }
}

/**
 * Reads the parts of a body. Throws BAD_ANSWER if the body is cut off.
 * @param {Uint8Array} body @param {string} boundary
 * @returns {{headers: Record<string, string>, content: Uint8Array}[]}
 */
export function partsOf (body, boundary) {
  const delimiter = encode(`--${boundary}`)
  return readParts(body, delimiter, indexOf(body, delimiter, 0))
}

/** Reads parts. A part between two delimiters has headers, a blank line and content. */
function readParts (body, delimiter, delimiterStart) {
  const bodies = []
  for (;;) {
    if (delimiterStart < 0) throw cutOff()
    const delimiterEnd = delimiterStart + delimiter.length
    if (body[delimiterEnd] === DASH && body[delimiterEnd + 1] === DASH) return bodies // "--": the last delimiter
    const blank = indexOf(body, BLANK, delimiterEnd)
    if (blank < 0) throw cutOff()
    const headers = parseHeaders(decoder.decode(body.subarray(delimiterEnd, blank)))
    const contentStart = blank + BLANK.length
    // content of a stated length is not searched: it may contain the delimiter
    const length = /^\d{1,15}$/.test(headers['content-length'] ?? '') ? +headers['content-length'] : 0
    delimiterStart = indexOfLine(body, delimiter, contentStart + length)
    bodies.push({ headers, content: body.subarray(contentStart, delimiterStart - CRLF.length) })
  }
}

/** The position of the next line that begins with a text, or -1. */
function indexOfLine (bytes, text, from) {
  for (let end = indexOf(bytes, CRLF, from); end >= 0; end = indexOf(bytes, CRLF, end + 1)) {
    if (startsWith(bytes, text, end + CRLF.length)) return end + CRLF.length
  }
  return -1
}

function indexOf (bytes, text, from) {
  let position = bytes.indexOf(text[0], from)
  while (position >= 0 && !startsWith(bytes, text, position)) position = bytes.indexOf(text[0], position + 1)
  return position
}

function startsWith (bytes, text, start) {
  for (let index = 0; index < text.length; index++) if (bytes[start + index] !== text[index]) return false
  return true
}

function parseHeaders (text) {
  const headers = /** @type {Record<string, string>} */ ({})
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim()
  }
  return headers
}

/** The value of JSON in bytes; undefined if it is invalid or cut off. @param {Uint8Array} bytes @returns {any} */
export const jsonIn = bytes => jsonOf(decoder.decode(bytes))

/** Like jsonIn, but throws BAD_ANSWER. @param {Uint8Array} bytes @returns {any} */
export function parseJson (bytes) {
  const value = jsonIn(bytes)
  if (value === undefined) throw cutOff()
  return value
}

const cutOff = () => new TilecouchError('BAD_ANSWER', { url: '_bulk_get', why: 'cut off' })
