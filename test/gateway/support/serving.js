// `tilecouch serve` as people run it: a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { end, until } from '../../../bench/wait.js'

const BIN = fileURLToPath(new URL('../../../server/bin.js', import.meta.url))

/** What the machine that runs the tests may have set. */
const clean = () => Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(TILECOUCH_|COUCHDB_(URL|USER|PASSWORD)$)/.test(name))
)

/**
 * Starts it on any free port.
 * @param {string[]} args
 * @param {{env?: Record<string, string>, group?: boolean}} [options] group: with a process group of its own, as a shell
 *   does it
 */
export function serve (args, { env = {}, group = false } = {}) {
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0', ...args],
    { env: { ...clean(), ...env }, detached: group, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  const serving = {
    child,
    out: '',
    err: '',
    /** Exit code, when it is over. */
    ended: closed.then(([code]) => code),
    log: () => serving.err.split('\n').filter(line => line.startsWith('{')).map(line => JSON.parse(line)),
    /** What it printed when it was ready; nothing when it came to nothing. @returns {Promise<any>} */
    ready: () => until(() => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${serving.err}`)
      if (!args.includes('--json')) return /Ctrl-C stops/.test(serving.out) && serving.out
      try {
        // with a mirror it prints one object per line
        return JSON.parse(args.includes('--from') ? serving.out.split('\n')[0] : serving.out)
      } catch {
        return null
      }
    }, { timeout: 30000, what: 'the gateway to be ready' }),
    /** @param {NodeJS.Signals} [signal] @returns {Promise<number>} exit code */
    async stop (signal = 'SIGTERM') {
      await end(child, signal)
      return (await closed)[0]
    }
  }
  child.stdout.on('data', part => { serving.out += part })
  child.stderr.on('data', part => { serving.err += part })
  return serving
}
