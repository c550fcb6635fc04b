// Calls the functions of one design document. They run in threads.js, apart from everything, and get and give JSON.
import { HttpError, statusOf } from '../errors.js'

const INPUT = 2 ** 25 // characters of one call
const LOT = 2 ** 21 // characters of the documents that one call is given, unless one alone has more

let count = 0

export class DesignRuntime {
  /** @param {any} ddoc @param {import('./threads.js').DesignThreads} threads */
  constructor (ddoc, threads) {
    this.ddoc = ddoc
    this.threads = threads
    this.id = ++count
    const { _attachments, ...plain } = ddoc
    this.text = JSON.stringify(plain)
  }

  /** @returns {Promise<{ok?: any, error?: any}>} */
  async #run (input) {
    if (input.length > INPUT) throw new HttpError(413, 'too_large', 'this is too much for a design function')
    const text = await this.threads.run({ id: this.id, ddoc: this.text, input })
    try {
      const { ok, error } = JSON.parse(text)
      return { ok, error }
    } catch {
      throw new HttpError(500, 'os_process_error', 'the design function broke its engine')
    }
  }

  /**
   * Calls a design function.
   * @param {string} kind @param {any} payload
   * @param {(error: any) => HttpError} [toError]
   */
  async call (kind, payload, toError = renderError) {
    const { ok, error } = await this.#run(JSON.stringify({ kind, payload }))
    if (error) throw compilationError(error, payload.source) ?? toError(error)
    return ok
  }

  /**
   * Calls a design function that answers for each of many documents, some megabytes of them at a time.
   * @param {string} kind @param {any} payload @param {any[]} items
   * @returns {Promise<any[]>}
   */
  async callEach (kind, payload, items) {
    const answers = []
    for (const lot of lots(items.map(item => JSON.stringify(item) ?? 'null'))) {
      const { ok, error } = await this.#run(`{"kind":${JSON.stringify(kind)},"payload":${JSON.stringify(payload)},"items":[${lot.join()}]}`)
      if (error) throw compilationError(error, payload.source) ?? renderError(error)
      if (ok?.length !== lot.length) throw new HttpError(500, 'os_process_error', 'the design function broke its engine')
      for (const answer of ok) answers.push(answer)
    }
    return answers
  }
}

/** @param {string[]} texts */
function * lots (texts) {
  let lot = []
  let length = 0
  for (const text of texts) {
    if (lot.length && length + text.length > LOT) {
      yield lot
      lot = []
      length = 0
    }
    lot.push(text)
    length += text.length
  }
  if (lot.length) yield lot
}

function compilationError (error, source) {
  if (error.name === 'SyntaxError') return new HttpError(500, 'compilation_error', `${error.text} (${source})`)
  if (error.tuple) return new HttpError(statusOf(error.tuple[1]), error.tuple[1] ?? 'error', error.tuple[2] ?? '')
}

/** What a show, list or update function threw. */
export function renderError (error, name = 'render_error') {
  const { object } = error
  if (object?.error !== undefined && object.reason !== undefined) return new HttpError(500, String(object.error), String(object.reason))
  return new HttpError(500, name, `function raised error: ${error.text} \nstacktrace: ${error.stack}`)
}

/** What a validation function threw: forbidden and unauthorized are its answers, the rest its mistakes. */
export function validationError (error) {
  const { object, tuple } = error
  if (object?.forbidden !== undefined) return new HttpError(403, 'forbidden', asText(object.forbidden))
  if (object?.unauthorized !== undefined) return new HttpError(401, 'unauthorized', asText(object.unauthorized))
  if (tuple) return new HttpError(statusOf(tuple[1]), tuple[1] ?? 'error', tuple[2] ?? '')
  return new HttpError(500, error.name ?? 'unknown_error', error.message ?? (object ? asText(Object.values(object)[0]) : error.text))
}

const asText = value => typeof value === 'string' ? value : JSON.stringify(value) ?? ''
