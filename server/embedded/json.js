// JSON that others sent. What is nested too deep is refused before anything walks through it: PouchDB, LevelDB and our own code
// call themselves for each level, and where the stack ends inside of one of their callbacks, the process ends as well.
import { badRequest } from './errors.js'

const MOST_LEVELS = 200 // arrays and objects within each other

const [QUOTE, BACKSLASH] = Buffer.from('"\\')
const [ARRAY, OBJECT, END_OF_ARRAY, END_OF_OBJECT] = Buffer.from('[{]}')

/** @param {Buffer | string} text @returns {any} */
export function parseJson (text) {
  const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text)
  if (isDeep(bytes)) throw badRequest(`JSON may have ${MOST_LEVELS} levels`)
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw badRequest('invalid UTF-8 JSON')
  }
}

/** Whether it has too many levels. Strings are passed over at once: nearly all of a batch of tiles is inside of some. @param {Buffer} bytes */
function isDeep (bytes) {
  let level = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
      if (at < 0) return false // it ends in the middle, which the parser will say
    } else if (byte === ARRAY || byte === OBJECT) {
      if (++level > MOST_LEVELS) return true
    } else if (byte === END_OF_ARRAY || byte === END_OF_OBJECT) level--
  }
  return false
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
