// A password typed in on a terminal, of which nothing is shown. The question goes to standard error: the result may be piped on.
import { createInterface } from 'node:readline'
import { TilecouchError } from '../../core/index.js'

const [CTRL_C, CTRL_D, BACKSPACE, DELETE, CTRL_U] = ['\u0003', '\u0004', '\b', '\u007f', '\u0015']

/**
 * @param {string} question
 * @param {{stdin?: any, stderr?: NodeJS.WritableStream}} [streams]
 * @returns {Promise<string>}
 */
export function promptSecret (question, { stdin = process.stdin, stderr = process.stderr } = {}) {
  return new Promise((resolve, reject) => {
    let text = ''
    const end = (settle, value) => {
      stdin.off('data', onData)
      stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
      settle(value)
    }
    const onData = chunk => {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n') return end(resolve, text)
        if (key === CTRL_C || key === CTRL_D) return end(reject, new TilecouchError('ABORTED'))
        if (key === BACKSPACE || key === DELETE) text = [...text].slice(0, -1).join('')
        else if (key === CTRL_U) text = ''
        else if (key >= ' ') text += key
      }
    }
    stderr.write(question)
    stdin.setRawMode(true)
    stdin.setEncoding('utf8')
    stdin.on('data', onData)
    stdin.resume()
  })
}

/**
 * Whether somebody says yes; anything else is no. Nothing where nobody sits: there is nobody to ask.
 * @param {{stdin?: any, stderr?: any, signal?: AbortSignal}} [streams]
 * @returns {((question: string) => Promise<boolean>) | undefined}
 */
export function confirmOn ({ stdin = process.stdin, stderr = process.stderr, signal } = {}) {
  if (!stdin.isTTY || !stderr.isTTY) return undefined
  return question => new Promise((resolve, reject) => {
    const lines = createInterface({ input: stdin, output: stderr, terminal: false, signal })
    lines.once('line', line => {
      resolve(/^y(es)?$/i.test(line.trim()))
      lines.close()
    })
    lines.once('close', () => reject(new TilecouchError('ABORTED')))
    stderr.write(question)
  })
}

/**
 * How the command line asks: not at all where nobody sits.
 * @param {{stdin?: any, stderr?: any}} [streams]
 */
export function askerOn ({ stdin = process.stdin, stderr = process.stderr } = {}) {
  return stdin.isTTY && stderr.isTTY ? (who, where) => promptSecret(`Password of ${who} at ${where}: `, { stdin, stderr }) : undefined
}
