// JSON that others sent. What is nested too deep is refused before anything walks through it: PouchDB, LevelDB and our own code
// call themselves for each level, and where the stack ends inside of one of their callbacks, the process ends as well.
import { HttpError, badRequest } from './errors.js'

const MOST_LEVELS = 200 // arrays and objects within each other
const MOST_VALUES = 1e6 // a batch of documents has some ten thousand

const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,')
const [ARRAY, OBJECT, END_OF_ARRAY, END_OF_OBJECT] = Buffer.from('[{]}')

/** @param {Buffer | string} text @returns {any} */
export function parseJson (text) {
  const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text)
  checkShape(bytes)
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw badRequest('invalid UTF-8 JSON')
  }
}

/** Refuses too many levels, and too many values. Strings are passed over at once: nearly all of a batch of tiles is inside of some. @param {Buffer} bytes */
function checkShape (bytes) {
  let level = 0
  let values = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
      if (at < 0) return // it ends in the middle, which the parser will say
    } else if (byte === ARRAY || byte === OBJECT) {
      if (++level > MOST_LEVELS) throw badRequest(`JSON may have ${MOST_LEVELS} levels`)
    } else if (byte === END_OF_ARRAY || byte === END_OF_OBJECT) level--
    else if (byte === COMMA && ++values > MOST_VALUES) throw new HttpError(413, 'too_large', `JSON may have ${MOST_VALUES} values`)
  }
}

/** @param {Buffer} bytes @param {number} start */
function endOfString (bytes, start) {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let before = at - 1
    while (bytes[before] === BACKSLASH) before--
    if ((at - before) % 2) return at // an even number of backslashes
  }
  return -1
}
