// Waits for conditions instead of fixed times.
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Factor for the time limits of tests: a CI machine may be slow, or stand still for seconds. */
export const TIME_FACTOR = process.env.CI ? 3 : 1

/**
 * @template T
 * @param {() => Promise<T> | T} condition
 * @param {{timeout?: number, every?: number, what?: string}} [options] milliseconds;
 *   timeout: before TIME_FACTOR
 * @returns {Promise<T>}
 */
export async function until (condition, { timeout = 10000, every = 25, what = 'a condition' } = {}) {
  const limit = timeout * TIME_FACTOR
  const deadline = performance.now() + limit
  for (;;) {
    const value = await condition()
    if (value) return value
    if (performance.now() > deadline) throw new Error(`waited ${limit} ms for ${what}`)
    await sleep(every)
  }
}

/** A port that no program listens on. */
export function freePort () {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })
}

/**
 * Ends a process and waits until it is gone.
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
export async function end (child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => { child.once('exit', () => resolve(undefined)) })
  child.kill(signal)
  await ended
}
