// The body of a question to /db: read, bounded and parsed; it is written anew, so that the store is asked what was looked at here.
// What is no question of CouchDB's is said here, since it answers some of them with 500.
import { Refusal, badRequest, tooLarge } from './refusal.js'

export const MAX_BODY = 2 * 1024 * 1024 // bytes: 10,000 revisions to compare are 0.7 MB
const MAX_DEPTH = 32 // of selectors and keys
const MAX_PATTERN = 256 // characters of a $regex
const MAX_REPEATS = 4 // of * + ? {} in it

/**
 * @param {import('node:http').IncomingMessage} req
 * @param {string} name of the question, as parseReading says
 * @returns {Promise<Record<string, any>>}
 */
export async function readQuestion (req, name) {
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
  walk(body, 0)
}

/** @param {any} value @param {number} depth */
function walk (value, depth) {
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw badRequest('too many levels')
  for (const [name, inner] of Object.entries(value)) {
    if (name === '$regex' && !(isText(inner) && isTame(inner))) throw badRequest('such a $regex may take for ever')
    walk(inner, depth + 1)
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
