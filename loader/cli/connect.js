// From --db to an open store, closed again whatever happens.
import { resolveDatabase, DEFAULT_DATABASE } from '../couchapp/environments.js'
import { retryDefaults } from '../store/couch.js'
import { Store } from '../store/index.js'

/**
 * @template T
 * @param {import('./program.js').Context} context
 * @param {{db?: string, data: string}} options
 * @param {(url: string) => Promise<T>} action
 */
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

/**
 * @template T
 * @param {import('./program.js').Context} context
 * @param {{db?: string, data: string}} options
 * @param {(store: Store) => Promise<T>} action
 */
export const withStore = (context, options, action) =>
  withDatabase(context, options, async url => action(await Store.open(url, { retries: 3 })))

/**
 * As withStore, for what takes long: a store that was there is waited for when it restarts.
 * @template T
 * @param {import('./program.js').Context} context
 * @param {{db?: string, data: string}} options
 * @param {(store: Store) => Promise<T>} action
 */
export const withPatientStore = (context, options, action) => withStore(context, options, store => {
  store.couch.options.retries = retryDefaults.retries
  return action(store)
})
