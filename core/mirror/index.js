// Replication of tile stores, for Node and browsers.
export { CouchPeer } from './peer.js'
export { Checkpoint, IDENTITY, PREFIX, identityOf } from './checkpoint.js'
export { lookBackDefaults, lookBackOf } from './look-back.js'
export { Replication, replicationDefaults } from './replication.js'
export { Selection } from './selection.js'
