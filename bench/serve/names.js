// The names of the measures of bench/serve.js, in results and on the page.
export const COUCH = 'CouchDB, attachment'
export const COUCH_304 = 'CouchDB, attachment, 304'
export const REWRITE = 'CouchDB, _rewrite'
export const NODE = {
  'undici.request': 'one Node client, plain attachment GETs, undici.request',
  fetch: 'one Node client, plain attachment GETs, fetch'
}
export const COLD = 'gateway, cold'
export const COLD_AS_OF = 'gateway, cold, as of a time'
export const HOT = 'gateway, hot'
export const HOT_AS_OF = 'gateway, hot, as of a time'
export const HOT_304 = 'gateway, hot, 304'
export const HOT_TWO = 'gateway, hot, 2 workers'
export const ZIPF = 'gateway, memory for a third of the tiles, some wanted more than others'
export const PROXY = 'nginx proxy_cache, hot'
export const PROXY_304 = 'nginx proxy_cache, hot, 304'
export const FILES = 'nginx, files'
export const FILES_304 = 'nginx, files, 304'
export const TILESERVER = 'TileServer GL light, MBTiles'
export const MAPPROXY_COUCH = 'MapProxy, CouchDB cache'
export const MAPPROXY_FILES = 'MapProxy, file cache'
