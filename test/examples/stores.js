// Stores that pages of other origins may read: the embedded one always, a CouchDB after a change of its settings.
import { configure, kinds } from '../viewer/stores.js'

const SETTINGS = { 'chttpd/enable_cors': 'true', 'cors/origins': '*' } // as set by `tilecouch doctor --fix --cors '*'`

export const openKinds = kinds.map(({ name, open }) => ({
  name,
  async open (demoSize = { zooms: { min: 0, max: 2 }, hours: 3, surveys: 0 }) {
    const store = await open({ demoSize })
    if (name !== 'CouchDB') return store
    const restore = await configure(store.database, SETTINGS)
    return {
      ...store,
      async close () {
        await restore()
        await store.close()
      }
    }
  }
}))
