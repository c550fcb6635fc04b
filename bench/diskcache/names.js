// The names of what is measured, as they stand in the results and on the page.
export const GATEWAY = 'gateway'
export const MEMORY = 'gateway, its memory in process'
export const COUCH = 'CouchDB'
export const MEMCACHED = 'memcached'
export const REDIS = 'Redis'
export const CACHE = 'diskcache.Cache'
export const FANOUT = 'diskcache.FanoutCache'
export const FILES = 'files'

/** tilecouch's own. */
export const OURS = [GATEWAY, MEMORY]

/** @param {number} level how many at once */
export const processes = level => level === 1 ? '1 process' : `${level} processes`
