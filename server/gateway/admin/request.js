// Which requests of the control room are passed on to CouchDB: those that its page sends, and no others. The gateway is
// public, so everything else is refused here, whatever CouchDB would make of it.
import { DbError, badRequest, notFound } from '../db/errors.js'
import { isObject } from '../db/fields.js'
import { decode, readBytes } from '../db/request.js'

const READ = ['GET', 'HEAD']
const ASK = ['POST']
const BOTH = [...READ, ...ASK]
const WRITE = [...READ, 'PUT', 'DELETE']

/** A segment of the path that is a name: no special document, no special address. */
const NAME = '[^_/][^/]*'

/** Paths below `/admin/couch`, and their methods. */
const ALLOWED = /** @type {[RegExp, string[]][]} */ ([
  ['', READ], // which server it is
  ['_active_tasks', READ],
  ['_scheduler/(?:jobs|docs)', READ],
  ['_users/_all_docs', READ],
  ['_users/org\\.couchdb\\.user:[^/]+', WRITE],
  ['db', READ],
  ['db/_all_docs', BOTH],
  ['db/_all_docs/queries', ASK],
  ['db/_changes', BOTH],
  ['db/_bulk_docs', ASK],
  ['db/_local_docs', READ], // how far mirrors are
  ['db/_security', [...READ, 'PUT']],
  ['db/_compact', ASK],
  [`db/_compact/${NAME}`, ASK],
  ['db/_view_cleanup', ASK],
  [`db/_design/${NAME}`, READ],
  [`db/_design/${NAME}/_info`, READ],
  [`db/_design/${NAME}/_view/${NAME}`, BOTH],
  [`db/_design/${NAME}/_view/${NAME}/queries`, ASK],
  [`db/${NAME}`, WRITE],
  [`db/${NAME}(?:/${NAME})+`, READ] // an attachment
].map(([path, methods]) => [new RegExp(`^${path}$`), methods]))

const FEEDS = ['normal', 'longpoll']

export const MAX_BODY = 1024 * 1024 // bytes: a document of layers or rights has some kilobytes

/**
 * @typedef {object} AdminRequest
 * @property {string} method
 * @property {string[]} names segments of the path, decoded
 * @property {boolean} isSession `/_session`
 * @property {boolean} isInDb of the database of the store, else of its server
 * @property {string} path below the database, or the server
 * @property {boolean} isFeed waits for changes
 * @property {boolean} isSlow its answer may have to wait for an index
 */

/**
 * @param {string} path as it came, below `/admin/couch`
 * @param {string} search as it came, without the question mark
 * @returns {AdminRequest}
 */
export function parseAdminRequest (method, path, search) {
  const names = path === '/' ? [] : path.split('/').slice(1).map(decode)
  if (path === '') throw notFound()
  const all = names.join('/')
  const isSession = all === '_session'
  const methods = isSession ? [...BOTH, 'DELETE'] : ALLOWED.find(([pattern]) => pattern.test(all))?.[1]
  if (!methods) throw notFound('the control room asks nothing here')
  if (!methods.includes(method)) throw notHere(methods)
  const isInDb = names[0] === 'db'
  const query = new URLSearchParams(search)
  const isChanges = all === 'db/_changes'
  if (isChanges && query.getAll('feed').some(feed => !FEEDS.includes(feed))) {
    throw badRequest('the control room follows changes by normal and longpoll feeds')
  }
  const text = query.toString()
  const inner = (isInDb ? names.slice(1) : names).map(name => `/${encodeURIComponent(name)}`).join('')
  return {
    method,
    names,
    isSession,
    isInDb,
    path: (inner || (isInDb ? '' : '/')) + (text && `?${text}`),
    isFeed: isChanges && query.getAll('feed').includes('longpoll'),
    isSlow: isChanges || /^_(?:design|all_docs)$/.test(names[1])
  }
}

function notHere (methods) {
  const allowed = methods.join(', ')
  return new DbError(405, 'method_not_allowed', `the control room sends here only ${allowed}`, { Allow: allowed })
}

/**
 * The body of a POST or PUT: bounded, and known to be JSON.
 * @param {any} req @param {AdminRequest} request
 * @param {number} [most] bytes
 * @returns {Promise<{bytes: Buffer, value: any}>}
 */
export async function readAdminBody (req, { names }, most = MAX_BODY) {
  if (!/^application\/json\s*(;|$)/i.test(req.headers['content-type'] ?? '')) {
    throw new DbError(415, 'bad_content_type', 'Content-Type must be application/json')
  }
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new DbError(415, 'bad_content_encoding', 'only identity is understood')
  }
  const bytes = await readBytes(req, most)
  let value
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    throw badRequest('invalid UTF-8 JSON')
  }
  if (!isObject(value)) throw badRequest('Request body must be a JSON object')
  if (names[1] === '_bulk_docs') checkDocs(value)
  return { bytes, value }
}

/** Documents as single requests may write them, too: neither design documents nor revisions of another place. */
function checkDocs ({ docs, new_edits: newEdits }) {
  const isPlain = id => id === undefined || (typeof id === 'string' && !id.startsWith('_'))
  const areOurs = Array.isArray(docs) && docs.every(doc => isObject(doc) && isPlain(doc._id))
  if (!areOurs || (newEdits !== undefined && newEdits !== true)) {
    throw new DbError(403, 'forbidden', 'the control room writes no such documents')
  }
}
