// How a prune asks and what it tells.
export const pruneDefaults = {
  page: 5000, // moments read with one request
  told: 1000, // moments named in a summary; all are counted
  loading: 86400, // seconds since an edition was begun in which it may still be on its way
  batch: 500, // versions, or editions, removed together
  every: 3600 // seconds between two rounds of a live one
}
