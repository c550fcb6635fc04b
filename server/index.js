// The servers for Node: the gateway, the embedded CouchDB, and the functions of `tilecouch up` and `tilecouch serve`.
export { findEmbedded, startEmbedded } from './embedded/index.js'
export { startGateway } from './gateway/index.js'
export { serve } from './serve.js'
export { up } from './up.js'
