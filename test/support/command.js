// The command line in a process of its own, which a test may stop or kill.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { end, until } from '../../bench/wait.js'

/** The script of the command `tilecouch`. */
export const bin = fileURLToPath(new URL('../../server/bin.js', import.meta.url))

/** The environment of the tests, without a store or options for tilecouch that it may name. */
export const plainEnvironment = () => Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(TILECOUCH_|COUCHDB_(URL|USER|PASSWORD)$)/.test(name))
)

/**
 * @param {string[]} args
 * @param {object} [options]
 * @param {Record<string, string>} [options.env] besides the plain environment
 * @param {string} [options.cwd]
 * @param {boolean} [options.group] with a process group of its own, as a shell does it
 */
export function startCommand (args, { env = {}, cwd, group = false } = {}) {
  const child = spawn(process.execPath, [bin, ...args],
    { cwd, env: { ...plainEnvironment(), ...env }, detached: group, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks = []
  const said = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    chunks.push(chunk)
    said.out += chunk
  })
  child.stderr.on('data', chunk => { said.err += chunk })
  const ended = new Promise(resolve => {
    child.once('close', (code, signal) => resolve({ code, signal, ...said, bytes: Buffer.concat(chunks) }))
  })
  return {
    child,
    /** What it has printed so far. */
    said,
    ended
  }
}

/**
 * Runs a command, which must end with 0, and returns what it printed.
 * @param {string[]} args
 * @param {Parameters<typeof startCommand>[1]} [options]
 */
export async function finishCommand (args, options) {
  const { code, out, err } = await startCommand(args, options).ended
  assert.equal(code, 0, `${args.join(' ')}: ${err}`)
  return out
}

/**
 * `tilecouch serve` on any free port.
 * @param {string[]} args
 * @param {Parameters<typeof startCommand>[1]} [options]
 */
export function serve (args, options) {
  const { child, said, ended } = startCommand(['serve', '--port', '0', ...args], options)
  const isJson = args.includes('--json')
  const isMirror = args.includes('--from') // prints an object a line

  function printed () {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said.err}`)
    if (!isJson) return /Ctrl-C stops/.test(said.out) && said.out
    try {
      return JSON.parse(isMirror ? said.out.split('\n')[0] : said.out)
    } catch {
      return null
    }
  }

  return {
    child,
    said,
    /** Exit code, when it is over. */
    ended: ended.then(({ code }) => code),
    log: () => said.err.split('\n').filter(line => line.startsWith('{')).map(line => JSON.parse(line)),
    /** What it printed when it was ready. @returns {Promise<any>} */
    ready: () => until(printed, { timeout: 30000, what: 'the gateway to be ready' }),
    /** @param {NodeJS.Signals} [signal] @returns {Promise<number | null>} exit code */
    async stop (signal = 'SIGTERM') {
      await end(child, signal)
      return (await ended).code
    }
  }
}
