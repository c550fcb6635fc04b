// The command line in a process of its own, which may be killed.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../server/bin.js', import.meta.url))

/**
 * @param {string[]} args
 * @param {Record<string, string>} [env] besides that of the tests
 * @returns {{child: import('node:child_process').ChildProcess, ended: Promise<number | null>}} ended: the exit code;
 *   what was said of an error is shown
 */
export function startCommand (args, env) {
  const child =
    spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } })
  let errors = ''
  child.stderr.on('data', text => { errors += text })
  const ended = new Promise(resolve => {
    child.once('close', code => {
      if (code) console.error(errors)
      resolve(code)
    })
  })
  return { child, ended }
}
