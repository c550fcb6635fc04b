// What a command says: lines and tables for people, one JSON object for programs. Results go to standard output,
// progress and errors to standard error.
import { scrub } from '../../core/index.js'

// what a store holds may be printed, and never speaks to the terminal: colours, titles, the clipboard
const plain = text => String(text).replace(/[^\P{Cc}\n\t]/gu, '\ufffd')

export class Output {
  /** @param {{json: boolean, stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream}} options */
  constructor ({ json, stdout, stderr }) {
    this.json = json
    this.stdout = stdout
    this.stderr = stderr
  }

  get isTerminal () {
    return Boolean(/** @type {any} */ (this.stderr).isTTY)
  }

  /**
   * The result of a command.
   * @param {unknown} value what --json prints
   * @param {string[]} lines what people read
   */
  result (value, lines) {
    this.stdout.write(this.json ? JSON.stringify(value, null, 2) + '\n' : lines.map(line => plain(line) + '\n').join(''))
  }

  /** A line of a result that comes piece by piece; programs get the whole at the end. */
  line (text) {
    if (!this.json) this.stdout.write(plain(text) + '\n')
  }

  note (text) {
    if (!this.json) this.stderr.write(plain(text) + '\n')
  }

  error (error, cause) {
    if (this.json) this.stderr.write(JSON.stringify(error.toJSON()) + '\n')
    else this.stderr.write(`tilecouch: ${plain(error.message)} [${error.code}]\n${error.advice ? `  ${error.advice}\n` : ''}`)
    if (cause) this.stderr.write(plain(scrub(cause.stack)) + '\n')
  }
}

export const count = number => Number(number).toLocaleString('en-US')

export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`

export function bytes (number) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = number
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}

export function duration (seconds) {
  const total = Math.max(0, Math.round(seconds))
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60]
  return h ? `${h}:${String(m).padStart(2, '0')}:${String(s).padStart(2, '0')}` : `${m}:${String(s).padStart(2, '0')}`
}

/** With milliseconds, for programs. @param {number} started as performance.now() said */
export const secondsSince = started => +((performance.now() - started) / 1000).toFixed(3)

/** After the first of a list: how many more there are. @param {number} all @param {number} shown @returns {string[]} */
export const moreLine = (all, shown) => all > shown ? [`  and ${count(all - shown)} more`] : []

/**
 * Columns, aligned; numbers to the right.
 * @param {string[]} head
 * @param {any[][]} rows
 */
export function table (head, rows) {
  const cells = rows.map(row => row.map(cell => typeof cell === 'number' ? count(cell) : String(cell ?? '')))
  const right = head.map((_, column) => rows.some(row => typeof row[column] === 'number'))
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map(row => row[column].length)))
  const line = row => row.map((cell, column) => right[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])).join('  ').trimEnd()
  return [line(head), ...cells.map(line)]
}
