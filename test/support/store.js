// A store of its own for each test of a suite.
import { publish } from '../../loader/publish.js'
import { Store } from '../../loader/store/index.js'

/**
 * @param {{database: () => Promise<string>}} backend
 * @param {{published?: boolean, fill?: (store: Store) => Promise<any>, [option: string]: any}} [options] published: with its design
 *   documents; fill: writes what every test finds there; others are those of Store.create
 * @returns {{store: Store, url: string}} set while a test runs
 */
export function useStore (backend, { published = false, fill, ...options } = {}) {
  const own = { store: /** @type {Store} */ (/** @type {unknown} */ (undefined)), url: '' }
  beforeEach(async () => {
    own.url = await backend.database()
    own.store = await Store.create(own.url, options)
    if (published) await publish(own.store)
    await fill?.(own.store)
  })
  afterEach(() => own.store.destroy())
  return own
}
