// A gateway of a suite's own, before a store with a published couchapp.
import { publish } from '../../../loader/publish.js'
import { Store } from '../../../loader/store/index.js'
import { startGateway } from '../../../server/gateway/index.js'

/**
 * @param {string} db URL of the database
 * @param {Record<string, any>} [options] of the gateway
 * @param {Parameters<typeof startGateway>[1]} [own] such as a log
 */
export const openGateway = (db, options = {}, own = {}) => startGateway({ db, port: 0, logLevel: 'silent', ...options }, own)

/**
 * A store that everybody reads.
 * @param {string} url
 * @param {(store: Store) => Promise<any>} fill before it is published
 */
export async function openStore (url, fill) {
  const store = await Store.create(url)
  await fill(store)
  await publish(store)
  return store
}
