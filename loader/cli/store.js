// Opens the store of a command, and says which one it is if the command line does not name it.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { scrub } from '../../core/index.js'
import { databaseAt, findDatabase } from '../couchapp/environments.js'
import { TilecouchError } from '../errors.js'
import { retryDefaults } from '../store/couch.js'
import { Store } from '../store/index.js'

/**
 * @typedef {import('./program.js').Context} Context
 * @typedef {{db?: string, data: string}} Target of the options
 */

/**
 * @template T
 * @param {Context} context
 * @param {Target} options
 * @param {(url: string, folder?: string) => Promise<T>} action folder: of an embedded store that ends with the command
 * @param {{creates?: boolean}} [more] creates: the command makes stores; others leave no folder behind
 */
export async function withDatabase ({ output, openEmbedded }, { db, data }, action, { creates = false } = {}) {
  const { url, namedBy } = await findDatabase(db, { data })
  if (url) {
    if (namedBy) output.note(`Store: ${scrub(url)} (${namedBy})`)
    return action(url)
  }
  const hasStore = existsSync(path.join(data, 'databases'))
  if (!hasStore && !creates) throw new TilecouchError('DATABASE_NOT_FOUND', { folder: data })
  output.note(hasStore
    ? `Store: the embedded one in ${data}`
    : `Store: a new embedded one in ${path.resolve(data)}. For another one: --db or --data.`)
  const embedded = await openEmbedded(data)
  try {
    return await action(databaseAt(embedded.url), embedded.started === false ? undefined : data)
  } finally {
    await embedded.close()
  }
}

/** @template T @param {Context} context @param {Target} options @param {(store: Store) => Promise<T>} action */
export const withStore = (context, options, action) =>
  withDatabase(context, options, async url => action(await Store.open(url, { retries: 3 })))

const LIVE_RETRIES = 2 // of a request with --live: a missing store is reported soon, then the command waits for it

/**
 * Like withStore, for long commands: after the store was opened, they wait when it restarts.
 * @template T
 * @param {Context} context @param {Target & {live?: boolean}} options @param {(store: Store) => Promise<T>} action
 */
export const withPatientStore = (context, options, action) => withStore(context, options, store => {
  store.couch.options.retries = options.live ? LIVE_RETRIES : retryDefaults.retries
  return action(store)
})
