// The names of the measures of bench/tilecache.js, in results, tables and plots.
import { COLD, COUCH, HOT, REWRITE } from '../serve/names.js'

export { COLD, COUCH, HOT, REWRITE }
export const FILES = 'file system, read directly'
export const NGINX = 'nginx, exported tree'

export const SEED_FILES = 'files'
export const SEED_SYNCED = 'files, each synced to the disk'
export const SEED_PUT = 'CouchDB, one PUT a tile'
export const SEED_LOAD = 'CouchDB, tilecouch load'
export const SEED_TREE = 'export of the tree for nginx, after the load'

export const WARM = 'warm'
export const DROPPED = 'dropped'

/** The contenders of tilecouch. */
export const OURS = new Set([COLD, HOT, NGINX, SEED_LOAD, SEED_TREE])
