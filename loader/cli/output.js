// What a command prints: lines and tables for people, one JSON object for programs. Results go to standard output,
// progress and errors to standard error.
import { scrub } from '../../core/index.js'
import { count } from '../text.js'

export { bytes, count, duration, plural, table } from '../text.js'

// text from a store must not control the terminal (colours, titles, the clipboard)
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

  /** A line of a result that is printed piece by piece; programs get all of it at the end. */
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

/** With milliseconds. @param {number} started from performance.now() */
export const secondsSince = started => +((performance.now() - started) / 1000).toFixed(3)

/** Follows a list that was cut: how many more there are. @param {number} all @param {number} shown @returns {string[]} */
export const moreLine = (all, shown) => all > shown ? [`  and ${count(all - shown)} more`] : []
