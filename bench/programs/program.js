// Programs of other people: where they are, which version they are, and running them.
import { execFile, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { end, until } from '../wait.js'

/** An executable: the file named, or one of the PATH and of where servers live. */
export function findProgram (named, name, env = process.env) {
  const folders = [...(env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']
  return (named ? [named] : folders.map(folder => path.join(folder, name))).find(file => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** What a program prints, whatever its exit code: some print their version and exit with an error. */
export const outputOf = (file, args) => new Promise((resolve, reject) => {
  execFile(file, args, { timeout: 30_000 },
    (error, stdout, stderr) => error && !stdout && !stderr ? reject(error) : resolve(stdout + stderr))
})

/**
 * Runs a program to its end; the signal kills it.
 * @param {string} file @param {string[]} args
 * @param {{env?: Record<string, string>, signal?: AbortSignal}} [options]
 * @returns {Promise<string>} what it printed
 */
export async function runToEnd (file, args, { env = {}, signal } = {}) {
  signal?.throwIfAborted()
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', data => { output += data })
  const stop = () => { end(child, 'SIGKILL') }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    await new Promise((resolve, reject) => { child.once('error', reject).once('close', resolve) })
  } finally {
    signal?.removeEventListener('abort', stop)
  }
  signal?.throwIfAborted()
  return output
}

/**
 * Starts a server and waits until it answers with 200, or as it should.
 * @param {string} name
 * @param {string} file @param {(string | number)[]} args
 * @param {{ready: string | (() => Promise<boolean>), cwd?: string, env?: Record<string, string>, timeout?: number}}
 *   options ready: a URL,
 *   or of a server that does not speak HTTP what asks it
 */
export async function startProgram (name, file, args, { ready, cwd, env = {}, timeout = 60_000 }) {
  const child =
    spawn(file, args.map(String), { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', data => { output = (output + data).slice(-3000) })
  }
  let failure
  child.once('error', error => { failure = error })
  const close = async () => {
    if (failure) return
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000)
    await end(child, 'SIGTERM')
    clearTimeout(late)
  }
  let status
  const asks = async url => {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5000) })
    await answer.arrayBuffer()
    status = answer.status
    return status === 200
  }
  try {
    await until(async () => {
      const answers = await (typeof ready === 'string' ? asks(ready) : ready()).catch(() => false)
      // looked at last: it may not be this one that answered
      if (failure) throw failure
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`ended with ${child.exitCode ?? child.signalCode}`)
      }
      return answers
    }, { timeout, every: 50, what: `${typeof ready === 'string' ? ready : name} to answer` })
  } catch (error) {
    await close()
    throw new Error(`${name} did not start: ${error.message}${status ? ` (it answered ${status})` : ''}\n${output}`,
      { cause: error })
  }
  return { pid: /** @type {number} */ (child.pid), close }
}
