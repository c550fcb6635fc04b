// Hostile requests, the same ones for each seed: every kind of address with something wrong in it, with headers and
// bodies that no honest client sends. And hostile upstreams.
import { gzipSync } from 'node:zlib'
import { random } from '../../../bench/tiles.js'
import { startServer } from '../server.js'
import { claimingSize, png } from '../tiles.js'

/** Text of upstreams. No visitor may read it. */
export const UPSTREAM_SECRET = 'what an inner server says'

const bomb = gzipSync(Buffer.alloc(100e6))
const vectorBomb = gzipSync(Buffer.alloc(100e6, 0x1a))

/**
 * How the upstream `cruel` answers each layer.
 * @type {Record<string, (res: import('node:http').ServerResponse, inner: string) => any>}
 */
const ways = {
  page: res => res.writeHead(200, { 'content-type': 'text/html' }).end(`<script>${UPSTREAM_SECRET}</script>`),
  picture: res => res.writeHead(200, { 'content-type': 'image/svg+xml' })
    .end(`<svg xmlns="http://www.w3.org/2000/svg"><script>${UPSTREAM_SECRET}</script></svg>`),
  service: res =>
    res.end(`<ServiceExceptionReport><ServiceException>${UPSTREAM_SECRET}</ServiceException></ServiceExceptionReport>`),
  refusal: res => res.writeHead(403, { 'retry-after': '77', 'x-inner': UPSTREAM_SECRET }).end(UPSTREAM_SECRET),
  trouble: res => res.writeHead(500, UPSTREAM_SECRET).end(UPSTREAM_SECRET),
  packed: res => res.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end(bomb),
  vectors: res => res.writeHead(200, { 'content-type': 'application/vnd.mapbox-vector-tile' }).end(vectorBomb),
  gigapixels: res => res.end(claimingSize(png(1), 60000)),
  cut: res => res.writeHead(200, { 'content-length': 5000 }).write(png(1), () => res.destroy()),
  endless: res => { const writeMore = () => {
    while (!res.destroyed && res.write(Buffer.alloc(65536, UPSTREAM_SECRET)));
  }; res.on('drain', writeMore); writeMore() },
  silent: () => {},
  inwards: (res, inner) => res.writeHead(302, { location: `${inner}/1.png` }).end(UPSTREAM_SECRET),
  elsewhere: res => res.writeHead(302, { location: 'file:///etc/passwd' }).end(UPSTREAM_SECRET),
  round: res => res.writeHead(302, { location: '?again' }).end(UPSTREAM_SECRET)
}

/** Spellings of one address. @param {number} port */
const spellings = port => [
  `http://127.0.0.1:${port}/{z}/{x}/{y}.png`, `http://localhost:${port}/{z}/{x}/{y}.png`,
  `http://localhost.:${port}/{z}/{x}/{y}.png`, `http://127.1:${port}/{z}/{x}/{y}.png`,
  `http://0x7f000001:${port}/{z}/{x}/{y}.png`,
  `http://2130706433:${port}/{z}/{x}/{y}.png`, `http://0.0.0.0:${port}/{z}/{x}/{y}.png`,
  `http://[::ffff:127.0.0.1]:${port}/{z}/{x}/{y}.png`, `http://[::1]:${port}/{z}/{x}/{y}.png`,
  `http://127.0.0.1:${port}/?url={z}/{x}/{y}`
]

/** Layers with a harmful upstream, or with one that must not be asked. */
const HARMFUL = [
  ...[...Object.keys(ways), 'wms'].map(way => `cruel-${way}`), ...spellings(0).map((_, index) => `inner-${index}`)
]

/** A name that only headers of proxies hold. No answer repeats it. */
export const FORWARDED = 'forwarded-by-nobody'

const ODD = ['', '-1', '0', '00', '01', '1', '3', '7', '8', '30',
  '31', '99', '1e3', '0x3', '3.5', '+3', ' 3', '%33', '٣', '%D9%A3',
  '2147483648', '99999999999999999999', 'NaN', 'null', 'undefined',
  'Infinity', '{z}', '-0', '__proto__', '3;', '3%00', '%', '%zz', '%ff', '%c0%ae', '..', '%2e%2e', '.',
  '*', '🗺', '%F0%9F%97%BA', 'x'.repeat(3000), "'", '"', '<script>', '%0d%0aX:%20y', '\\', '%5c', '|', '`id`', '$(id)']
const LAYERS = [...Array(40).fill('osm'), ...HARMFUL, 'h0', 'h7',
  'h40', 'far', 'OSM', 'layer', 'edition', '_design', '_users',
  'db', 'wmts', 'tms', 'quadkey', 'health', 'metrics', 'osm%00', 'osm:3', 'layer:osm',
  '.osm', 'osm/..', '%6fsm', 'o'.repeat(64), '__proto__', 'constructor', 'toString', 'os m', 'osm%2f', 'ösm', '']
const TIMES = ['', '@', '@2024', '@2021-06', '@2022-06-01', '@2022-06-01T00:00:00Z',
  '@0000', '@9999-12-31T23:59:59Z', '@2024-02-30', '@2024-13',
  '@2024-00-00', '@-2024', '@20240301', '@2024-03-01T24:00:00Z',
  '@2024-03-01T00:00:00+99:99', '@now', '@default', '@current',
  '@2024/2025', '@2024-01-01/2025-01-01/P1D', '@../../../etc/passwd', '@%2e%2e%2f%2e%2e%2fetc%2fpasswd', '@2024%00',
  '@2024@2025', '@~', '@%EF%BF%B0', '@{}', '@"', `@${'9'.repeat(500)}`, '@2024-03-01T12:00:00.000000001Z', '@null']
const EXTS = ['.png', '.png', '.png', '.jpg', '.pbf', '.json',
  '.webp', '.PNG', '.png.png', '.png%00.jpg', '.', '', '.exe',
  '.php', '.png;jsessionid=1', '.png/', '.png/..', '.png?', '.png#x', '.p%6eg', '.__proto__', `.${'p'.repeat(100)}`]
const STEPS = ['..', '.', '', '%2e%2e', '.%2e', '%2e', '..%2f',
  '%2f', '%2F..%2f', '%5c..%5c', '..\\', '%252e%252e', '%c0%ae%c0%ae',
  '..;', '_users', '_node', '_local', '_config', '_security', '_session',
  '_all_dbs', '_utils', '_replicate', '_design', '_design%2ftiles',
  '_rewrite', '_show', '_list', '_update', '_all_docs', '_changes',
  '_find', '_bulk_docs', '_bulk_get', '_purge', '_view', 'tiles',
  'versions', 'by_tile', 'osm:3:0:0', 'osm%3a3%3a0%3A0', 'tile',
  'layer:osm', 'secret', 'org.couchdb.user:fuzz', 'etc', 'passwd', 'package.json',
  'server', 'http:', '127.0.0.1', '@', '*', '__proto__', 'constructor', '%00', '%0d%0a', 'queries', 'x'.repeat(2000)]
const NAMES = ['start_key', 'end_key', 'start_key_doc_id', 'endkey_docid',
  'token', '_nonce', 'include_docs', 'attachments', 'limit', 'skip',
  'key', 'keys', 'startkey', 'endkey', 'startkey_docid', 'descending',
  'conflicts', 'reduce', 'group', 'group_level', 'update', 'stale',
  'stable', 'since', 'filter', 'view', 'doc_ids', 'selector', 'style',
  'rev', 'revs', 'open_revs', 'atts_since', 'latest', 'att_encoding_info',
  'feed', 'count', 'local_seq', 'meta', 'inclusive_end', 'sorted', 'seq_interval', 'callback',
  'bbox', 'z', 'partition', 'new_edits', 'batch', 'w', 'r', '__proto__', 'constructor', 'p\u00e4th', 'rev[]', '$where']
const VALUES = ['"zzz"', '"work:"', '"token;"', '', 'x', '-1',
  '0', '1', '1e999', '99999999999999999999', 'true', 'false', 'null',
  '{}', '[]', '[[[[', '"', '"a"', '{"a":1}', '[1,"x",{}]', '["osm",3,0,0]',
  '%00', '🗺', 'now', 'nope/nope', '_selector', '_view', '_doc_ids',
  '_design', 'tiles/x', '1-abc', '2-', 'all', '["1-a"]', 'NaN',
  'undefined', '__proto__', 'normal', 'longpoll', 'eventsource',
  '\ud800', '-180,-85,180,85', '1,2,3', '180,-90,-180,90', 'NaN,NaN,NaN,NaN',
  '1e308,1,2,3', "' OR 1=1", '../../etc/passwd', 'http://127.0.0.1/', 'a'.repeat(5000)]
const WMTS_NAMES = ['SERVICE', 'service', 'REQUEST', 'VERSION',
  'LAYER', 'STYLE', 'FORMAT', 'TILEMATRIXSET', 'TILEMATRIX', 'TILEROW', 'TILECOL', 'TIME', 'time',
  'I', 'J', 'INFOFORMAT', 'ACCEPTVERSIONS', 'SECTIONS', 'UPDATESEQUENCE', 'EXCEPTIONS', 'request', 'BBOX', 'WIDTH']
const WMTS_VALUES = ['WMTS', 'WMS', 'GetTile', 'GetCapabilities',
  'getcapabilities', 'GetMap', '1.0.0', '9.9.9', 'osm', 'default',
  'image/png', 'image/jpeg', 'text/html', 'WebMercatorQuad', 'GoogleMapsCompatible',
  'EPSG:3857', '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>',
  '&lt;&x;', ']]>', '2024', '2024-01-01/2025-01-01', 'current']
const BODIES = [
  '{"selector":{"$and":5}}', '{"selector":{"_id":{"$regex":"^a","$and":5}}}', '{"selector":{"layer":"osm"}}',
  '{"key":"osm:3:0:0","startkey":"work:","include_docs":true}', '{"keys":["osm:3:0:0"],"startkey":"work:"}',
  '{"startkey":"zzz","start_key":"work:","include_docs":true}', `{"keys":[${'0,'.repeat(60000)}0]}`,
  `{"keys":[${'[],'.repeat(20000)}0]}`, `{"keys":${'['.repeat(30000)}${']'.repeat(30000)}}`,
  '', 'null', '0', '"x"', '[]', '{}', '{', '[[[[', '\u0000', '{"docs":null}',
  '{"docs":[null]}', '{"docs":[{"id":null}]}', '{"docs":[{"id":""}]}',
  '{"docs":[{"id":"osm:3:0:0","rev":"x"}]}', '{"docs":[{"id":"osm:3:0:0","atts_since":5}]}',
  '{"docs":[{"id":"_design/tiles"},{"id":"_local/x"},{"id":"../x"}]}',
  '{"keys":null}', '{"keys":[null,{},[],5,"",true]}', '{"keys":["osm:3:0:0","__proto__","\\u0000","\\ud800"]}',
  '{"queries":null}', '{"queries":[null]}', '{"queries":[{"keys":5}]}',
  '{"queries":[{"limit":"x"}]}', '{"queries":[{"startkey":{},"endkey":null,"skip":-1}]}',
  '{"queries":[{"group_level":"x"}]}', '{"queries":[{"include_docs":5,"descending":"x"}]}',
  '{"selector":null}', '{"selector":{"$or":5}}', '{"selector":{"a":{"$regex":"("}}}',
  '{"selector":{"_id":{"$regex":"^(a+)+$"}}}', '{"selector":{"$and":[{"$not":null}]}}',
  '{"selector":{"a":{"$elemMatch":5}}}', '{"selector":{"a":{"$in":5}}}',
  '{"selector":{"a":{"$mod":[0,0]}}}', '{"selector":{"$nope":1}}',
  '{"selector":{},"sort":[5]}', '{"selector":{},"fields":5}', '{"selector":{},"limit":-1}',
  '{"selector":{},"use_index":5}', '{"selector":{},"bookmark":"nope"}',
  '{"selector":{},"bookmark":5}', '{"selector":{"_id":{"$gt":null}},"r":99}',
  '{"doc_ids":5}', '{"doc_ids":[5]}', '{"osm:3:0:0":["1-x",5]}',
  '{"osm:3:0:0":["9-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]}', '{"limit":"x","skip":-1}',
  '{"_id":"intruder"}', '{"docs":[{"_id":"intruder"}]}', '{"doc_ids":["osm:3:0:0"]}',
  '{"doc_ids":["osm:3:0:0"],"include_docs":true,"attachments":true}',
  '{"include_docs":true,"attachments":true,"limit":100000}', '{"limit":1,"limit":100000}',
  '{"limit":[5]}', '{"limit":1e99}', '{"limit":"5"}', '{"include_docs":"true"}',
  '{"attachments":true,"keys":null}', '{"queries":[{"attachments":true,"include_docs":true}],"limit":1}',
  '{"queries":[{"queries":[{}]}]}', '{"queries":[{"keys":["osm:3:0:0"],"key":"x","startkey":{}}]}',
  '{"keys":["osm:3:0:0"],"queries":[{}],"docs":[],"selector":{}}',
  '{"docs":[{"id":"osm:3:0:0","rev":"1-a","attachments":true,"atts_since":["1-a"],"revs":true}]}',
  '{"docs":[{"id":"osm:3:0:0","id":"../x"}]}', '{"docs":[{"id":"osm:3:0:0","atts_since":["x","1-a"]}]}',
  '{"selector":{},"r":9,"partition":"x","update":"lazy","stable":true,"execution_stats":true,"conflicts":true,' +
    '"attachments":true}', '{"selector":{},"use_index":["_design/tiles","x"]}',
    '{"selector":{},"sort":[{"_id":"desc"}]}',
    '{"selector":{},"sort":[{"x":"asc"},{"_id":"desc"}],"fields":["__proto__","a.b","_attachments"]}',
    '{"selector":{"_id":{"$regex":".*.*.*.*(b|c)"}}}', '{"selector":{"_id":{"$regex":"(?!x)"}}}',
    '{"selector":{"_id":{"$mod":[0,1]}}}', '{"selector":{"__proto__":{"$exists":true},"constructor":1}}',
    '{"selector":{"$and":[],"$or":[],"$nor":[]}}',
    '{"selector":{"layer":{"$allMatch":{"$elemMatch":{"$keyMapMatch":{"$eq":1}}}}}}',
    '{"selector":{},"fields":["_id"],"include_docs":true}', '{"selector":{"_id":{"$in":[[],{},null,1]}}}',
    '{"__proto__":{"limit":1},"constructor":{"x":1}}', '{"startkey":"\\ud800","endkey":{"a":[{}]},"startkey_docid":5}',
    `{"selector":{"$and":[${Array(12).fill(`{"$or":[${Array(20).fill('{"x":1}').join()}]}`).join()}]}}`,
    `{"selector":{"x":{"$in":[${Array(20000).fill(1).join()}]}}}`, `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    `{"selector":${'{"$not":'.repeat(200)}{}${'}'.repeat(200)}}`, `{"keys":["${'x'.repeat(60000)}"]}`]
const METHODS = [...Array(120).fill('GET'), ...Array(15).fill('HEAD'), 'POST', 'POST', 'PUT', 'DELETE',
  'OPTIONS', 'PATCH', 'COPY', 'MOVE', 'PROPFIND', 'SEARCH', 'TRACE', 'LOCK', 'REPORT', 'M-SEARCH', 'PURGE', 'LINK']
const HEADERS = {
  Range: ['bytes=0-', 'bytes=-1', 'bytes=5-2', 'bytes=0-0,5-5',
    `bytes=${'0-1,'.repeat(200)}5-6`, 'bytes=99999999999999999999-', 'items=1', 'bytes=abc', ''],
  'If-None-Match': ['*', '"x"', 'W/"x"', ',,,', '"'.repeat(500), `"${'a'.repeat(7000)}"`, '\\'],
  'If-Modified-Since': ['Thu, 01 Jan 1970 00:00:00 GMT', 'yesterday',
    '0', '99999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'],
  'If-Match': ['*', '"x"'],
  'If-Range': ['"x"'],
  'Accept-Encoding': ['gzip', 'br', 'identity;q=0, *;q=0', 'gzip;q=abc',
    ',', 'deflate, zstd', `${'gzip,'.repeat(1000)}x`],
  Accept: ['multipart/mixed', 'text/html', '*/*;q=0', 'multipart/mixed; boundary="', 'application/json;q=nope'],
  'Content-Type': ['application/json', 'application/json', 'text/plain',
    'multipart/form-data; boundary=', 'application/x-www-form-urlencoded', 'application/json; charset=utf-7', ''],
  'Content-Encoding': ['gzip', 'identity', 'br'],
  Origin: ['http://page.example', 'null', '<x>', 'http://a b'],
  'X-Forwarded-Host': [`${FORWARDED}.example`, `${FORWARDED}.example:8080, x`, `"><script>${FORWARDED}`, '[::1]'],
  'X-Forwarded-Server': [`${FORWARDED}.example`],
  'X-Original-Host': [`${FORWARDED}.example`],
  Forwarded: [`for=1.2.3.4;host=${FORWARDED}.example;proto=https`],
  'X-Forwarded-Proto': ['https', 'javascript', 'file'],
  'X-Forwarded-Prefix': ['/../..', `/${FORWARDED}`, `//${FORWARDED}.example`, `"><script>${FORWARDED}`],
  'X-Forwarded-Uri': [`/${FORWARDED}/osm.json`],
  'X-Script-Name': [`/${FORWARDED}`],
  'X-Forwarded-For': ['127.0.0.1', `${FORWARDED}`, '::1, 10.0.0.1'],
  'X-HTTP-Method-Override': ['DELETE', 'PUT'],
  'X-Original-URL': ['/_users', '/db/../_users'],
  'X-Couch-Full-Commit': ['true'],
  'X-Auth-CouchDB-UserName': ['admin'],
  'X-Auth-CouchDB-Roles': ['_admin'],
  Authorization: ['Basic ====', 'Basic bm9ib2R5Ondyb25n', 'Bearer x', 'Negotiate'],
  Cookie: ['AuthSession=YWRtaW46NTM2', `a=${'b'.repeat(4000)}`, '__proto__=1'],
  Destination: ['intruder', '../../_users/x'],
  Upgrade: ['websocket', 'h2c'],
  'Access-Control-Request-Method': ['PUT', 'GET', 'x y'],
  'Access-Control-Request-Headers': ['Authorization', '*'],
  'Transfer-Encoding': ['identity', 'x'],
  TE: ['trailers', 'x'],
  Expect: ['100-continue', '200-ok'],
  'Max-Forwards': ['0'],
  'Keep-Alive': ['timeout=99999999'],
  __proto__x: ['1'],
  'X-Huge': ['y'.repeat(9000)],
  'X-Latin': ['\u00e4\u00f6\u00fc']
}
const HOSTS = [...Array(30).fill('x'), '', 'evil.example', '127.0.0.1:5984', '[::1]:80', 'a b',
  '"><script>', '../..', 'x'.repeat(500), '@', 'x:99999999', 'x:99999', '[::::]', '[::1]:99999', '1.2.3.999', 'a:b']

const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']
const RANGES = ['key', 'keys', 'startkey', 'start_key', 'endkey', 'end_key', 'descending', 'inclusive_end', 'skip']
const ENDS = [
  '"zzz"', '"a"', '"work:"', '"work;"', '"activity:"', '"token:"', '"token;"', '"osm:3:0:0"', '["osm:3:0:0"]', 'true',
  '["work:fuzz"]', 'null', '{}', '1'
]

/**
 * @typedef {{method: string, target: string, headers: [string, string][], body: string, broken: boolean}} Hostile
 *   broken: not valid HTTP
 */

/** @param {number} seed */
export function hostile (seed) {
  const nextRandom = random(seed)
  const chance = share => nextRandom() < share
  const pick = list => list[Math.floor(nextRandom() * list.length)]
  const several = (max, make) => Array.from({ length: Math.floor(nextRandom() * (max + 1)) }, make)

  const query = () => several(4, () => `${pick(NAMES)}=${chance(0.7) ? encode(pick(VALUES)) : pick(VALUES)}`).join('&')
  const wmts = () => several(9,
    () =>
      `${pick(WMTS_NAMES)}=` +
        `${chance(0.9) ? encode(pick(chance(0.7) ? WMTS_VALUES : [...ODD, ...VALUES])) : pick(VALUES)}`).join('&')
  const number = () => chance(0.75) ? `${Math.floor(nextRandom() * 5)}` : pick(ODD)
  const tile = () => `${number()}/${number()}/${number()}${pick(EXTS)}`
  const reference = () => pick(LAYERS) + (chance(0.5) ? '' : pick(TIMES))

  /** Joins parts after replacing at most one of them by a wrong value. */
  const nearly = (parts, between, wrongValues = ODD) => {
    const wrongIndex = Math.floor(nextRandom() * parts.length * 1.3)
    return parts.map((part, index) => index === wrongIndex ? pick(wrongValues) : part).join(between)
  }
  const nearlyWmts = (...parameters) => nearly(['SERVICE=WMTS', 'VERSION=1.0.0', ...parameters],
    '&', ['', ...VALUES.map(value => `TIME=${encode(value)}`), ...ODD.map(value => `TILEROW=${encode(value)}`),
      ...WMTS_VALUES.map(value => `${pick(WMTS_NAMES)}=${encode(value)}`)])

  const oddParameters = () => NAMES.map(name => `${name}=${encode(pick(VALUES))}`)
  const ranges = () => several(4, () => `${pick(RANGES)}=${encode(pick(ENDS))}`).join('&')

  const addresses = [
    () => `/${nearly(['osm', '3', '1', '1'], '/')}.png`,
    () => `/${nearly([`osm${pick(TIMES)}`, '3', '1', '1'], '/')}${pick(EXTS)}`,
    () => `/${nearly(['tms', '1.0.0', 'osm@2021', '3', '1', '6'], '/')}.png`,
    () => `/${nearly(['quadkey', 'osm', '003.png'], '/')}`,
    () =>
      `/osm/times.json?${nearly(['bbox=-180,-85,180,85', 'z=3'], '&', VALUES.map(value => `bbox=${encode(value)}`))}`,
    () => '/wmts?' + nearlyWmts('REQUEST=GetTile', 'LAYER=osm', 'STYLE=default', 'FORMAT=image/png',
      'TILEMATRIXSET=WebMercatorQuad', 'TILEMATRIX=3', 'TILEROW=1', 'TILECOL=1'),
    () => `/wmts?${nearlyWmts('REQUEST=GetCapabilities')}`,
    () => `/wmts/${nearly(['osm', 'default', 'WebMercatorQuad', '3', '1', '1'], '/')}.png`,
    () => '/wmts/' +
      nearly(['osm', 'default', pick(TIMES).slice(1) || 'current', 'WebMercatorQuad', '3', '1', '1'], '/') + '.png',
    () => `/db/${nearly(['_design', 'versions', '_view', 'by_tile'], '/', STEPS)}?` +
      nearly(['reduce=false', 'limit=2', 'startkey=["osm",3]'], '&', oddParameters()),
    () => '/db/_changes?' +
      nearly(['limit=2', 'since=0', 'style=all_docs', 'timeout=20'], '&', oddParameters()),
    () => `/db/_all_docs?include_docs=true&${ranges()}`,
    () => `/${pick(INHERITED)}${pick(['', '?token=', '?token=x', '.json', '/times.json', '/1/0/0.png', '.qlr'])}`,
    () => '/' +
      pick(['?embed?x', '??embed', '?embed', '?token=', '?token=x&token=y', 'layers?token=',
        'index.html?embed?token=']),
    () => `/db/osm:3:1:1/tile?${pick(NAMES)}=${encode(pick(VALUES))}`,
    () => `/${pick(HARMFUL)}${pick(['', '', '@2021'])}/${Math.floor(nextRandom() * 4)}/0/0.png`,
    () => `/${pick(HARMFUL)}${pick(['.json', '/times.json', '/1/0/0.json'])}`,
    () => `/wmts/${pick([...HARMFUL, 'h0', 'h7'])}/default/WebMercatorQuad/1/0/0.png`,
    () => `/${reference()}/${tile()}`,
    () => `/${reference()}/${tile()}?${query()}`,
    () => `/tms/${pick(['1.0.0', '1.0', '..'])}/${reference()}/${tile()}`,
    () =>
      `/quadkey/${reference()}/${several(40, () => pick(['0', '1', '2', '3', '3', '4', 'x', '%30'])).join('')}` +
        pick(EXTS),
    () => `/${reference()}${pick(['.json', '/times.json', '/..json', '.json/'])}?${query()}`,
    () => `/wmts?${wmts()}`,
    () =>
      `/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=${encode(pick(LAYERS))}&STYLE=default&FORMAT=image/png&` +
        `TILEMATRIXSET=${pick(WMTS_VALUES)}&TILEMATRIX=${number()}&TILEROW=${number()}&TILECOL=${number()}&` +
        `TIME=${encode(pick(TIMES).slice(1))}`,
    () => {
      const steps = [...ODD, ...LAYERS, ...WMTS_VALUES.map(encode), '1.0.0', 'WMTSCapabilities.xml']
      return `/wmts/${several(7, () => pick(steps)).join('/')}${pick(EXTS)}`
    },
    () => `/db/${several(5, () => pick(STEPS)).join('/')}`,
    () => `/db/${several(3, () => pick(STEPS)).join('/')}?${query()}&timeout=20`,
    () => {
      const place = pick(['_all_docs', '_all_docs/queries', '_changes', '_bulk_get', '_revs_diff', '_find',
        '_design/versions/_view/by_tile', '_design/versions/_view/by_tile/queries', 'osm:3:0:0', 'osm:3:0:0/tile',
        '_design/tiles', ''])
      return `/db/${place}?${query()}&timeout=20`
    },
    () => `/${several(4, () => pick(STEPS)).join('/')}`,
    () => `/${pick(['viewer.js', 'index.html', 'leaflet.css', 'tilecouch.esm.js'])}` +
      pick(['', '', '%00', '/..', '/../package.json', '?x', '.map', '%2f..%2f..%2fpackage.json']),
    () => pick(
      ['/health', '/metrics', '*', 'http://127.0.0.1:5984/_users',
        'https://evil.example/db/_all_docs', 'http://x/../..', '//db//_all_docs', '/db', '/db?',
        'db/_all_docs', '', '/\u00e4', '?x', '#', `/${'a/'.repeat(3000)}`, 'http://', 'file:///etc/passwd', '/%']
    )
  ]

  /** @returns {Hostile} */
  return function make () {
    const target = pick(addresses)()
    const isQuery = /^\/db\//.test(target) && chance(0.4)
    const method = isQuery ? 'POST' : pick(METHODS)
    const body = method === 'POST' || chance(0.1) ? pick(BODIES) : ''
    const headers = [['Host', pick(HOSTS)], ...several(4, () => {
      const name = pick(Object.keys(HEADERS))
      return [name, pick(HEADERS[name])]
    })]
    if (isQuery && chance(0.8)) headers.push(['Content-Type', 'application/json'])
    return { method, target, headers, body, broken: chance(0.03) }
  }
}

function encode (text) {
  try {
    return encodeURIComponent(text)
  } catch {
    return '%EF%BF%BD' // half a surrogate has no encoding
  }
}

/**
 * The bytes of a request on the wire.
 * @param {Hostile} request
 * @param {{last?: boolean}} [options] last: the last request of its connection
 */
export function onTheWire ({ method, target, headers, body, broken }, { last = true } = {}) {
  const bytes = Buffer.from(body)
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  if (bytes.length) lines.push(`Content-Length: ${broken ? bytes.length + 10 : bytes.length}`)
  if (broken) lines.splice(1, 0, 'Content-Length: x', ' folded: yes', 'no colon')
  if (last) lines.push('Connection: close')
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes])
}

/**
 * Starts two upstreams. `cruel` may be asked, and never answers with a valid image. `inner` must not be reached by any
 * address or redirect, and counts the requests that reach it all the same.
 * @returns {Promise<{layers: Record<string, Record<string, any>>, network: string, asked: {cruel: number, inner:
 *   number}, close: () => Promise<void>}>}
 *   layers: with their upstreams, by name; network: what an operator who trusts `cruel` allows
 */
export async function startHostileUpstreams () {
  const counts = { cruel: 0, inner: 0 }
  const inner = await startServer((req, res) => {
    counts.inner++
    res.end(png(1))
  })
  const cruel = await startServer((req, res) => {
    counts.cruel++
    ways[req.url?.split('/')[1] ?? '']?.(res, inner.url)
  })
  const xyz = url => ({ url, timeout: 1, negative: 0 })
  return {
    layers: Object.fromEntries([
      ...Object.keys(ways).map(way => [`cruel-${way}`, xyz(`${cruel.url}/${way}/{z}/{x}/{y}.png`)]),
      ['cruel-wms', { type: 'wms', url: `${cruel.url}/service`, layers: 'a', timeout: 1, negative: 0 }],
      ...spellings(inner.port).map((url, index) => [`inner-${index}`, xyz(url)])
    ]),
    network: `127.0.0.1:${cruel.port}`,
    asked: counts,
    close: async () => { await Promise.all([cruel, inner].map(server => server.close())) }
  }
}
