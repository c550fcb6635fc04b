// For script tags: PouchDB as the global that offline areas look for, so that a page needs nothing but the store's
// address.
import PouchDB from 'pouchdb-browser'

Object.assign(globalThis, { PouchDB })
