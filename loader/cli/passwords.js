// Questions on a terminal, and the passwords that the addresses of a command lack. Questions go to standard error: the
// result may be piped.
import { createInterface } from 'node:readline'
import { TilecouchError } from '../errors.js'
import { readableSecretFiles, useDataFolder, usePrompt, withPassword } from '../store/secrets.js'

const [CTRL_C, CTRL_D, BACKSPACE, DELETE, CTRL_U] = ['\u0003', '\u0004', '\b', '\u007f', '\u0015']
const LACKS_PASSWORD = /^https?:\/\/[^/@:]+@/i

/**
 * Before a command begins: finds out where passwords are, and asks for those that its arguments lack.
 * @param {{passwordFile?: string, data?: string}} options
 * @param {any[]} args of the command: addresses of stores among them
 * @returns {Promise<any[]>} the arguments, with passwords
 */
export async function completePasswords ({ passwordFile, data = './data' }, args, { output, stdin }) {
  if (passwordFile !== undefined) process.env.COUCHDB_PASSWORD_FILE = passwordFile
  useDataFolder(data)
  const streams = { stdin, stderr: output.stderr }
  const prompt = (user, host) => readHidden(`Password of ${user} at ${host}: `, streams)
  usePrompt(isTerminal(streams) ? prompt : undefined, text => output.note(text))
  for (const file of readableSecretFiles()) {
    output.note(`Everybody on this machine may read the password in ${file}: chmod 600`)
  }
  const complete = async arg => {
    if (typeof arg === 'string') return LACKS_PASSWORD.test(arg) ? withPassword(arg) : arg
    if (!Array.isArray(arg)) return arg
    const completed = []
    for (const item of arg) completed.push(await complete(item)) // one question at a time
    return completed
  }
  return complete(args)
}

const isTerminal = ({ stdin, stderr }) => stdin.isTTY && stderr.isTTY

/**
 * Asks questions on a terminal; undefined without one.
 * @returns {((question: string) => Promise<string>) | undefined} answers the line that is typed
 */
export function linePrompt ({ stdin, stderr, signal }) {
  if (!isTerminal({ stdin, stderr })) return undefined
  return question => new Promise((resolve, reject) => {
    const lines = createInterface({ input: stdin, output: stderr, terminal: false, signal })
    lines.once('line', line => {
      resolve(line.trim())
      lines.close()
    })
    lines.once('close', () => reject(new TilecouchError('ABORTED')))
    stderr.write(question)
  })
}

/** Asks a question that only "y" or "yes" affirms; undefined without a terminal. */
export function confirmPrompt (streams) {
  const ask = linePrompt(streams)
  return ask && (async question => /^y(es)?$/i.test(await ask(question)))
}

/** Reads a line without showing it. @returns {Promise<string>} */
export function readHidden (question, { stdin, stderr }) {
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

// The question before something is removed: at a terminal the user must type a name, elsewhere --yes is needed.
// docs/decisions.md says which commands ask, and which do not.
//
//   const confirm = confirmation(context, options, 'osm') // throws at once if no user can be asked
//   output.note('Removing from osm: …')
//   await confirm()

/**
 * @param {import('./program.js').Context} context
 * @param {{yes?: boolean, dryRun?: boolean}} options either of them leaves out the question
 * @param {string} name that the user must type
 * @param {{isPiped?: boolean}} [more] isPiped: standard input is read for something else
 * @returns {() => Promise<void>} asks; rejects unless the name is typed
 */
export function confirmation ({ output, stdin, signal }, { yes, dryRun }, name, { isPiped } = {}) {
  if (yes || dryRun) return async () => {}
  const ask = isPiped || output.json ? undefined : linePrompt({ stdin, stderr: output.stderr, signal })
  if (!ask) throw new TilecouchError('NOT_CONFIRMED', { why: 'nobody confirmed it' })
  return async () => {
    const answer = await ask(`This cannot be undone. To go on, type ${name}: `)
    if (answer !== name) throw new TilecouchError('NOT_CONFIRMED', { why: `the answer was not ${name}` })
  }
}
