// The names of the measures of bench/diskcache.js, in results and on the page.
export const GATEWAY = 'gateway'
export const MEMORY = 'gateway, its memory in process'
export const COUCH = 'CouchDB'
export const MEMCACHED = 'memcached'
export const REDIS = 'Redis'
export const CACHE = 'diskcache.Cache'
export const FANOUT = 'diskcache.FanoutCache'
export const FILES = 'files'

/** The contenders of tilecouch. */
export const OURS = [GATEWAY, MEMORY]

/** @param {number} level number of concurrent processes */
export const processes = level => level === 1 ? '1 process' : `${level} processes`
