// Replication of tile stores, for Node and browsers.
export { Checkpoint, IDENTITY, PREFIX, checkpointId, identityOf, isUnwritable, randomId } from './checkpoint.js'
export { FailureStreak, RevisionCopier, newCopyTally } from './copier.js'
export { CouchPeer, checkDigests, hasItsBytes } from './peer.js'
export { askQueries } from '../couch/queries.js'
export { Replication, replicationDefaults } from './replication.js'
export { compareRevs, generation, isParentOf, parentOf, winnerFirst } from '../couch/answers.js'
export { Selection } from './selection.js'
export { readLeaves, visiblePastDefaults, visiblePastOf } from './visible-past.js'
