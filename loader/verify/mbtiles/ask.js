// Long questions to a SQLite file, see ask-child.js.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { TilecouchError } from '../../../core/index.js'

const CHILD = fileURLToPath(new URL('ask-child.js', import.meta.url))

/**
 * @param {string} file
 * @param {string[]} questions SQL
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<{question: number, row?: any[], error?: string}>}
 */
export async function * ask (file, questions, signal) {
  if (signal?.aborted) throw new TilecouchError('ABORTED')
  const child = spawn(process.execPath, [CHILD, file, ...questions], { stdio: ['ignore', 'pipe', 'ignore'] })
  const closed = once(child, 'close')
  closed.catch(() => {})
  const end = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', end)
  let last = 0
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [question, ...row] = JSON.parse(line)
      last = question
      yield row[0] === null && typeof row[1] === 'string' && row.length === 2 ? { question, error: row[1] } : { question, row }
    }
    const [code, killer] = await closed
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (code !== 0) yield { question: last, error: `reading it ended the process that did (${killer ?? `exit code ${code}`})` }
  } finally {
    signal?.removeEventListener('abort', end)
    end()
  }
}
