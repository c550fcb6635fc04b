// A benchmark that may be stopped with Ctrl-C: what it made on the server and on the disk is removed all the same.
import { setMaxListeners } from 'node:events'

/**
 * @template T
 * @param {(text: string) => void} log
 * @param {(means: {signal: AbortSignal, closing: (() => any)[]}) => Promise<T>} body closing: what ends each thing that was begun; the
 *   last that began ends first
 * @returns {Promise<T | null>} null when it was stopped
 */
export async function stoppable (log, body) {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal) // whoever waits, listens
  const abort = () => stop.abort(new Error('interrupted'))
  process.once('SIGINT', abort).once('SIGTERM', abort)
  /** @type {(() => any)[]} */
  const closing = []
  try {
    return await body({ signal: stop.signal, closing })
  } catch (error) {
    if (!stop.signal.aborted) throw error
    log('\ninterrupted; what it made is removed')
    return null
  } finally {
    process.removeListener('SIGINT', abort).removeListener('SIGTERM', abort)
    for (const close of closing.reverse()) await close()
  }
}

/** How to remove a database: a server of our own may be gone with the same Ctrl-C, and its data with it, so without patience. */
export const dropping = store => () => store.couch.request({ method: 'DELETE', retries: 1 }).catch(() => {})
