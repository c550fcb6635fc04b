// Runs the functions of one design document in a context of their own: no access to the server's objects, and a
// timeout, so that an endless loop ends in an error instead of a server that hangs. This keeps mistakes in, not
// attackers: only admins write design documents, and node's vm is no security boundary.
import { readFileSync } from 'node:fs'
import vm from 'node:vm'
import { HttpError, statusOf } from '../errors.js'

const TIMEOUT = 5000 // ms, CouchDB's os_process_timeout

const prelude = new vm.Script(readFileSync(new URL('prelude.js', import.meta.url), 'utf8'), { filename: 'prelude.js' })
const dispatch = new vm.Script('__dispatch(__input)')

export class DesignRuntime {
  /** @param {any} ddoc @param {number} [timeout] ms */
  constructor (ddoc, timeout = TIMEOUT) {
    this.ddoc = ddoc
    this.timeout = timeout
    this.context = null
  }

  #start () {
    const sandbox = Object.create(null)
    // microtasks count towards the timeout, or a promise could loop after the call has returned
    const context = vm.createContext(sandbox, { microtaskMode: 'afterEvaluate' })
    const { _attachments, ...ddoc } = this.ddoc
    sandbox.__input = JSON.stringify(ddoc)
    prelude.runInContext(context)
    return { context, sandbox }
  }

  /** @returns {{ok?: any, error?: any}} */
  #run (kind, payload) {
    this.context ??= this.#start()
    const { context, sandbox } = this.context
    sandbox.__input = JSON.stringify({ kind, payload })
    try {
      return JSON.parse(String(dispatch.runInContext(context, { timeout: this.timeout })))
    } catch {
      this.context = null // it stopped halfway: nothing in it can be trusted any more
      throw new HttpError(500, 'os_process_error', 'the design function ran too long or broke its sandbox')
    } finally {
      sandbox.__input = ''
    }
  }

  /**
   * Calls a design function.
   * @param {string} kind @param {any} payload
   * @param {(error: any) => HttpError} [toError]
   */
  call (kind, payload, toError = renderError) {
    const { ok, error } = this.#run(kind, payload)
    if (error) throw compilationError(error, payload.source) ?? toError(error)
    return ok
  }
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
