// The body of a request, and JSON of clients, within limits.
import { HttpError, badRequest, tooLarge } from './errors.js'

/** @param {import('node:http').IncomingMessage} req @param {number} most bytes @returns {Promise<Buffer>} */
export async function readBody (req, most) {
  if (Number(req.headers['content-length'] ?? 0) > most) throw tooLarge(most)
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new HttpError(415, 'bad_content_encoding', 'only identity is understood')
  }
  /** @type {Buffer[]} */
  const chunks = []
  let length = 0
  try {
    // otherwise Node takes the socket away from a request of which not all is read
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      length += chunk.length
      if (length > most) throw tooLarge(most)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof HttpError ? error : badRequest('the body was cut off')
  }
  return Buffer.concat(chunks)
}

/** @param {{headers: Record<string, any>}} request */
export function requireJson ({ headers }) {
  if (/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return
  throw new HttpError(415, 'bad_content_type', 'Content-Type must be application/json')
}

// JSON. Values that are nested too deep are refused before anything walks through them: PouchDB, LevelDB and our own
// code recurse for each level, and a stack overflow inside one of their callbacks ends the process. So are too many
// values: two bytes of them can cost as much memory as a long text.

const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,')
const [ARRAY, OBJECT, END_OF_ARRAY, END_OF_OBJECT] = Buffer.from('[{]}')

/** @param {Buffer} bytes @param {{levels: number, values: number}} most levels: of nested arrays and objects */
export function parseJson (bytes, most) {
  checkShape(bytes, most)
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw badRequest('invalid UTF-8 JSON')
  }
}

/**
 * Refuses too many levels, and too many values. Strings are passed over at once: nearly all of a batch of tiles is
 * inside of some.
 */
function checkShape (bytes, most) {
  let [level, deepest, values] = [0, 0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
      if (at < 0) break // incomplete: the parser will report it
    } else if (byte === ARRAY || byte === OBJECT) {
      values++
      deepest = Math.max(deepest, ++level)
    } else if (byte === END_OF_ARRAY || byte === END_OF_OBJECT) level--
    else if (byte === COMMA) values++
    if (values > most.values) throw new HttpError(413, 'too_large', `JSON may have ${most.values} values`)
  }
  if (deepest > most.levels) throw badRequest(`JSON may have ${most.levels} levels`)
}

function endOfString (bytes, start) {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let before = at - 1
    while (bytes[before] === BACKSLASH) before--
    if ((at - before) % 2) return at // an even number of backslashes
  }
  return -1
}
