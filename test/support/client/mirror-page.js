// What the page of mirrors has: a PouchDB of its own, and the mirror of the client library beside it.
import PouchDB from 'pouchdb-browser'
import { Mirror } from '../../../client/mirror/index.js'

Object.assign(globalThis, { PouchDB, Mirror })
