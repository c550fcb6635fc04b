// A SQLite file that is read by another process, see child.js.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { TilecouchError } from '../../../core/index.js'

const CHILD = fileURLToPath(new URL('child.js', import.meta.url))

export class Remote {
  #file
  #signal
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child

  /** @param {string} file @param {AbortSignal} [signal] ends what is being asked, however long it would take */
  constructor (file, signal) {
    this.#file = file
    this.#signal = signal
    signal?.addEventListener('abort', this.#end)
  }

  #end = () => this.#child?.kill('SIGKILL')

  /**
   * The rows of a statement, one question at a time. Texts should be asked for as blobs: what is no UTF-8 ends the other process.
   * @param {string} sql
   * @returns {AsyncGenerator<any[]>}
   */
  async * rows (sql) {
    let answer = await this.#send({ ask: sql })
    for (;;) {
      if (answer.error !== undefined) throw new Error(answer.error)
      // the next are on their way while these are looked at
      const next = answer.done ? undefined : this.#send({ more: true })
      next?.catch(() => {}) // met when it is waited for
      yield * answer.rows
      if (!next) return
      answer = await next
    }
  }

  /** @returns {Promise<{rows: any[][], done: boolean, error?: string}>} */
  async #send (message) {
    if (this.#signal?.aborted) throw new TilecouchError('ABORTED')
    const child = this.#child ??= fork(CHILD, [this.#file], { serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'], execArgv: [] })
    const over = new AbortController()
    try {
      const ended = once(child, 'exit', { signal: over.signal }).then(() => undefined)
      const answered = once(child, 'message', { signal: over.signal }).then(([answer]) => answer)
      child.send(message, () => {}) // that it is gone, its exit says
      const answer = await Promise.race([answered, ended])
      for (const waiting of [answered, ended]) waiting.catch(() => {})
      if (answer) return answer
    } finally {
      over.abort()
    }
    this.#child = undefined // another one answers the next question
    if (this.#signal?.aborted) throw new TilecouchError('ABORTED')
    throw new Error(`reading it ended the process that did (${child.signalCode ?? child.exitCode})`)
  }

  async close () {
    this.#signal?.removeEventListener('abort', this.#end)
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
}
