// Stores that pages of other origins may read: the embedded one always, a CouchDB once it is told to.
import { Store } from '../../loader/index.js'
import { kinds } from '../viewer/stores.js'

const SETTINGS = { 'chttpd/enable_cors': 'true', 'cors/origins': '*' }

export const openKinds = kinds.map(({ name, open }) => ({
  name,
  async open (demoSize = { zooms: { min: 0, max: 2 }, hours: 3, surveys: 0 }) {
    const store = await open({ demoSize })
    if (name !== 'CouchDB') return store
    const restore = await allowAll(store.database)
    return {
      ...store,
      async close () {
        await restore()
        await store.close()
      }
    }
  }
}))

/**
 * As `tilecouch doctor --fix --cors '*'` does.
 * @returns {Promise<() => Promise<void>>} puts back what was set before
 */
async function allowAll (database) {
  const { couch } = await Store.open(database)
  const ask =
    (key, request) => couch.request({ path: `_node/_local/_config/${key}`, server: true, raw: true, ...request })
  /** @type {[string, string | null][]} */
  const before = []
  const set =
    (key, value) => ask(key, value === null ? { method: 'DELETE' } : { method: 'PUT', body: JSON.stringify(value) })
  for (const [key, value] of Object.entries(SETTINGS)) {
    before.push([key, await ask(key, { parse: bytes => JSON.parse(bytes.toString()) })
      .catch(error => { if (error.details?.status === 404) return null; throw error })])
    await set(key, value)
  }
  return async () => { for (const [key, value] of before) await set(key, value) }
}
