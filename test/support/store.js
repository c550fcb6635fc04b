// Creates a store for each test of a suite, or one for the suite.
import { publish } from '../../loader/couchapp/publish.js'
import { Store } from '../../loader/store/index.js'
import { publishFunctions } from './published.js'

/**
 * @param {{database: () => Promise<string>}} backend
 * @param {object} [options] others are passed to Store.create
 * @param {boolean | 'functions'} [options.published] with its design documents; 'functions': without the viewer
 * @param {boolean} [options.once] one store for all tests
 * @param {(store: Store, url: string) => any} [options.fill] writes the initial content
 * @param {any} [options.public]
 * @returns {{store: Store, url: string}} set while a test runs
 */
export function useStore (backend, { published = false, once = false, fill, ...options } = {}) {
  const context = { store: undefined, url: '' }
  const [begin, end] = once ? [before, after] : [beforeEach, afterEach]
  begin(async function () {
    this.timeout(60000)
    context.url = await backend.database()
    context.store = await Store.create(context.url, options)
    if (published) await (published === 'functions' ? publishFunctions : publish)(context.store)
    await fill?.(context.store, context.url)
  })
  end(() => context.store?.destroy()) // a skipped suite has no store
  return context
}
