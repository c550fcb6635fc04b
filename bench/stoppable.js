// Runs a benchmark that can be stopped with Ctrl-C. Its databases and files are removed in any case.
import { setMaxListeners } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Couch } from '../loader/store/couch.js'
import { Store } from '../loader/store/index.js'

/**
 * @template T
 * @param {(text: string) => void} log
 * @param {(means: {signal: AbortSignal, closing: (() => any)[]}) => Promise<T>} body closing: functions called
 *   at the end, the last one first
 * @returns {Promise<T | null>} null if it was stopped
 */
export async function stoppable (log, body) {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const abort = () => controller.abort(new Error('interrupted'))
  process.once('SIGINT', abort).once('SIGTERM', abort)
  const closing = []
  try {
    return await body({ signal: controller.signal, closing })
  } catch (error) {
    if (!controller.signal.aborted) throw error
    log('\ninterrupted; its databases and files are removed')
    return null
  } finally {
    process.removeListener('SIGINT', abort).removeListener('SIGTERM', abort)
    for (const close of closing.reverse()) await close()
  }
}

/** Returns a function that removes a database. Few retries: the same Ctrl-C may have ended the server. */
export const dropping = couch => () => couch.request({ method: 'DELETE', retries: 1 }).catch(() => {})

/** A temporary folder, removed at the end. */
export async function temporaryFolder (name, closing) {
  const folder = await mkdtemp(path.join(tmpdir(), `tilecouch-${name}-`))
  closing.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** A new database, removed at the end. @param {string} url @param {(() => any)[]} [closing] @param {any} [options] */
export async function newDatabase (url, closing, options) {
  const couch = new Couch(url, options)
  await couch.request({ method: 'DELETE' }).catch(error => { // left over from a killed run
    if (error.code !== 'DATABASE_NOT_FOUND') throw error
  })
  await couch.request({ method: 'PUT' })
  closing?.push(dropping(couch))
  return couch
}

/** A new store, removed at the end. @param {string} url @param {(() => any)[]} [closing] @param {any} [options] */
export async function newStore (url, closing, options = { public: false }) {
  await (await Store.create(url)).destroy() // left over from a killed run
  const store = await Store.create(url, options)
  closing?.push(dropping(store.couch))
  return store
}
