// What the doctor takes for ill. Whoever knows better says so in the option `limits`.
export const doctorDefaults = {
  // how long it looks
  patience: 4000, // milliseconds one request may take
  whole: 20000, // milliseconds after which it tells what it has learnt so far
  layers: 100, // layers that are looked at
  editions: 200, // of a layer, the newest ones
  changes: 50, // the newest ones, whose times are looked at
  rows: 5000, // of an index at most
  sample: 2000, // versions of a layer that its retention policy is tried on

  // what is too much
  waste: 2, // file against what is in use: smoosh compacts at this ratio by itself
  waits: 536870912, // bytes of waste: smoosh compacts at these by itself, whatever the ratio
  little: 100e6, // bytes of waste that are nobody's trouble
  tombstones: 0.5, // of all documents: beyond it most of what the feed tells is of documents that are gone
  fewTombstones: 10000, // that are nobody's trouble
  behind: 10000, // changes that an index has yet to take in: some seconds of work
  far: 1000000, // changes: minutes of work, and readers wait for all of it
  free: 0.1, // of a disk
  fullDisk: 0.05, // of a disk: CouchDB refuses to write when there is none
  skew: 5, // seconds between two clocks: more than requests take
  wrong: 60, // seconds: an hour's edition lands in the wrong minute
  lag: 3600, // seconds a mirror may lack what its source has
  lost: 86400, // seconds
  expired: 1000, // tiles that show what has expired
  unfinished: 86400, // seconds an edition may take to load
  doomed: 0.2 // of the versions looked at, that the policy of their layer does not keep: one run's worth and more
}

/** @typedef {typeof doctorDefaults} Limits */
