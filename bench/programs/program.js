// Finds, starts and runs programs of other projects.
import { execFile, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { end, until } from '../wait.js'

/** The path of an executable: the named file, or a file in the PATH and in the folders of servers. */
export function findProgram (explicitFile, name, env = process.env) {
  const folders = [...(env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']
  return (explicitFile ? [explicitFile] : folders.map(folder => path.join(folder, name))).find(file => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** The output of a program, whatever its exit code: some programs print their version and exit with an error. */
export const outputOf = (file, args) => new Promise((resolve, reject) => {
  execFile(file, args, { timeout: 30_000 },
    (error, stdout, stderr) => error && !stdout && !stderr ? reject(error) : resolve(stdout + stderr))
})

/**
 * Runs a program to its end; the signal kills it.
 * @param {string} file @param {string[]} args
 * @param {{env?: Record<string, string>, signal?: AbortSignal}} [options]
 * @returns {Promise<string>} its output
 */
export async function runToEnd (file, args, { env = {}, signal } = {}) {
  signal?.throwIfAborted()
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', data => { output += data })
  const kill = () => { end(child, 'SIGKILL') }
  signal?.addEventListener('abort', kill, { once: true })
  try {
    await new Promise((resolve, reject) => { child.once('error', reject).once('close', resolve) })
  } finally {
    signal?.removeEventListener('abort', kill)
  }
  signal?.throwIfAborted()
  return output
}

/**
 * Starts a server and waits until it answers with 200, or until `ready` succeeds.
 * @param {string} name
 * @param {string} file @param {(string | number)[]} args
 * @param {{ready: string | (() => Promise<boolean>), cwd?: string, env?: Record<string, string>, timeout?: number}}
 *   options ready: a URL,
 *   or a function that asks a server without HTTP
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
    const killTimer = setTimeout(() => child.kill('SIGKILL'), 15_000)
    await end(child, 'SIGTERM')
    clearTimeout(killTimer)
  }
  let status
  const isReady = async url => {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5000) })
    await answer.arrayBuffer()
    status = answer.status
    return status === 200
  }
  try {
    await until(async () => {
      const hasAnswered = await (typeof ready === 'string' ? isReady(ready) : ready()).catch(() => false)
      // Check the process last: another program may have answered.
      if (failure) throw failure
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`ended with ${child.exitCode ?? child.signalCode}`)
      }
      return hasAnswered
    }, { timeout, every: 50, what: `${typeof ready === 'string' ? ready : name} to answer` })
  } catch (error) {
    await close()
    throw new Error(`${name} did not start: ${error.message}${status ? ` (it answered ${status})` : ''}\n${output}`,
      { cause: error })
  }
  return { pid: /** @type {number} */ (child.pid), close }
}
