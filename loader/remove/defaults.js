// How a removal asks: enough at once that requests do not matter, little enough that memory and one request stay small.
export const removeDefaults = {
  batch: 500, // documents that go in one request
  bytes: 4e6, // of tiles that become heads again in one request
  look: 1000, // heads that went or fell back which are kept in mind, to be looked at once more
  grace: 200, // milliseconds between the last such head and that look: what a load had begun is written by then
  rounds: 8, // times a tile is decided anew while others write it
  heard: 2000, // milliseconds a deletion stands before it is purged, so that whoever follows the store hears of it
  gather: 5000, // deletions after which they are purged: each time every index is brought up to date first
  passes: 5, // over a layer that is removed whole, while loads still write into it
  named: 100 // documents named in a tally; all are counted
}

export const PURGE_MOST = 100 // documents a purge may name, as CouchDB is delivered
