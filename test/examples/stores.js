// Stores that pages of other origins may read: the embedded one always, a CouchDB once it is told to.
import { configure, kinds } from '../viewer/stores.js'

const SETTINGS = { 'chttpd/enable_cors': 'true', 'cors/origins': '*' } // as `tilecouch doctor --fix --cors '*'` has it

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
