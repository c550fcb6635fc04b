// Takes CouchDB's multipart answers to _bulk_get apart. The bytes of attachments travel as they are there, which moves
// twice as many tiles a second as base64 in JSON does.
import { TilecouchError } from '../../core/index.js'

const CRLF = Buffer.from('\r\n')
const BLANK = Buffer.from('\r\n\r\n')

/**
 * The documents of a multipart/mixed body, errors left out. Attachments have their bytes in `data`.
 * @param {Buffer} body
 * @param {(error: {id: string, error: string, reason: string}) => void} [onError] told of each document that could not be read, most often because there is none
 * @returns {any[]}
 */
export function parseBulkGet (body, onError) {
  // the body names its own boundary in its first line
  const start = body.indexOf('--')
  const end = body.indexOf(CRLF, start)
  if (start < 0 || end < 0) throw cutOff()
  const docs = []
  for (const { headers, content } of parts(body, body.subarray(start, end))) {
    const type = headers['content-type'] ?? ''
    const inner = /^multipart\/related;\s*boundary="?([^";]+)"?/i.exec(type)
    if (inner) docs.push(parseRelated(content, Buffer.from(`--${inner[1]}`)))
    else if (!/error="?true/i.test(type)) docs.push(parseJson(content))
    else onError?.(parseJson(content))
  }
  return docs
}

function parseRelated (content, delimiter) {
  const [first, ...rest] = parts(content, delimiter)
  const doc = parseJson(first.content)
  // the attachments follow in the order in which the document names them
  const following = Object.values(doc._attachments ?? {}).filter(attachment => attachment.follows)
  if (following.length !== rest.length) throw cutOff()
  following.forEach((attachment, index) => {
    if (rest[index].content.length !== (attachment.encoded_length ?? attachment.length)) throw cutOff()
    attachment.data = rest[index].content
    delete attachment.follows
  })
  return doc
}

/** Between two delimiters: headers, a blank line, content. */
function parts (body, delimiter) {
  const found = []
  let at = body.indexOf(delimiter)
  for (;;) {
    if (at < 0) throw cutOff()
    const after = at + delimiter.length
    if (body[after] === 45 && body[after + 1] === 45) return found // "--": the last delimiter
    const blank = body.indexOf(BLANK, after)
    if (blank < 0) throw cutOff()
    const headers = parseHeaders(body.toString('latin1', after, blank))
    const from = blank + BLANK.length
    // a part that says how long it is need not be searched, and may hold anything
    const length = headers['content-length'] === undefined ? 0 : +headers['content-length']
    at = body.indexOf(delimiter, from + length)
    found.push({ headers, content: body.subarray(from, at - CRLF.length) })
  }
}

function parseHeaders (text) {
  const headers = {}
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim()
  }
  return headers
}

function parseJson (content) {
  try {
    return JSON.parse(content.toString())
  } catch {
    throw cutOff()
  }
}

const cutOff = () => new TilecouchError('BAD_ANSWER', { url: '_bulk_get', why: 'cut off' })
