// How a removal asks: enough at once that requests do not matter, little enough that memory and one request stay small.
export const removeDefaults = {
  batch: 500, // documents that go in one request
  heard: 2000, // milliseconds a deletion stands before it is purged, so that whoever follows the store hears of it
  gather: 5000, // deletions after which they are purged: each time every index is brought up to date first
  passes: 5, // over a layer that is removed whole, while loads still write into it
  named: 100 // documents named in a tally; all are counted
}

export const PURGE_MOST = 100 // documents a purge may name, as CouchDB is delivered
