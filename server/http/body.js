// The body of a request, and JSON of clients, within limits.
import { jsonOf } from '../../core/values.js'
import { HttpError, badRequest, tooLarge } from './errors.js'

/** @param {import('node:http').IncomingMessage} req @param {number} most bytes @returns {Promise<Buffer>} */
export async function readBody (req, most) {
  if (Number(req.headers['content-length'] ?? 0) > most) throw tooLarge(most)
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new HttpError(415, 'bad_content_encoding', 'only identity is understood')
  }
  try {
    // otherwise Node destroys the socket when a request is not read to its end
    return await collect(req.iterator({ destroyOnReturn: false }), most, () => tooLarge(most))
  } catch (error) {
    throw error instanceof HttpError ? error : badRequest('the body was cut off')
  }
}

/** Reads a stream to its end. @param {AsyncIterable<Buffer>} stream @param {() => Error} refusal of more bytes */
export async function collect (stream, most, refusal) {
  const chunks = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > most) throw refusal()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** @param {{headers: Record<string, any>}} request */
export function requireJson ({ headers }) {
  if (/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return
  throw new HttpError(415, 'bad_content_type', 'Content-Type must be application/json')
}

// JSON. Values that are nested too deep are refused before anything walks through them: PouchDB, LevelDB and our own
// code recurse for each level, and a stack overflow inside one of their callbacks ends the process. Too many values
// are refused too: two bytes of JSON can cost as much memory as a long text.

const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,')
const [ARRAY, OBJECT, END_OF_ARRAY, END_OF_OBJECT] = Buffer.from('[{]}')

/** @param {Buffer} bytes @param {{levels: number, values: number}} most levels: of nested arrays and objects */
export function parseJson (bytes, most) {
  checkShape(bytes, most)
  const value = jsonOf(bytes.toString('utf8'))
  if (value === undefined) throw badRequest('invalid UTF-8 JSON')
  return value
}

/** Refuses too many levels, and too many values. Skips strings, since they are nearly all of a batch of tiles. */
function checkShape (bytes, most) {
  let [level, deepest, values] = [0, 0, 0]
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (byte === QUOTE) {
      index = endOfString(bytes, index)
      if (index < 0) break // incomplete: the parser will report it
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
  for (let index = bytes.indexOf(QUOTE, start + 1); index >= 0; index = bytes.indexOf(QUOTE, index + 1)) {
    let before = index - 1
    while (bytes[before] === BACKSLASH) before--
    if ((index - before) % 2) return index // an even number of backslashes
  }
  return -1
}
