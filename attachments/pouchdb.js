// Makes PouchDB global, for pages with script tags: offline areas look for that global. Such a page needs only the
// address of the store.
import PouchDB from 'pouchdb-browser'

Object.assign(globalThis, { PouchDB })
