// Replication of tile stores, for Node and browsers.
export { generation } from './carrier.js'
export { CouchPeer } from './peer.js'
export { Checkpoint, IDENTITY, PREFIX, identityOf, randomId } from './checkpoint.js'
export { leavesOf, lookBackDefaults, lookBackOf } from './look-back.js'
export { Replication, replicationDefaults } from './replication.js'
export { Selection } from './selection.js'
