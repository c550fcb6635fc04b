// An HTTP server that tiles come from: XYZ, TMS, quadkeys, WMTS and WMS of one drawn world. Tests change the world, and
// make the server slow, broken, absent or wrong. Every pixel of the world is known, so tests can compare the output of
// a cache with its input, however it was cut.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'
import { startServer } from './server.js'

/**
 * How the server answers, until the next call of `behave`. Each value may be a function of the request.
 * @typedef {object} Behaviour
 * @property {number | Promise<any>} [wait] milliseconds, or a promise, to wait for before it answers
 * @property {boolean} [never] takes the request and does not answer
 * @property {number} [status] answers this, with a page of HTML
 * @property {number | string} [retryAfter] header beside the status
 * @property {{requests: number, per?: number, retryAfter?: number}} [limit] more requests than that in `per` ms (1000)
 *   are answered 429 with Retry-After (1 s)
 * @property {string} [redirect] Location of a 302
 * @property {string | Buffer} [body] instead of the image
 * @property {string} [type] Content-Type, right or wrong
 * @property {number} [truncate] bytes missing at the end, which Content-Length does not count
 * @property {boolean} [cut] the connection ends in the middle of the body that Content-Length promised
 * @property {number} [drip] milliseconds between two pieces of the body, which never ends
 * @property {boolean} [gzip] Content-Encoding
 * @property {boolean} [etag] (true)
 * @property {string} [lastModified] ISO time
 * @property {string} [cacheControl]
 * @property {string} [expires] header as it is sent
 * @property {Record<string, string>} [headers] other headers
 * @property {boolean} [ignoreConditions] never 304
 * @property {boolean} [only] (true) whether the behaviour applies to this request
 * @property {number} [times] number of requests that it applies to; later ones are answered normally
 */

/**
 * A request. `kind` is undefined for addresses that are not those of a tile.
 * @typedef {{url: string, headers: Record<string, any>, at: number, kind?: string, z?: number, x?: number, y?: number,
 *   status?: number,
 * query: URLSearchParams, view?: {z: number, px: number, py: number, width: number, height: number}, ended: boolean}}
 * Asked
 */

const TILE = /^\/(xyz|tms|wmts)\/(?:\w+\/\w+\/\w+\/)?(?:EPSG:3857:)?(\d+)\/(\d+)\/(\d+)(?:@2x)?\.(png|jpg|webp|pbf)$/
const QUADKEY = /^\/quadkey\/([0-3]*)\.(png)$/
const FORMATS = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp' }
const HALF_WORLD = 20037508.342789244 // metres from the middle of Web Mercator to its edge
const OUTSIDE = [255, 0, 255] // colour beyond the edge of the world, which no tile may show

/** The network of the server. An upstream in an inner network is only asked if that network is allowed. */
export const LOOPBACK = ['127.0.0.0/8']

/** @param {{tileSize?: number}} [options] */
export async function startUpstream ({ tileSize = 256 } = {}) {
  const requests = []
  const images = new Map()
  const recent = []
  let behaviour = {}
  let inFlight = 0

  const upstream = {
    /** All requests, in their order. */
    requests,
    /** The state of the map; a test increases it to change the map. */
    epoch: 0,
    /** The greatest number of requests that were answered at once. */
    mostInFlight: 0,
    get inFlight () { return inFlight },

    /** Sets how it answers from now on; by default normally. @param {{[name in keyof Behaviour]: any}} [settings] */
    behave (settings = {}) { behaviour = { ...settings } },

    /** The bytes of a tile. @param {number} [epoch] now unless given */
    tile: (z, x, y, { epoch = upstream.epoch, format = 'png' } = {}) =>
      image({ z, px: x * tileSize, py: y * tileSize, width: tileSize, height: tileSize }, epoch, format),

    /** Requests for images since the list was last emptied. */
    get asked () { return requests.filter(({ kind }) => kind) },

    /** Stops it and closes every connection. */
    close: () => server.close(),
    /** Starts it again at the same address. */
    start: () => server.restart()
  }

  function image (view, epoch, format) {
    const key = JSON.stringify([view, epoch, format])
    if (images.size > 2000) images.clear()
    if (!images.has(key)) {
      images.set(key, encode(drawPixels({ ...view, epoch, across: tileSize * 2 ** view.z }), { ...view, format }))
    }
    return images.get(key)
  }

  async function answer (req, res) {
    const entry = parse(req, tileSize)
    requests.push(entry)
    inFlight++
    upstream.mostInFlight = Math.max(upstream.mostInFlight, inFlight)
    res.once('close', () => {
      inFlight--
      entry.ended = true
      entry.status = res.statusCode
    })
    const mode = behaviourFor(entry)
    await (typeof mode.wait === 'number' ? sleep(mode.wait) : mode.wait)
    if (mode.never || res.destroyed) return
    if (mode.redirect) return res.writeHead(302, { location: mode.redirect }).end('elsewhere')
    if (mode.limit && isTooMuch(mode.limit)) return page(res, 429, { 'retry-after': `${mode.limit.retryAfter ?? 1}` })
    if (mode.status) {
      return page(res, mode.status, mode.retryAfter === undefined ? {} : { 'retry-after': `${mode.retryAfter}` })
    }
    if (entry.kind === 'bad wms') return exception(res, entry)
    if (!entry.view) return page(res, 404)
    const format = { 'image/jpeg': 'jpeg', 'image/webp': 'webp' }[entry.format] ?? 'png'
    await send(res, entry, mode, mode.body !== undefined
      ? Buffer.from(mode.body) : await image(entry.view, upstream.epoch, format))
  }

  /** The behaviour that applies to this request. */
  function behaviourFor (entry) {
    const value = Object.fromEntries(
      Object.entries(behaviour).map(([name, option]) => [name, typeof option === 'function' ? option(entry) : option])
    )
    if (value.only === false || (value.times !== undefined && value.times <= 0)) return {}
    if (value.times) behaviour.times--
    return value
  }

  function isTooMuch ({ requests: maxRequests, per = 1000 }) {
    const now = performance.now()
    while (recent.length && recent[0] <= now - per) recent.shift()
    if (recent.length >= maxRequests) return true
    recent.push(now)
    return false
  }

  const server = await startServer((req, res) => { answer(req, res).catch(error => res.destroy(error)) })
  return Object.assign(upstream, { url: server.url, host: `127.0.0.1:${server.port}` })
}

/** Parses a request. @returns {Asked & {format?: string}} */
function parse (req, tileSize) {
  const url = new URL(req.url, 'http://upstream')
  const entry = { url: req.url, query: url.searchParams, headers: req.headers, at: performance.now(), ended: false }
  const path = decodeURIComponent(url.pathname)
  if (path === '/wms') return { ...entry, ...parseWms(url.searchParams, tileSize) }
  const tile = TILE.exec(path)
  const key = QUADKEY.exec(path)
  if (!tile && !key) return entry
  let z, x, y
  if (tile) {
    const [a, b] = [+tile[3], +tile[4]]
    z = +tile[2]
    // WMTS has the row first, TMS counts rows from the south
    ;[x, y] = tile[1] === 'wmts' ? [b, a] : [a, tile[1] === 'tms' ? 2 ** z - 1 - b : b]
  } else {
    z = key[1].length
    ;[x, y] = [1, 2].map(bit => parseInt([...key[1]].map(digit => +digit & bit ? 1 : 0).join('') || '0', 2))
  }
  return {
    ...entry, kind: tile ? tile[1] : 'quadkey', z, x, y, format: FORMATS[tile?.[5] ?? 'png'],
    view: { z, px: x * tileSize, py: y * tileSize, width: tileSize, height: tileSize }
  }
}

/** Parses a GetMap request as strictly as the standard, in Web Mercator only. */
function parseWms (params, tileSize) {
  const query = new Map([...params].map(([name, value]) => [name.toUpperCase(), value]))
  const version = query.get('VERSION')
  const srs = query.get(version === '1.3.0' ? 'CRS' : 'SRS')
  const [west, south, east, north] = (query.get('BBOX') ?? '').split(',').map(Number)
  const [width, height] = [Number(query.get('WIDTH')), Number(query.get('HEIGHT'))]
  const resolution = (east - west) / width
  const z = Math.log2(2 * HALF_WORLD / tileSize / resolution)
  const px = (west + HALF_WORLD) / resolution
  const py = (HALF_WORLD - north) / resolution
  const isWhole = value => Math.abs(value - Math.round(value)) < 1e-3
  const rules = [
    ['SERVICE', query.get('SERVICE') === 'WMS'],
    ['REQUEST', query.get('REQUEST') === 'GetMap'],
    ['VERSION', version === '1.1.1' || version === '1.3.0'],
    ['SRS or CRS', srs === 'EPSG:3857'],
    ['LAYERS', Boolean(query.get('LAYERS'))],
    ['STYLES', query.has('STYLES')], // may be empty, but must be present
    ['FORMAT', /^image\/(png|jpeg|webp)$/.test(query.get('FORMAT') ?? '')],
    ['WIDTH and HEIGHT', [width, height].every(value => Number.isInteger(value) && value > 0 && value <= 4096)],
    ['BBOX', Math.abs((north - south) / height / resolution - 1) < 1e-6 && [z, px, py].every(isWhole)]
  ]
  const [wrongRule] = rules.find(([, isMet]) => !isMet) ?? []
  if (wrongRule) return { kind: 'bad wms', wrong: wrongRule }
  const view = { z: Math.round(z), px: Math.round(px), py: Math.round(py), width, height }
  return { kind: 'wms', z: view.z, view, format: query.get('FORMAT') }
}

function exception (res, { wrong }) {
  const body =
    `<?xml version="1.0"?><ServiceExceptionReport version="1.1.1"><ServiceException code="Invalid">bad ` +
      `${wrong}</ServiceException></ServiceExceptionReport>`
  res.writeHead(200, { 'content-type': 'application/vnd.ogc.se_xml', 'content-length': body.length }).end(body)
}

const page = (res, status, headers = {}) =>
  res.writeHead(status, { 'content-type': 'text/html', ...headers })
    .end(status === 204 || status === 304 ? undefined : `<html><body>${status}</body></html>`)

/** Sends an image, or the body that a test set instead. */
async function send (res, { headers: request, format }, mode, image) {
  const tag = `"${createHash('md5').update(image).digest('hex')}"`
  const modified = mode.lastModified && new Date(mode.lastModified)
  const headers = {
    'content-type': mode.type ?? format ?? 'application/octet-stream',
    ...(mode.etag !== false && { etag: tag }),
    ...(modified && { 'last-modified': modified.toUTCString() }),
    ...(mode.cacheControl && { 'cache-control': mode.cacheControl }),
    ...(mode.expires !== undefined && { expires: mode.expires }),
    ...(mode.gzip && { 'content-encoding': 'gzip' }),
    ...mode.headers
  }
  const unchanged = request['if-none-match'] !== undefined
    ? mode.etag !== false && request['if-none-match'] === tag
    : modified && request['if-modified-since'] !== undefined && Date.parse(request['if-modified-since']) >= +modified
  if (unchanged && !mode.ignoreConditions) return res.writeHead(304, headers).end()
  const sent = mode.gzip ? gzipSync(image) : image
  const body = mode.truncate ? sent.subarray(0, Math.max(0, sent.length - mode.truncate)) : sent
  res.writeHead(200, { ...headers, 'content-length': mode.drip ? body.length * 1000 : body.length })
  if (mode.cut) {
    // the first half is on its way before the connection ends
    return res.write(body.subarray(0, body.length >> 1), () => setImmediate(() => res.destroy()))
  }
  while (mode.drip && !res.destroyed) {
    res.write(body.subarray(0, 10))
    await sleep(mode.drip)
  }
  if (!mode.drip) res.end(body)
}

/**
 * Raw RGB pixels of a rectangle of the world, counted from its north-western corner at a zoom.
 * @param {{z: number, px: number, py: number, width: number, height: number, epoch?: number, across: number}} view
 *   across: pixels of the world at that zoom; epoch: moves on when the map changes
 */
function drawPixels ({ z, px, py, width, height, epoch = 0, across }) {
  const pixels = Buffer.alloc(width * height * 3)
  let offset = 0
  for (let row = py; row < py + height; row++) {
    for (let column = px; column < px + width; column++, offset += 3) {
      const isInside = column >= 0 && row >= 0 && column < across && row < across
      pixels[offset] = isInside ? column + 37 * epoch : OUTSIDE[0]
      pixels[offset + 1] = isInside ? row + 29 * z : OUTSIDE[1]
      pixels[offset + 2] = isInside ? (column >> 8) * 31 + (row >> 8) * 57 + epoch * 101 : OUTSIDE[2]
    }
  }
  return pixels
}

/** The pixels that decoding a tile must give. */
export const tilePixels = (z, x, y, { epoch = 0, size = 256 } = {}) =>
  drawPixels({ z, px: x * size, py: y * size, width: size, height: size, epoch, across: size * 2 ** z })

/**
 * @param {Buffer} pixels RGB
 * @param {{width: number, height: number, format?: 'png' | 'jpeg' | 'webp'}} options
 */
const encode = (pixels, { width, height, format = 'png' }) =>
  sharp(pixels, { raw: { width, height, channels: 3 } })
    .toFormat(format, format === 'png' ? { compressionLevel: 6, adaptiveFiltering: true } : { quality: 90 }).toBuffer()

/** Decodes an image to raw RGB. */
export const pixelsOf = bytes => sharp(bytes).removeAlpha().raw().toBuffer()
