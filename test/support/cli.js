// The command line in the process of the tests.
import { PassThrough } from 'node:stream'
import { createProgram } from '../../loader/cli/program.js'
import { serverCommands } from '../../server/commands.js'

/** A stream that remembers what was written. */
export const memory = () => ({
  text: '',
  on () {},
  write (chunk, written = () => {}) {
    this.text += chunk
    written()
    return true
  }
})

const openEmbedded = async () => { throw new Error('no embedded store here') }

/**
 * What a test of the suite changes in the environment is put back after it.
 * @param {string[]} without variables that its tests do not have
 */
export function useEnvironment (...without) {
  let before
  beforeEach(() => {
    before = { ...process.env }
    for (const name of without) delete process.env[name]
  })
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name]
    Object.assign(process.env, before)
  })
}

/** Every command, as commander has it. */
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
 * Runs a command at a terminal, at which a line is typed in answer to every question.
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
  return { code, out: streams.stdout.text, err: plainly(streams.stderr.text) }
}

/** What a terminal shows in the end: a bar is drawn over. */
const plainly = text => text.replace(/\r[^\n\r]*(?=\r)/g, '').replaceAll('\r\u001b[K', '').replaceAll('\u001b[K', '')
