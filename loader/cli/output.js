// Prints the output of commands: lines and tables for people, one JSON object for programs. Results go to standard
// output, progress and errors to standard error.
import { inDegrees, plainJson, plainText as plain, scrub } from '../../core/index.js'
import { bytes, count } from '../text.js'

export { bytes, count, duration, plural, table } from '../text.js'

/**
 * A line, several, or nothing: a row whose condition does not hold (`failed && '…'`) is left out.
 * @typedef {string | number | boolean | null | undefined | any[]} Row
 */

/** An empty line. */
export const BLANK = '\n'

/** @param {Row[]} rows @returns {string[]} */
export const linesOf = rows =>
  /** @type {any[]} */ (rows).flat(Infinity).filter(Boolean).map(line => line === BLANK ? '' : line)

export class Output {
  #hasBar = false

  /** @param {{json: boolean, stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream}} options */
  constructor ({ json, stdout, stderr }) {
    this.json = json
    this.stdout = stdout
    this.stderr = stderr
    this.results = stdout
  }

  /** Standard output is for the data of the command: results go to standard error. */
  leaveStdout () {
    this.results = this.stderr
  }

  get isTerminal () {
    return Boolean(/** @type {any} */ (this.stderr).isTTY)
  }

  /** Characters in a line of the terminal. */
  get columns () {
    return /** @type {any} */ (this.stderr).columns ?? Infinity
  }

  /**
   * The result of a command.
   * @param {unknown} value what --json prints
   * @param {Row[]} rows for people
   */
  result (value, rows) {
    const lines = this.json ? [plainJson(value, 2)] : linesOf(rows).map(plain)
    this.endBar()
    this.results.write(lines.map(line => line + '\n').join(''))
  }

  /** A part of a result that is printed piece by piece; programs get all of it at the end. @param {...Row} rows */
  line (...rows) {
    this.endBar()
    if (!this.json) this.results.write(linesOf(rows).map(line => plain(line) + '\n').join(''))
  }

  /** With --json: an event of a command that keeps running, an object in one line. */
  event (value) {
    this.stdout.write(plainJson(value) + '\n')
  }

  /** @param {...Row} rows */
  note (...rows) {
    this.endBar()
    if (!this.json) this.stderr.write(plain(linesOf(rows).join('\n')) + '\n')
  }

  error (error, cause) {
    this.endBar()
    if (this.json) this.stderr.write(plainJson(error.toJSON()) + '\n')
    else {
      this.stderr.write(`tilecouch: ${plain(error.message)} [${error.code}]\n`)
      if (error.advice) this.stderr.write(`  ${plain(error.advice)}\n`)
    }
    if (cause) this.stderr.write(plain(scrub(cause.stack)) + '\n')
  }

  /** Draws a line on a terminal, in place of the last one. A line that is longer than the terminal is cut. */
  drawBar (line) {
    this.stderr.write(`\r${plain(line).slice(0, this.columns - 1)}\u001b[K`)
    this.#hasBar = true
  }

  /** Removes the drawn line; also done before any other output. */
  endBar () {
    if (this.#hasBar) this.stderr.write('\r\u001b[K')
    this.#hasBar = false
  }
}

/** `title:   Maps of Bern`, for each value except undefined. @param {any[][]} rows @param {number} width of a label */
export const labelled = (rows, width) =>
  rows.filter(([, value]) => value !== undefined).map(([label, value]) => `${`${label}:`.padEnd(width)}${value}`)

/** Seconds since a time, with milliseconds. @param {number} started from performance.now() */
export const secondsSince = (started, until = performance.now()) => +((until - started) / 1000).toFixed(3)

/** `3 failed`, for each count that is not 0. @param {Record<string, number | null | undefined>} counts */
export const countWords = counts =>
  Object.entries(counts).filter(([, number]) => number).map(([noun, number]) => `${count(number ?? 0)} ${noun}`)

/**
 * The space that a compaction freed.
 * @param {import('../maintain/compact.js').Compaction} [compaction]
 */
export function diskWords (compaction) {
  if (!compaction) return []
  const { before, after, done, why } = compaction
  if (!before.file) return done ? ['Disk: compacted; the size of this store is unknown'] : []
  const sizes = ({ file, views }) => `${bytes(file)} and ${bytes(views.file)} of indexes`
  return [done
    ? `Disk: ${sizes(before)} before, ${sizes(after)} after`
    : `Disk: ${sizes(before)}; not compacted: ${why}`]
}

/** @param {number[]} bounds in degrees */
export const boxWords = bounds => inDegrees(bounds).join(', ')

/** Follows a list that was cut: how many more there are. */
export const moreLine = (total, shown) => total > shown ? [`  and ${count(total - shown)} more`] : []

/**
 * Lists failures by their cause: an example of each cause, and how many more there are.
 * @param {any[]} list some of them
 * @param {number} total how many there are
 * @param {{causeOf?: (failure: any) => string, wordsOf?: (example: any) => Row[]}} [words]
 * @returns {Row[]}
 */
export function byCause (list, total, { causeOf = reasonOf, wordsOf = idAndReason } = {}) {
  const causes = new Map()
  for (const failure of list) {
    const cause = causes.get(causeOf(failure))
    if (cause) cause.more++
    else causes.set(causeOf(failure), { example: failure, more: 0 })
  }
  const lines = [...causes.values()].sort((a, b) => b.more - a.more).flatMap(({ example, more }) => {
    const [first, ...details] = linesOf(wordsOf(example))
    return [`    ${first}${more ? `, and ${count(more)} more like it` : ''}`, ...details.map(line => `      ${line}`)]
  })
  return [lines, total > list.length && `    … and ${count(total - list.length)} more`]
}

const reasonOf = ({ reason }) => reason

const idAndReason = ({ id, reason }) => [`${id}: ${reason}`]
