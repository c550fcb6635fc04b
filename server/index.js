// The servers for Node: the gateway, the embedded CouchDB, and what `tilecouch up` and `tilecouch serve` do.
export { findEmbedded, startEmbedded } from './embedded/index.js'
export { startGateway } from './gateway/index.js'
export { serve } from './serve.js'
export { up } from './up.js'
