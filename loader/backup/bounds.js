// What the JSON of a block may hold. A few bytes of gzip may be a million lists, or one in a million others: those are counted
// before any is made. A document that is beyond it is left out of a backup and named, or nobody could read the file.
import { formatDefaults } from './format.js'

const [QUOTE, BACKSLASH, COMMA, LIST, LIST_END, OBJECT, OBJECT_END] = [...'"\\,[]{}'].map(letter => letter.charCodeAt(0))

/** @param {Buffer} json @returns {string | undefined} what is too much */
function excessOf (json) {
  const { values, depth: deepest } = formatDefaults
  let count = 0
  let depth = 0
  let inText = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (inText) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) inText = false
    } else if (byte === QUOTE) inText = true
    else if (byte === LIST || byte === OBJECT) {
      if (++depth > deepest) return `more than ${deepest} lists in lists`
      count++
    } else if (byte === LIST_END || byte === OBJECT_END) depth--
    else if (byte === COMMA) count++
    if (count > values) return `more than ${values} values`
  }
}

/** @param {Buffer} json @returns {any} */
export function parseBounded (json) {
  const excess = excessOf(json)
  if (excess) throw new Error(excess)
  return JSON.parse(json.toString())
}

/** The JSON of a document, or what is too much about it. @param {any} doc @returns {{json?: string, excess?: string}} */
export function boundedJson (doc) {
  try {
    const json = JSON.stringify(doc)
    const bytes = Buffer.from(json)
    // it stands among others in a list in an object
    const excess = bytes.length > formatDefaults.unpacked - 100 ? `more than ${formatDefaults.unpacked} bytes` : excessOf(Buffer.concat([Buffer.from('[['), bytes]))
    return excess ? { excess } : { json }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { excess: `more than ${formatDefaults.depth} lists in lists` }
  }
}
