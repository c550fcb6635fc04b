// Gateways for suites, before a store with a published couchapp.
import { publish } from '../../../loader/couchapp/publish.js'
import { Store } from '../../../loader/store/index.js'
import { startGateway } from '../../../server/gateway/index.js'
import { ask, closeConnections } from './wire.js'

/**
 * @param {string} db URL of the database
 * @param {Record<string, any>} [options] of the gateway
 * @param {Parameters<typeof startGateway>[1]} [own] such as a log
 */
export const openGateway =
  (db, options = {}, own = {}) => startGateway({ db, port: 0, logLevel: 'silent', ...options }, own)

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

/**
 * A store and a gateway for all tests of a suite.
 * @param {{database: () => Promise<string>}} backend
 * @param {object} [setup]
 * @param {(store: Store) => Promise<any>} [setup.fill] before it is published
 * @param {Record<string, any> | null} [setup.options] of the gateway; null: no gateway
 */
export function useGateway (backend, { fill = async () => {}, options = {} } = {}) {
  const more = []
  const own = {
    url: '',
    store: /** @type {Store} */ (/** @type {unknown} */ (undefined)),
    gateway: /** @type {import('../../../server/gateway/index.js').Gateway} */ (/** @type {unknown} */ (undefined)),
    /** @param {string} path @param {Parameters<typeof ask>[2]} [asked] */
    ask: (path, asked) => ask(own.gateway.url, path, asked),
    /** Another gateway, for one test. @param {Record<string, any>} others options */
    async another (others) {
      more.push(await openGateway(own.url, others))
      return more.at(-1)
    }
  }
  before(async function () {
    this.timeout(60000)
    own.url = await backend.database()
    own.store = await openStore(own.url, fill)
    if (options) own.gateway = await openGateway(own.url, options)
  })
  afterEach(() => Promise.all(more.splice(0).map(gateway => gateway.close())))
  after(async () => {
    closeConnections()
    await own.gateway?.close()
    await own.store?.destroy()
  })
  return own
}
