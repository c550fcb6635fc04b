// Replication of tile stores, for Node and browsers.
export { CouchPeer } from './peer.js'
export { Checkpoint, IDENTITY, PREFIX, identityOf } from './checkpoint.js'
export { Replication, replicationDefaults } from './replication.js'
export { Selection } from './selection.js'
