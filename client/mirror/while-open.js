// What works on PouchDBs ends when one of them is closed or destroyed: what it was asked then, it may never answer.
import { TilecouchError } from '../../core/index.js'

/**
 * @template T
 * @param {any[]} databases
 * @param {AbortSignal | undefined} signal
 * @param {AbortController} stop of the task: told by the signal as well
 * @param {() => Promise<T>} task
 * @returns {Promise<T>} rejects with ABORTED when a database is gone
 */
export async function whileOpen (databases, signal, stop, task) {
  const end = () => stop.abort()
  let leave = end
  const left = new Promise((resolve, reject) => {
    leave = () => {
      end()
      reject(new TilecouchError('ABORTED'))
    }
  })
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  for (const db of databases) db.once('closed', leave).once('destroyed', leave)
  const running = task()
  running.catch(() => {}) // heard below, unless that is over
  try {
    return await /** @type {Promise<T>} */ (Promise.race([running, left]))
  } finally {
    signal?.removeEventListener('abort', end)
    for (const db of databases) db.removeListener('closed', leave).removeListener('destroyed', leave)
  }
}
