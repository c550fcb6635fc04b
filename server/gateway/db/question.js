// The body of a question to /db: read, bounded and parsed; it is written anew, out of the fields that the question has, so that the
// store is asked what was looked at here.
import { fieldsOfBody, isObject } from './fields.js'
import { Refusal, badRequest, tooLarge } from './refusal.js'

export const MAX_BODY = 2 * 1024 * 1024 // bytes: 10,000 revisions to compare are 0.7 MB
const MAX_DEPTH = 32 // of selectors and keys
const MAX_VALUES = 50000 // in a question
const MAX_PATHS = 4e6 // characters of the names that lead to all of its values: CouchDB writes the path of each condition in full
const MAX_KEYS = 10000 // documents, revisions or rows that are named in one
const MAX_DOCS = 2000 // of them when the documents themselves are wanted: mirrors ask for 500 at once
const MAX_QUERIES = 1000 // ranges: a view of the map has some hundred columns
const MAX_PATTERN = 256 // characters of a $regex
const MAX_REPEATS = 2 // of * + {} in it
const MAX_OPTIONAL = 4 // of ? in it: each doubles the ways

/**
 * @param {import('node:http').IncomingMessage} req
 * @param {import('./reading.js').Reading} reading
 * @returns {Promise<Record<string, any>>}
 */
export async function readQuestion (req, { question, form, args }) {
  const encoding = req.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw new Refusal(415, 'bad_content_encoding', 'only identity is understood')
  const bytes = await readBody(req)
  if (!bytes.length && question === '_changes') return {}
  if (!/^application\/json\s*(;|$)/i.test(req.headers['content-type'] ?? '')) throw new Refusal(415, 'bad_content_type', 'Content-Type must be application/json')
  let body
  try {
    body = JSON.parse(bytes.toString())
  } catch {
    throw badRequest('invalid UTF-8 JSON')
  }
  if (!isObject(body)) throw badRequest('Request body must be a JSON object')
  return checkQuestion(form, body, args)
}

/** @param {string} form @param {Record<string, any>} given @param {Record<string, any>} [args] @returns {Record<string, any>} what of it is asked */
export function checkQuestion (form, given, args) {
  walk(given, 0, { left: MAX_VALUES, characters: MAX_PATHS }, 0)
  return fieldsOfBody(form, given, args)
}

/** @param {import('node:http').IncomingMessage} req @returns {Promise<Buffer>} */
async function readBody (req) {
  if (Number(req.headers['content-length'] ?? 0) > MAX_BODY) throw tooLarge(MAX_BODY)
  /** @type {Buffer[]} */
  const chunks = []
  let length = 0
  try {
    for await (const chunk of req) {
      length += chunk.length
      if (length > MAX_BODY) throw tooLarge(MAX_BODY)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof Refusal ? error : badRequest('the body was cut off')
  }
  return Buffer.concat(chunks)
}

/** Documents that are answered as a whole are held in memory on the way, in the embedded store all at once. */
function checkNumber (count, most) {
  if (count > most) throw new Refusal(413, 'too_large', `a question may name ${most} documents, rows or ranges`)
}

const lengthOf = value => Array.isArray(value) ? value.length : 0

/**
 * Holds the limits against what the store will be asked.
 * @param {import('./reading.js').Reading} reading @param {Record<string, any>} [body]
 * @returns {boolean} whether images are wanted, and so a large answer
 */
export function checkLimits ({ question, form, args }, body = {}) {
  const asked = question === 'queries' ? body.queries : [{ ...args, ...body }]
  const named = asked.reduce((sum, one) => sum + lengthOf(one.keys) + lengthOf(one.docs) + lengthOf(one.doc_ids) + lengthOf(one.open_revs), 0)
  const isWhole = question === '_bulk_get' || question === 'document' || asked.some(one => one.include_docs || one.attachments)
  checkNumber(named, isWhole ? MAX_DOCS : MAX_KEYS)
  checkNumber(asked.length, MAX_QUERIES)
  if (question === '_revs_diff') checkNumber(Object.keys(body).length, MAX_KEYS)
  const withImages = asked.filter(one => one.attachments || one.atts_since)
  if (!withImages.length) return false
  // no store answers rows with images piece by piece
  if (!['document', '_bulk_get'].includes(question) && withImages.reduce((sum, one) => sum + mostRows(form, one), 0) > MAX_DOCS) {
    throw badRequest(`with attachments=true a question needs a limit of ${MAX_DOCS} at most, of all its ranges together`)
  }
  return true
}

/** How many rows an answer can have. A key of a view can have any number. */
function mostRows (form, { key, keys, limit = Infinity, filter, doc_ids: ids }) {
  if (form === '_changes') return filter === '_doc_ids' ? lengthOf(ids) : limit
  return /_view/.test(form) ? limit : Math.min(limit, keys?.length ?? (key === undefined ? Infinity : 1))
}

/** @param {any} value @param {number} depth @param {{left: number, characters: number}} values that it may yet have, and characters of their paths @param {number} path characters */
function walk (value, depth, values, path) {
  values.characters -= path
  if (values.left-- <= 0 || values.characters < 0) throw tooLarge(MAX_BODY)
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw badRequest('too many levels')
  for (const [name, inner] of Object.entries(value)) {
    if (name === '$regex' && !(typeof inner === 'string' && isTame(inner))) throw badRequest('such a $regex may take for ever')
    if (name === '$mod' && Array.isArray(inner) && inner[0] === 0) throw badRequest('nothing can be divided by 0') // CouchDB answers 500
    walk(inner, depth + 1, values, path + name.length)
  }
}

/**
 * Whether a pattern ends in reasonable time on any text: everybody may ask. CouchDB gives up on a document after some 0.2 s, and there
 * are many. It does, when no group is repeated, nothing refers back, and little is repeated at all.
 * @param {string} pattern
 */
export function isTame (pattern) {
  const count = signs => pattern.match(signs)?.length ?? 0
  return pattern.length <= MAX_PATTERN && count(/[*+{]/g) <= MAX_REPEATS && count(/\?/g) <= MAX_OPTIONAL && !/\)[*+{]|\\[1-9gk]|\(\?/.test(pattern)
}
