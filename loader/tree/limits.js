// How trees are kept: how much at once, how long between, and what is waited out.

export const keeperDefaults = {
  gather: 150, // milliseconds for which changes are gathered: those of one load come together
  round: 500, // tiles read and settled at once
  looks: 16, // tiles whose files are looked at, at once
  look: 1000, // milliseconds between two looks at how it goes, when nothing happens
  keepEvery: 10000, // milliseconds after which the place is kept although nothing of the layer has changed
  longestWait: 5000, // milliseconds between two tries while the store is away
  mostTouched: 500000, // tiles that may change during a comparison; then changes wait for its end
  mostMissing: 5 // rounds in which a version that is listed may be nowhere, before it is left out
}

/** What passes: the store is waited for. A layer that is not there may come back, and its trees may be the last copy. */
export const PASSING = new Set(['UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR', 'DATABASE_NOT_FOUND', 'UNAUTHORIZED', 'FORBIDDEN', 'INDEX_MISSING', 'LAYER_NOT_FOUND'])
