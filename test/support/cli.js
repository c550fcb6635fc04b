// Runs the command line in the process of the tests, and collects what it prints.
import { PassThrough } from 'node:stream'
import { createProgram } from '../../loader/cli/program.js'
import { serverCommands } from '../../server/commands.js'

/** A stream that collects the text written to it. */
export const memory = () => ({
  text: '',
  on () {},
  write (chunk, done = () => {}) {
    this.text += chunk
    done()
    return true
  }
})

const openEmbedded = async () => { throw new Error('no embedded store here') }

/**
 * Restores the environment variables after each test of the suite.
 * @param {string[]} without variables that are unset during the tests
 */
export function useEnvironment (...without) {
  let savedVariables
  beforeEach(() => {
    savedVariables = { ...process.env }
    for (const name of without) delete process.env[name]
  })
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(savedVariables, name)) delete process.env[name]
    Object.assign(process.env, savedVariables)
  })
}

/** Every command, as an object of commander. */
export async function allCommands () {
  const program = await createProgram({ more: serverCommands, openEmbedded }).completed()
  return program.commands
}

export const commandNamed = async name => (await allCommands()).find(command => command.name() === name)

/**
 * Runs a command, without an embedded store unless one is given.
 * @param {string[]} argv as it is typed, without `tilecouch`
 * @param {Partial<Parameters<typeof createProgram>[0]>} [options] such as openEmbedded
 * @returns {Promise<{code: number, out: string, err: string}>}
 */
export async function runCommand (argv, options = {}) {
  const streams = { stdout: memory(), stderr: memory() }
  const code = await createProgram({ streams, openEmbedded, more: serverCommands, ...options }).run(argv)
  return { code, out: streams.stdout.text, err: streams.stderr.text }
}

/**
 * Runs a command at a terminal, and types one line as the answer to its question.
 * @param {string[]} argv
 * @param {string} answer
 * @param {Partial<Parameters<typeof createProgram>[0]> & {columns?: number}} [options]
 * @returns {Promise<{code: number, out: string, err: string}>}
 */
export async function runAtTerminal (argv, answer, { columns = 80, ...options } = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  stdin.write(`${answer}\n`)
  const streams = { stdin, stdout: memory(), stderr: Object.assign(memory(), { isTTY: true, columns }) }
  const code = await createProgram({ openEmbedded, more: serverCommands, ...options, streams }).run(argv)
  return { code, out: streams.stdout.text, err: finalText(streams.stderr.text) }
}

/** The text that stays on a terminal: a progress bar is overwritten. */
const finalText = text => text.replace(/\r[^\n\r]*(?=\r)/g, '').replaceAll('\r\u001b[K', '').replaceAll('\u001b[K', '')
