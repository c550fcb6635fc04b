// Runs the command line in its own process, which a test may stop or kill.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { end, until } from '../../bench/wait.js'

/** The script of the command `tilecouch`. */
export const bin = fileURLToPath(new URL('../../server/bin.js', import.meta.url))

/** The environment without the variables that name a store or options of tilecouch. */
export const plainEnvironment = () => Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(TILECOUCH_|COUCHDB_(URL|USER|PASSWORD)$)/.test(name))
)

/**
 * @param {string[]} args
 * @param {object} [options]
 * @param {Record<string, string>} [options.env] added to the plain environment
 * @param {string} [options.cwd]
 * @param {boolean} [options.group] in its own process group, as a shell starts it
 */
export function startCommand (args, { env = {}, cwd, group = false } = {}) {
  const child = spawn(process.execPath, [bin, ...args],
    { cwd, env: { ...plainEnvironment(), ...env }, detached: group, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks = []
  const output = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    chunks.push(chunk)
    output.out += chunk
  })
  child.stderr.on('data', chunk => { output.err += chunk })
  const ended = new Promise(resolve => {
    child.once('close', (code, signal) => resolve({ code, signal, ...output, bytes: Buffer.concat(chunks) }))
  })
  return {
    child,
    /** The output so far. */
    said: output,
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
 * Starts `tilecouch serve` on a free port.
 * @param {string[]} args
 * @param {Parameters<typeof startCommand>[1]} [options]
 */
export function serve (args, options) {
  const { child, said: output, ended } = startCommand(['serve', '--port', '0', ...args], options)
  const isJson = args.includes('--json')
  const isMirror = args.includes('--from') // prints one JSON object per line

  function readOutput () {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${output.err}`)
    if (!isJson) return /Ctrl-C stops/.test(output.out) && output.out
    try {
      return JSON.parse(isMirror ? output.out.split('\n')[0] : output.out)
    } catch {
      return null
    }
  }

  return {
    child,
    said: output,
    /** Resolves with the exit code. */
    ended: ended.then(({ code }) => code),
    log: () => output.err.split('\n').filter(line => line.startsWith('{')).map(line => JSON.parse(line)),
    /** Resolves with the output once the gateway is ready. @returns {Promise<any>} */
    ready: () => until(readOutput, { timeout: 30000, what: 'the gateway to be ready' }),
    /** @param {NodeJS.Signals} [signal] @returns {Promise<number | null>} exit code */
    async stop (signal = 'SIGTERM') {
      await end(child, signal)
      return (await ended).code
    }
  }
}
