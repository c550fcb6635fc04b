// The names of what is measured that the benchmark of servers does not have, and the order of all of them on the page.
import { COUCH, HOT, HOT_TWO, MAPPROXY_COUCH, MAPPROXY_FILES, REWRITE, TILESERVER } from '../serve/names.js'

export const TILESTACHE = 'TileStache, Disk cache'
export const BESIDE_TILESTACHE = 'nginx, try_files on the cache of TileStache'
export const TREE = 'nginx, try_files on an export, else gateway'

export const ORDER =
  [TILESTACHE, BESIDE_TILESTACHE, MAPPROXY_FILES, MAPPROXY_COUCH, TILESERVER, COUCH, REWRITE, HOT, HOT_TWO, TREE]

/** tilecouch's own: what it serves with, or what it wrote. */
export const OURS = [REWRITE, HOT, HOT_TWO, TREE]
