// Parses multipart bodies, in browsers and in Node: CouchDB's answers to _bulk_get, whose attachments are not base64 as
// in JSON (twice as many tiles a second); and documents that are sent to the embedded store.
import { TilecouchError } from '../errors.js'

const encode = text => new TextEncoder().encode(text)
const decoder = new TextDecoder()

const CRLF = encode('\r\n')
const BLANK = encode('\r\n\r\n')
const DASH = 0x2d

// A store keeps its limits by the length that a document says. A writer may say another one than the attachment has.
export const WRONG_LENGTH = 'an attachment does not have the length that its document says'

/**
 * The documents of a multipart/mixed body, errors left out. Attachments have their bytes in `data`: views of the body.
 * @param {Uint8Array} body
 * @param {(error: {id: string, rev?: string, error: string, reason: string}) => void} [onError] for each document that
 * could not be read, most often because there is none
 * @returns {any[]}
 */
export function parseBulkGet (body, onError) {
  // the body names its own boundary in its first line
  const start = find(body, encode('--'), 0)
  const end = find(body, CRLF, start)
  if (start < 0 || end < 0) throw cutOff()
  const docs = []
  for (const { headers, content } of parts(body, body.subarray(start, end), start)) {
    const type = headers['content-type'] ?? ''
    const inner = /^multipart\/related;\s*boundary="?([^";]+)"?/i.exec(type)
    if (inner) {
      const { doc, reason } = parseRelated(content, encode(`--${inner[1]}`))
      if (!reason) docs.push(doc)
      else onError?.({ id: doc._id, rev: doc._rev, error: 'bad_attachment', reason })
    } else if (!/error="?true/i.test(type)) docs.push(parseJson(content))
    else onError?.(parseJson(content))
  }
  return docs
}

function parseRelated (content, delimiter) {
  const [first, ...rest] = parts(content, delimiter, find(content, delimiter, 0))
  const doc = parseJson(first.content)
  // the attachments follow in the order in which the document names them
  const following = Object.values(doc._attachments ?? {}).filter(attachment => attachment.follows)
  if (following.length !== rest.length) throw cutOff()
  const lengthOf = attachment => attachment.encoded_length ?? attachment.length
  const isWrong = following.some((attachment, index) => rest[index].content.length !== lengthOf(attachment))
  following.forEach((attachment, index) => {
    attachment.data = rest[index].content
    delete attachment.follows
  })
  return { doc, reason: isWrong ? WRONG_LENGTH : undefined }
}

/**
 * The parts of a body; throws BAD_ANSWER when it is cut off.
 * @param {Uint8Array} body @param {string} boundary
 * @returns {{headers: Record<string, string>, content: Uint8Array}[]}
 */
export function partsOf (body, boundary) {
  const delimiter = encode(`--${boundary}`)
  return parts(body, delimiter, find(body, delimiter, 0))
}

/** Between two delimiters: headers, a blank line, content. */
function parts (body, delimiter, at) {
  const bodies = []
  for (;;) {
    if (at < 0) throw cutOff()
    const after = at + delimiter.length
    if (body[after] === DASH && body[after + 1] === DASH) return bodies // "--": the last delimiter
    const blank = find(body, BLANK, after)
    if (blank < 0) throw cutOff()
    const headers = parseHeaders(decoder.decode(body.subarray(after, blank)))
    const from = blank + BLANK.length
    // a part that says how long it is need not be searched, and may hold anything
    const length = /^\d{1,15}$/.test(headers['content-length'] ?? '') ? +headers['content-length'] : 0
    at = nextLine(body, delimiter, from + length)
    bodies.push({ headers, content: body.subarray(from, at - CRLF.length) })
  }
}

/** Where a text begins a line. */
function nextLine (bytes, text, from) {
  for (let end = find(bytes, CRLF, from); end >= 0; end = find(bytes, CRLF, end + 1)) {
    if (isAt(bytes, text, end + CRLF.length)) return end + CRLF.length
  }
  return -1
}

function find (bytes, text, from) {
  let at = bytes.indexOf(text[0], from)
  while (at >= 0 && !isAt(bytes, text, at)) at = bytes.indexOf(text[0], at + 1)
  return at
}

function isAt (bytes, text, at) {
  for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text[index]) return false
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

function parseJson (content) {
  try {
    return JSON.parse(decoder.decode(content))
  } catch {
    throw cutOff()
  }
}

const cutOff = () => new TilecouchError('BAD_ANSWER', { url: '_bulk_get', why: 'cut off' })
