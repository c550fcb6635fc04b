// The servers for Node: the embedded CouchDB, and everything that `tilecouch up` does.
export { findEmbedded, startEmbedded } from './embedded/index.js'
export { up } from './up.js'
