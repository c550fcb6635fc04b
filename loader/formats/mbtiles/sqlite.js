// Reads an untrusted SQLite file in another process (see sqlite-child.js), which can be stopped and has a limit of
// memory. Texts should be asked for as blobs, with `cell`: a text that is not UTF-8 ends the other process.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { TilecouchError } from '../../errors.js'
import { sourceLimits } from '../reading.js'

const CHILD = fileURLToPath(new URL('sqlite-child.js', import.meta.url))
const SHOWN = 200 // bytes of a cell that is no number
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot'] // environment, without passwords

/** SQL for a column: a number as it is, and only the beginning of any other value, as a blob. */
export const cell = column =>
  `CASE WHEN typeof(${column}) IN ('text', 'blob') THEN substr(CAST(${column} AS BLOB), 1, ${SHOWN}) ELSE ${column} END`

/** Turns a blob into a text. */
export const textOf = value => value instanceof Uint8Array ? Buffer.from(value).toString() : value

/** @typedef {{rows: any[], done: boolean, error?: string}} Answer */

export class SqliteFile {
  #signal
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child
  /** @type {{resolve: (answer: Answer) => void, reject: (error: Error) => void, timer: NodeJS.Timeout}[]} */
  #waiting = []
  #cursor = 0
  #isSilent = false

  /** @param {AbortSignal} [signal] ends the process, however long its question would take */
  constructor (file, signal) {
    this.file = file
    this.#signal = signal
    signal?.addEventListener('abort', this.#kill)
  }

  #kill = () => this.#child?.kill('SIGKILL')

  /**
   * The rows of a statement, for each of a list of parameters. They must be small: some hundred are in memory at once.
   * @param {any[][]} [parameterLists]
   * @returns {AsyncGenerator<any[]>}
   */
  async * rows (sql, parameterLists) {
    const cursor = ++this.#cursor
    let answer = await this.#send({ ask: sql, each: parameterLists, cursor })
    try {
      for (;;) {
        if (answer.error !== undefined) throw new Error(answer.error)
        // the next rows are fetched while these are used
        const next = answer.done ? undefined : this.#send({ more: cursor })
        next?.catch(() => {}) // thrown when it is awaited
        yield * answer.rows
        if (!next) return
        answer = await next
      }
    } finally {
      if (!answer.done && this.#child && !this.#signal?.aborted) this.#send({ end: cursor }).catch(() => {})
    }
  }

  /**
   * One row for each of a list of parameters: as many rows as fit into one answer, and one at least.
   * @param {any[][]} parameterLists
   * @returns {Promise<(any[] | null | Error)[]>} null: there is none; an error: why it cannot be read
   */
  async get (sql, parameterLists) {
    try {
      const { rows, error } = await this.#send({ get: sql, each: parameterLists })
      return error === undefined ? rows : [...rows, new Error(error)]
    } catch (error) {
      if (error instanceof TilecouchError) throw error
      // a row ended the process: find out which
      return parameterLists.length === 1 ? [error] : this.get(sql, parameterLists.slice(0, 1))
    }
  }

  /** Whether a table or view is recursive, so that reading it may never end. */
  async isRecursive (table) {
    for await (const [, , , step] of this.rows(`EXPLAIN QUERY PLAN SELECT * FROM ${table}`)) {
      if (/RECURSIVE STEP/.test(step)) return true
    }
    return false
  }

  /** @returns {Promise<Answer>} */
  #send (message) {
    if (this.#signal?.aborted) return Promise.reject(new TilecouchError('ABORTED'))
    const child = this.#child ??= this.#start()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#isSilent = true
        this.#kill()
      }, sourceLimits.silence)
      this.#waiting.push({ resolve, reject, timer })
      child.send(message, () => {}) // a failure shows in the event `exit`
    })
  }

  #start () {
    const env = Object.fromEntries(PASSED_ON.flatMap(name => name in process.env ? [[name, process.env[name]]] : []))
    const child = fork(CHILD, [this.file, String(sourceLimits.sqlite), String(process.pid)], {
      serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'], execArgv: [], env
    })
    child.on('message', (/** @type {Answer} */ answer) => this.#takeWaiting()?.resolve(answer))
    child.once('exit', (code, signal) => this.#onEnd(child, signal ?? code))
    child.once('error', error => this.#onEnd(child, error.message))
    return child
  }

  #takeWaiting () {
    const first = this.#waiting.shift()
    clearTimeout(first?.timer)
    return first
  }

  #onEnd (child, how) {
    if (child !== this.#child) return
    this.#child = undefined // another process answers the next question
    const error = this.#signal?.aborted
      ? new TilecouchError('ABORTED')
      : new Error(this.#isSilent ? `it gave no answer for ${sourceLimits.silence / 1000} ` +
        'seconds' : `reading it ended the process that did (${how})`)
    this.#isSilent = false
    while (this.#waiting.length) this.#takeWaiting()?.reject(error)
  }

  async close () {
    this.#signal?.removeEventListener('abort', this.#kill)
    const child = this.#child
    if (!child) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL') // it only reads
    await ended
  }
}
