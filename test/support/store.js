// A store of its own for each test of a suite, or for the suite.
import { publish } from '../../loader/couchapp/publish.js'
import { Store } from '../../loader/store/index.js'
import { publishFunctions } from './published.js'

/**
 * @param {{database: () => Promise<string>}} backend
 * @param {object} [options] others are those of Store.create
 * @param {boolean | 'functions'} [options.published] with its design documents; 'functions': without the viewer
 * @param {boolean} [options.once] one store for all tests
 * @param {(store: Store, url: string) => any} [options.fill] writes what every test finds there
 * @param {any} [options.public]
 * @returns {{store: Store, url: string}} set while a test runs
 */
export function useStore (backend, { published = false, once = false, fill, ...options } = {}) {
  const own = { store: undefined, url: '' }
  const [begin, end] = once ? [before, after] : [beforeEach, afterEach]
  begin(async function () {
    this.timeout(60000)
    own.url = await backend.database()
    own.store = await Store.create(own.url, options)
    if (published) await (published === 'functions' ? publishFunctions : publish)(own.store)
    await fill?.(own.store, own.url)
  })
  end(() => own.store?.destroy()) // a suite that is skipped has none
  return own
}
