// Opens the store of --db for a command, and closes it again.
import { DEFAULT_DATABASE, resolveDatabase } from '../couchapp/environments.js'
import { retryDefaults } from '../store/couch.js'
import { Store } from '../store/index.js'

/**
 * @typedef {import('./program.js').Context} Context
 * @typedef {{db?: string, data: string}} Target of the options
 */

/** @template T @param {Context} context @param {Target} options @param {(url: string) => Promise<T>} action */
export async function withDatabase (context, { db, data }, action) {
  const url = await resolveDatabase(db)
  if (url) return action(url)
  const embedded = await context.openEmbedded(data)
  try {
    return await action(`${embedded.url}/${DEFAULT_DATABASE}`)
  } finally {
    await embedded.close()
  }
}

/** @template T @param {Context} context @param {Target} options @param {(store: Store) => Promise<T>} action */
export const withStore = (context, options, action) =>
  withDatabase(context, options, async url => action(await Store.open(url, { retries: 3 })))

/**
 * As withStore, for long commands: once open, they wait when the store restarts.
 * @template T @param {Context} context @param {Target} options @param {(store: Store) => Promise<T>} action
 */
export const withPatientStore = (context, options, action) => withStore(context, options, store => {
  store.couch.options.retries = retryDefaults.retries
  return action(store)
})
