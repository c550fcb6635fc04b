// The names of the measures of bench/tilestache.js that bench/serve.js lacks, and the order of all measures on the
// page.
import { COUCH, HOT, HOT_TWO, MAPPROXY_COUCH, MAPPROXY_FILES, REWRITE, TILESERVER } from '../serve/names.js'

export const TILESTACHE = 'TileStache, Disk cache'
export const BESIDE_TILESTACHE = 'nginx, try_files on the cache of TileStache'
export const TREE = 'nginx, try_files on an export, else gateway'

export const ORDER =
  [TILESTACHE, BESIDE_TILESTACHE, MAPPROXY_FILES, MAPPROXY_COUCH, TILESERVER, COUCH, REWRITE, HOT, HOT_TWO, TREE]

/** The contenders of tilecouch: its servers, and nginx on its export. */
export const OURS = [REWRITE, HOT, HOT_TWO, TREE]
