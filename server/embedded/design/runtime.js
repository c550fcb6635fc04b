// The design documents of a database, and calls of their functions. These run in threads.js, isolated, with JSON in and
// out.
import { batchesOf } from '../../../core/lists.js'
import { shared } from '../../../core/promises.js'
import { HttpError, forbidden, notFound, unauthorized } from '../../http/errors.js'
import { statusOf } from '../errors.js'
import { isObject, jsonOf } from '../../../core/values.js'
import { isBuiltIn } from '../views/query.js'

const INPUT = 2 ** 25 // characters of one call

/** Limits of one call: characters of its documents. A single document may have more. */
const LIMITS = { most: Infinity, bytes: 2 ** 21, sizeOf: text => text.length }

const broken = () => new HttpError(500, 'os_process_error', 'the design function broke its engine')

let count = 0

export class DesignRuntime {
  /** @param {import('./threads.js').DesignThreads} threads */
  constructor (ddoc, threads) {
    this.ddoc = ddoc
    this.threads = threads
    this.id = ++count
    const { _attachments, ...plain } = ddoc
    this.text = JSON.stringify(plain)
  }

  /** Calls a design function. @param {string[]} [items] as JSON */
  async call (kind, payload, toError = renderError, items = []) {
    const input = `{"kind":"${kind}","payload":${JSON.stringify(payload)},"items":[${items.join()}]}`
    if (input.length > INPUT) throw new HttpError(413, 'too_large', 'the input of a design function is too large')
    const answer = jsonOf(await this.threads.run({ id: this.id, ddoc: this.text, input }))
    if (!isObject(answer)) throw broken()
    if (answer.error) throw compilationError(answer.error, payload.source) ?? toError(answer.error)
    return answer.ok
  }

  /** Calls a design function that answers for each of many documents, some megabytes of them at a time. */
  async callEach (kind, payload, items) {
    const answers = []
    const texts = items.map(item => JSON.stringify(item) ?? 'null')
    for await (const batch of batchesOf(texts, LIMITS)) {
      const batchAnswers = await this.call(kind, payload, renderError, batch)
      if (batchAnswers?.length !== batch.length) throw broken()
      for (const answer of batchAnswers) answers.push(answer)
    }
    return answers
  }
}

function compilationError (error, source) {
  if (error.name === 'SyntaxError') return new HttpError(500, 'compilation_error', `${error.text} (${source})`)
  if (error.tuple) return new HttpError(statusOf(error.tuple[1]), error.tuple[1] ?? 'error', error.tuple[2] ?? '')
}

/** The error that a show, list or rewrite function threw. */
export function renderError (error, name = 'render_error') {
  const { object } = error
  if (object?.error !== undefined && object.reason !== undefined) {
    return new HttpError(500, String(object.error), String(object.reason))
  }
  return new HttpError(500, name, `function raised error: ${error.text} \nstacktrace: ${error.stack}`)
}

/** The error that a validation function threw: forbidden and unauthorized are answers, anything else is a fault. */
export function validationError (error) {
  const { object, tuple } = error
  if (object?.forbidden !== undefined) return forbidden(asText(object.forbidden))
  if (object?.unauthorized !== undefined) return unauthorized(asText(object.unauthorized))
  if (tuple) return new HttpError(statusOf(tuple[1]), tuple[1] ?? 'error', tuple[2] ?? '')
  const reason = error.message ?? (object ? asText(Object.values(object)[0]) : error.text)
  return new HttpError(500, error.name ?? 'unknown_error', reason)
}

const asText = value => typeof value === 'string' ? value : JSON.stringify(value) ?? ''

/**
 * The design documents of a database. They are read again only after a change, not for each document of a bulk load.
 */
export class DesignCache {
  /** @param {import('../databases.js').Database} database @param {import('./threads.js').DesignThreads} threads */
  constructor (database, threads) {
    this.database = database
    this.threads = threads
    this.all = shared(() => this.#load())
  }

  /** Called when a design document was written. */
  invalidate () {
    this.all = shared(() => this.#load())
  }

  async #load () {
    const { rows } = await this.database.pouch.allDocs({ startkey: '_design/', endkey: '_design0', include_docs: true })
    return new Map(rows.map(({ doc }) => [doc._id, new DesignRuntime(doc, this.threads)]))
  }

  /** @returns {Promise<DesignRuntime>} */
  async get (name) {
    const runtime = (await this.all()).get(`_design/${name}`)
    if (!runtime) throw notFound('missing')
    return runtime
  }

  /** The design documents that validate. */
  async validators () {
    return [...(await this.all()).values()].filter(({ ddoc }) => typeof ddoc.validate_doc_update === 'string')
  }
}

/** The source of a design function such as shows/tilejson. */
export function functionOf (ddoc, group, name) {
  const source = Object.hasOwn(ddoc[group] ?? {}, name) ? ddoc[group][name] : undefined
  if (typeof source !== 'string') throw notFound(`missing json key: ${name}`)
  return source
}

const invalid = reason => new HttpError(400, 'invalid_design_doc', reason)

/** Refuses a field of another type. The field may be missing. @param {'object' | 'string'} type */
function requireType (type, name, value) {
  const isRight = type === 'object' ? isObject(value) : typeof value === type
  if (value !== undefined && !isRight) throw invalid(`\`${name}\` field must have ${type} type`)
}

/**
 * Refuses a design document that CouchDB refuses when it is written, not only when it is used.
 * @param {import('./threads.js').DesignThreads} threads
 */
export async function checkDesign (ddoc, threads) {
  const groups = ['shows', 'lists', 'filters', 'updates']
  for (const group of [...groups, 'views', 'options']) requireType('object', group, ddoc[group])
  for (const group of groups) {
    for (const [name, source] of Object.entries(ddoc[group] ?? {})) requireType('string', `${group}.${name}`, source)
  }
  for (const name of ['validate_doc_update', 'language']) requireType('string', name, ddoc[name])
  const { rewrites } = ddoc
  if (rewrites !== undefined && typeof rewrites !== 'string' && !Array.isArray(rewrites)) {
    throw invalid('`rewrites` field must have array or string type')
  }
  if ((ddoc.language ?? 'javascript') !== 'javascript') return
  const runtime = new DesignRuntime(ddoc, threads)
  for (const [name, view] of Object.entries(ddoc.views ?? {})) {
    if (name !== 'lib') await checkView(name, view, runtime)
  }
}

/** Checks a view. Its map function is parsed, but does not run. */
async function checkView (name, view, runtime) {
  requireType('object', `views.${name}`, view)
  requireType('string', `views.${name}.map`, view.map)
  requireType('string', `views.${name}.reduce`, view.reduce)
  if (view.reduce && !isBuiltIn(view.reduce)) {
    throw invalid(`\`${view.reduce}\` is not a supported reduce function: use _count or _stats.`)
  }
  const fault = view.map && await runtime.call('parse', { source: view.map })
  if (!fault) return
  const where = `Compilation of the map function in the '${name}' view failed`
  throw new HttpError(400, 'compilation_error', `${where}: ${fault} (${view.map})`)
}
