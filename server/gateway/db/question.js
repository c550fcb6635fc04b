// The body of a question to /db: read, bounded and parsed; it is written anew, so that the store is asked what was looked at here.
// What is no question of CouchDB's is said here, since it answers some of them with 500.
import { Refusal, badRequest, tooLarge } from './refusal.js'

export const MAX_BODY = 2 * 1024 * 1024 // bytes: 10,000 revisions to compare are 0.7 MB
const MAX_DEPTH = 32 // of selectors and keys
const MAX_VALUES = 50000 // in a question
const MAX_KEYS = 10000 // documents, revisions or rows that are named in one
const MAX_DOCS = 2000 // of them when the documents themselves are wanted: mirrors ask for 500 at once
const MAX_QUERIES = 1000 // ranges: a view of the map has some hundred columns
const MAX_PATTERN = 256 // characters of a $regex
const MAX_REPEATS = 4 // of * + ? {} in it

/**
 * @param {import('node:http').IncomingMessage} req
 * @param {string} name of the question, as parseReading says
 * @param {URLSearchParams} query
 * @returns {Promise<Record<string, any>>}
 */
export async function readQuestion (req, name, query) {
  const encoding = req.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw new Refusal(415, 'bad_content_encoding', 'only identity is understood')
  const bytes = await readBody(req)
  if (!bytes.length && name === '_changes') return {}
  if (!/^application\/json\s*(;|$)/i.test(req.headers['content-type'] ?? '')) throw new Refusal(415, 'bad_content_type', 'Content-Type must be application/json')
  let body
  try {
    body = JSON.parse(bytes.toString())
  } catch {
    throw badRequest('invalid UTF-8 JSON')
  }
  if (!isObject(body)) throw badRequest('Request body must be a JSON object')
  checkQuestion(name, body)
  checkNumbers(name, body, query)
  return body
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

const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = value => typeof value === 'string'
const listOf = test => value => Array.isArray(value) && value.every(test)
const isCount = value => Number.isSafeInteger(value) && value >= 0
const isRange = value => isObject(value) && (value.keys === undefined || Array.isArray(value.keys))
const isReference = value => isObject(value) && isText(value.id) && (value.rev === undefined || isText(value.rev))

/** Documents that are answered as a whole are held in memory on the way, in the embedded store all at once. */
function checkNumber (count, most) {
  if (count > most) throw new Refusal(413, 'too_large', `a question may name ${most} documents, rows or ranges`)
}

const listIn = value => Array.isArray(value) ? value : []

/** How many documents, keys or ranges a question names. @param {string} name @param {Record<string, any>} body @param {URLSearchParams} query */
function checkNumbers (name, body, query) {
  const queries = listIn(body.queries)
  const whole = [body, ...queries, Object.fromEntries(query)].some(args => /^true$/.test(args?.include_docs) || /^true$/.test(args?.attachments))
  const lists = [body.keys, body.docs, body.doc_ids, ...queries.map(args => args?.keys)]
  const named = lists.reduce((sum, list) => sum + listIn(list).length, 0)
  checkNumber(named, whole || name === '_bulk_get' ? MAX_DOCS : MAX_KEYS)
  checkNumber(queries.length, MAX_QUERIES)
  if (name === '_revs_diff') checkNumber(Object.keys(body).length, MAX_KEYS)
}

/**
 * Images in rows: of so many rows alone, since no store answers them piece by piece.
 * @param {{question: string, query: URLSearchParams}} reading @param {any} [body]
 */
export function checkImages ({ question, query }, body) {
  if (['document', 'attachment', '_bulk_get'].includes(question)) return
  for (const args of [{ ...Object.fromEntries(query), ...body }, ...listIn(body?.queries)]) {
    if (String(args?.attachments) !== 'true' || args.keys || args.key || args.doc_ids) continue
    if (!(Number(args.limit) <= MAX_DOCS)) throw badRequest(`with attachments=true a question needs a limit of ${MAX_DOCS} at most`)
  }
}

/** What each question must have, and what it may. @type {Record<string, {must?: Record<string, (value: any) => boolean>, may?: Record<string, (value: any) => boolean>}>} */
const questions = {
  _all_docs: { may: { keys: listOf(isText) } },
  _view: { may: { keys: Array.isArray } },
  queries: { must: { queries: listOf(isRange) } },
  _changes: { may: { doc_ids: listOf(isText), selector: isObject } },
  _bulk_get: { must: { docs: listOf(isReference) } },
  _find: { must: { selector: isObject }, may: { bookmark: isText, limit: isCount, skip: isCount, fields: listOf(isText), sort: Array.isArray, r: () => false } }
}

/** @param {string} name @param {Record<string, any>} body */
export function checkQuestion (name, body) {
  if (name === '_revs_diff' && !Object.values(body).every(listOf(isText))) throw badRequest('revisions must be lists of revision ids by document id')
  const { must = {}, may = {} } = questions[name] ?? {}
  for (const [field, test] of Object.entries({ ...must, ...may })) {
    if (body[field] === undefined ? field in must : !test(body[field])) throw badRequest(`\`${field}\` is missing or not what it has to be`)
  }
  walk(body, 0, { left: MAX_VALUES })
}

/** @param {any} value @param {number} depth @param {{left: number}} values that it may yet have */
function walk (value, depth, values) {
  if (values.left-- <= 0) throw tooLarge(MAX_BODY)
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw badRequest('too many levels')
  for (const [name, inner] of Object.entries(value)) {
    if (name === '$regex' && !(isText(inner) && isTame(inner))) throw badRequest('such a $regex may take for ever')
    walk(inner, depth + 1, values)
  }
}

/**
 * Whether a pattern ends in reasonable time on any text: everybody may ask, and the embedded store has one thread. It is, when no group
 * is repeated, nothing refers back, and little is repeated at all.
 * @param {string} pattern
 */
export function isTame (pattern) {
  const repeats = pattern.match(/[*+{]/g)?.length ?? 0
  return pattern.length <= MAX_PATTERN && repeats <= MAX_REPEATS && !/\)[*+{]|\\[1-9gk]|\(\?/.test(pattern)
}
