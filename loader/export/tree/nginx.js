// Makes the configuration of an nginx that serves trees, for the http block. deploy/nginx/files.conf is made with the
// defaults and a gateway. nginx gives the same answers as the gateway: see server/gateway/routes/tile.js.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { TilecouchError } from '../../errors.js'
import { replaceFile, writingTo } from '../../formats/atomic-file.js'
import { ifMissing } from '../../formats/files.js'
import { namesIn } from '../../formats/names.js'
import { HIDDEN } from './paths.js'

export const nginxDefaults = {
  listen: '80', // in nginx syntax: a port, or an address and a port
  serverName: '_', // host names, separated by spaces; _ for any
  root: '/srv/tiles', // the folder of the trees
  maxAge: 300, // seconds that clients keep a tile that may change; less for layers with a shorter ttl
  staleWhileRevalidate: 86400, // seconds after maxAge for which they may show it while they ask for a new one
  staleIfError: 604800, // seconds for which they may show it when no server answers
  missingAge: 60, // seconds that clients remember a missing tile
  origin: '*' // origin of pages that may read
}

const EXPOSED = 'Accept-Ranges, Content-Range, ETag, Retry-After, X-Tilecouch-Cache, X-Tilecouch-Time'
const TAKEN = 'Accept, Cache-Control, Content-Type, If-Modified-Since, If-None-Match, Range'

const TILE = '/[a-z0-9][a-z0-9_-]{0,62}(?:@[0-9TZ:-]+)?/[0-9]{1,2}/[0-9]{1,10}/[0-9]{1,10}'

/**
 * @param {Partial<typeof nginxDefaults> & {gateway?: string, layers?: {layer: string, ttl?: number}[]}} [options]
 *   gateway: URL of the server that answers requests for files that are not in the trees
 */
export function nginxConfig ({ gateway, layers = [], ...nonDefaults } = {}) {
  const options = { ...nginxDefaults, ...nonDefaults }
  const passed = gateway === undefined ? undefined : parseGateway(gateway)
  const missing = passed ? '@gateway' : '@missing'
  const gatewayNote = passed ? ', and passes on what is not in them to the gateway' : ''
  const tilesOf = ({ layer, age }) => `    "~^/${layer}[@/]" "${steady(options, age)}"; # its tiles expire\n`
  const gap = ' '.repeat(Math.max(1, 24 - (passed?.server.length ?? 0)))
  return `# nginx serves exported trees of tiles from disk${gatewayNote}.
# Made by: tilecouch export LAYER FOLDER --tree --nginx FILE${passed ? ' --gateway URL' : ''}
#
# For the http block: copy it to /etc/nginx/conf.d/tilecouch.conf and adapt the lines with an arrow.
# The trees look like the addresses: osm/10/300/412.png, osm@2024-03-01T00:00:00Z/10/300/412.png

${passed ? `upstream tilecouch {
    server ${passed.server};${gap}# <- the gateway; one line each for several
    keepalive 32;
}

` : ''}# How long clients may keep a tile: the same values as the gateway's --max-age, --stale-while-revalidate,
# --stale-if-error. No time names bytes for ever: a version may be removed, filled in or resolved.
map $uri $tile_cache {
    default "${steady(options, options.maxAge)}";
${shortLived(layers, options).map(tilesOf).join('')}}

server {
    listen ${checked(options, 'listen', WORD)};                      # <-
    server_name ${checked(options, 'serverName', TEXT)};                  # <- maps.example.org
    root ${rootOf(options.root)};                # <- the trees

    set $tile_origin "${checked(options, 'origin', TEXT)}";           # as the gateway's --cors
    set $tile_exposed "${EXPOSED}";
${passed ? `
    # The gateway believes these only with --trust-proxy, and needs --public-url then. What clients send is replaced or
    # removed.
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Host "";
    proxy_set_header X-Forwarded-Prefix "";
    proxy_set_header X-Forwarded-Uri "";
    proxy_set_header Forwarded "";
    proxy_connect_timeout 2s;
    proxy_read_timeout 40s;         # an upstream that the gateway asks may take 30 s
${passed.scheme === 'https' ? '    proxy_ssl_server_name on;\n' : ''}
    # descriptions are texts and shrink; images do not, and compressing them costs more than reading them
    gzip on;
    gzip_proxied any;
    gzip_vary on;
    gzip_types application/json application/xml;
` : ''}
    # Only addresses of tiles are looked up as files, so that nothing else in the folder is served. The extension need
    # not be that of the file: layers may have tiles of several types.
    #
    # No open_file_cache: it saves some 15 % of the work, and files that were replaced would be served on for a while.
${images(missing, passed)}
    # Vector tiles lie in the trees as they are stored: gzipped.
    # ${passed
      ? 'The gateway serves the few clients that do not accept that.'
      : 'Clients that do not accept that get them gzipped all the same.'}
${vectors(passed)}
${passed ? withGateway(passed) : withoutGateway(options)}}
`
}

const images = (missing, passed) => `    location ~ "^(?<tile>${TILE})\\.(png|jpg|jpeg|webp|avif)$" {
        types {
            image/png  png;
            image/jpeg jpg jpeg;
            image/webp webp;
            image/avif avif;
        }
${common(passed)}        try_files $uri $tile.png $tile.jpg $tile.webp $tile.avif ${missing};
    }
`

const UNZIPPED = '        if ($http_accept_encoding !~* gzip) { return 418; }\n'

const vectors = passed => `    location ~ "^(?<tile>${TILE})\\.(pbf|mvt)$" {
        types { }
        default_type application/vnd.mapbox-vector-tile;
${common(passed, passed ? '405 418' : '405')}        add_header Content-Encoding gzip;
        add_header Vary Accept-Encoding;
${passed ? UNZIPPED : ''}        try_files $tile.pbf ${passed ? '@gateway' : '@empty'};
    }
`

const common = (passed, codes = '405') => `        gzip off;
        etag on;                    # of the file's time and size
        sendfile on;
        tcp_nopush on;
        add_header Cache-Control $tile_cache;
        add_header Access-Control-Allow-Origin $tile_origin;
        add_header Access-Control-Expose-Headers $tile_exposed;
        add_header X-Content-Type-Options nosniff;
        add_header Content-Security-Policy sandbox;
        add_header X-Tilecouch-Cache file;
        error_page ${codes} = ${passed ? '@gateway;  # the gateway answers other methods than GET' : '@method;'}
`

const withGateway = ({ scheme }) => `    location @gateway {
        gzip off;
        proxy_pass ${scheme}://tilecouch;
    }

    location / {
        proxy_pass ${scheme}://tilecouch;
    }

    # live feeds: every line at once, and connections that stay
    location /db/ {
        proxy_buffering off;
        proxy_read_timeout 2m;
        proxy_pass ${scheme}://tilecouch;
    }

    # for monitoring, not for the public: give the gateway an --ops-port
    location = /metrics {
        return 404;
    }
`

const always = `        add_header X-Content-Type-Options nosniff always;
        add_header Content-Security-Policy sandbox always;
        add_header Access-Control-Allow-Origin $tile_origin always;
        add_header Access-Control-Expose-Headers $tile_exposed always;
`

const missed = ({ maxAge, missingAge }) =>
  `        add_header Cache-Control "public, max-age=${Math.min(maxAge, missingAge)}" always;
${always}`

const withoutGateway = options => `    # clients show the zoom below where an image is missing
    location @missing {
${missed(options)}        default_type application/json;
        return 404 '{"error":"TILE_NOT_FOUND","reason":"no such tile"}';
    }

    # for vector tiles nothing is an answer, too
    location @empty {
${missed(options)}        return 204;
    }

    location @method {
        add_header Allow "GET, HEAD, OPTIONS" always;
${always}        add_header Access-Control-Allow-Methods "GET, HEAD" always;
        add_header Access-Control-Allow-Headers "${TAKEN}" always;
        add_header Access-Control-Max-Age 86400 always;
        default_type application/json;
        if ($request_method = OPTIONS) { return 204; }
        return 405 '{"error":"READ_ONLY","reason":"tiles are read with GET"}';
    }

    location / {
${always}        default_type application/json;
        return 404 '{"error":"NOT_FOUND","reason":"only tiles are served here"}';
    }
`

const steady = ({ staleWhileRevalidate, staleIfError }, age) => `public, max-age=${age}` +
  (staleWhileRevalidate > 0 ? `, stale-while-revalidate=${staleWhileRevalidate}` : '') +
  (staleIfError > 0 ? `, stale-if-error=${staleIfError}` : '')

/** Layers whose ttl is shorter than maxAge. A file does not show its age, so clients keep it at most for the ttl. */
const shortLived = (layers, { maxAge }) =>
  layers.flatMap(({ layer, ttl }) => ttl && ttl < maxAge ? [{ layer, age: ttl }] : [])

function parseGateway (value) {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const fails = why => new TilecouchError('BAD_OPTION', { option: '--gateway', value, why })
  if (!url || !/^https?:$/.test(url.protocol)) throw fails('it looks like http://127.0.0.1:8080')
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password) {
    throw fails('it is a host and a port, and nothing else')
  }
  return {
    scheme: url.protocol.slice(0, -1), server: `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`
  }
}

/** The value of `root`. nginx reads every dollar sign as a variable and cannot escape it. */
function rootOf (folder) {
  const root = path.resolve(folder)
  if (/["\\$\p{Cc}]/u.test(root)) {
    throw new TilecouchError('BAD_OPTION', { option: '--nginx', value: root, why: 'nginx cannot serve a folder with ' +
      'a dollar, a quote or a backslash in its name' })
  }
  return /^[\w./@:,+-]+$/.test(root) ? root : `"${root}"`
}

const TEXT = /^[\w .:/*-]+$/
const WORD = /^[\w.:[\]*-]+$/

/** The value of an option, which must match a pattern. */
function checked (options, option, pattern) {
  const { [option]: value } = options
  if (!pattern.test(value)) throw new TilecouchError('BAD_OPTION', { option, value })
  return value
}

/**
 * Writes the configuration for a layer and all layers with trees in the folder. A file that was edited is replaced only
 * with `force`.
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {string} folder
 * @param {{file: string, gateway?: string, force?: boolean}} options
 */
export async function writeNginxConfig (store, layer, folder, { file, gateway, force }) {
  const states = await namesIn(path.join(folder, HIDDEN))
  const names = states.filter(name => name.endsWith('.json')).map(name => path.basename(name, '.json'))
  const layers = (await store.layers()).filter(doc => doc.layer === layer || names.includes(doc.layer))
  const content = nginxConfig({ root: folder, gateway, layers })
  await writingTo(file, async () => {
    const oldContent = await readFile(file, 'utf8').catch(ifMissing)
    if (oldContent === content) return
    if (oldContent !== undefined && !force) {
      throw new TilecouchError('TARGET_EXISTS', { value: file, why: 'it has been edited' })
    }
    await replaceFile(file, content)
  })
}
