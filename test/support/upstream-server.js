// A real HTTP server that tiles come from: XYZ, TMS, quadkeys, WMTS and WMS of one drawn world that changes when it is
// told to, and that can be slow, broken, absent, or a liar. Every pixel of the world is known, so that what comes out
// of a cache can be compared with what went in, however it was cut.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'

/**
 * How the server answers, until it is told otherwise. Each value may be a function of the request.
 * @typedef {object} Behaviour
 * @property {number | Promise<any>} [wait] milliseconds, or what to wait for, before it answers at all
 * @property {boolean} [never] takes the request and does not answer
 * @property {number} [status] answers this, with a page of HTML
 * @property {number | string} [retryAfter] goes with the status
 * @property {{requests: number, per?: number, retryAfter?: number}} [limit] more requests than that in `per` ms (1000)
 *   are answered 429 with Retry-After (1 s)
 * @property {string} [redirect] Location of a 302
 * @property {string | Buffer} [body] instead of the image
 * @property {string} [type] Content-Type, true or not
 * @property {number} [truncate] bytes missing at the end, and Content-Length does not tell
 * @property {boolean} [cut] the connection ends in the middle of the body that Content-Length promised
 * @property {number} [drip] milliseconds between two pieces of the body, which never ends
 * @property {boolean} [gzip] Content-Encoding
 * @property {boolean} [etag] (true)
 * @property {string} [lastModified] ISO time
 * @property {string} [cacheControl]
 * @property {string} [expires] as it is sent
 * @property {Record<string, string>} [headers] any other
 * @property {boolean} [ignoreConditions] never 304
 * @property {boolean} [only] (true) whether this request is concerned
 * @property {number} [times] so many requests are concerned, then all is well again
 */

/**
 * What was asked. `kind` is undefined for addresses that are none of a tile.
 * @typedef {{url: string, headers: Record<string, any>, at: number, kind?: string, z?: number, x?: number, y?: number,
 *   status?: number,
 * query: URLSearchParams, view?: {z: number, px: number, py: number, width: number, height: number}, ended: boolean}}
 * Asked
 */

const TILE = /^\/(xyz|tms|wmts)\/(?:\w+\/\w+\/\w+\/)?(?:EPSG:3857:)?(\d+)\/(\d+)\/(\d+)(?:@2x)?\.(png|jpg|webp|pbf)$/
const QUADKEY = /^\/quadkey\/([0-3]*)\.(png)$/
const FORMATS = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp' }
const HALF_WORLD = 20037508.342789244 // metres from the middle of Web Mercator to its edge
const OUTSIDE = [255, 0, 255] // beyond the edge of the world: nobody should ever see it

/** Where it is: an upstream in an inner network is only asked where that is named. */
export const LOOPBACK = ['127.0.0.0/8']

/** @param {{tileSize?: number}} [options] */
export async function startUpstream ({ tileSize = 256 } = {}) {
  const requests = []
  const made = new Map()
  const recent = []
  let behaviour = {}
  let server
  let port = 0
  let inFlight = 0

  const upstream = {
    url: '',
    host: '',
    /** Everything that was asked, in its order. */
    requests,
    /** Moves on when the map changes. */
    epoch: 0,
    /** The greatest number of requests that were being answered at once. */
    mostInFlight: 0,
    get inFlight () { return inFlight },

    /** How it answers from now on; without anything it is well. @param {{[name in keyof Behaviour]: any}} [next] */
    behave (next = {}) { behaviour = { ...next } },

    /** The bytes of a tile. @param {number} [epoch] now unless given */
    tile: (z, x, y, { epoch = upstream.epoch, format = 'png' } = {}) =>
      image({ z, px: x * tileSize, py: y * tileSize, width: tileSize, height: tileSize }, epoch, format),

    /** Requests for images since the list was last emptied. */
    get asked () { return requests.filter(({ kind }) => kind) },

    async start () {
      server = createServer((req, res) => { answer(req, res).catch(error => res.destroy(error)) })
      await new Promise(resolve => { server.listen(port, '127.0.0.1', () => resolve(undefined)) })
      port = server.address().port
      upstream.host = `127.0.0.1:${port}`
      upstream.url = `http://${upstream.host}`
    },

    /** Gone, with every connection; `start` brings it back at the same address. */
    async close () {
      const closed = new Promise(resolve => { server.close(resolve) })
      server.closeAllConnections()
      await closed
    }
  }

  function image (view, epoch, format) {
    const key = JSON.stringify([view, epoch, format])
    if (made.size > 2000) made.clear()
    if (!made.has(key)) {
      made.set(key, encode(drawPixels({ ...view, epoch, across: tileSize * 2 ** view.z }), { ...view, format }))
    }
    return made.get(key)
  }

  async function answer (req, res) {
    const asked = parse(req, tileSize)
    requests.push(asked)
    inFlight++
    upstream.mostInFlight = Math.max(upstream.mostInFlight, inFlight)
    res.once('close', () => {
      inFlight--
      asked.ended = true
      asked.status = res.statusCode
    })
    const now = concern(asked)
    await (typeof now.wait === 'number' ? sleep(now.wait) : now.wait)
    if (now.never || res.destroyed) return
    if (now.redirect) return res.writeHead(302, { location: now.redirect }).end('elsewhere')
    if (now.limit && isTooMuch(now.limit)) return page(res, 429, { 'retry-after': `${now.limit.retryAfter ?? 1}` })
    if (now.status) {
      return page(res, now.status, now.retryAfter === undefined ? {} : { 'retry-after': `${now.retryAfter}` })
    }
    if (asked.kind === 'bad wms') return exception(res, asked)
    if (!asked.view) return page(res, 404)
    const format = asked.format === 'image/jpeg' ? 'jpeg' : asked.format === 'image/webp' ? 'webp' : 'png'
    await send(res, asked, now, now.body !== undefined
      ? Buffer.from(now.body) : await image(asked.view, upstream.epoch, format))
  }

  /** The behaviour as it is for this request. */
  function concern (asked) {
    const value = Object.fromEntries(
      Object.entries(behaviour).map(([name, given]) => [name, typeof given === 'function' ? given(asked) : given])
    )
    if (value.only === false || (value.times !== undefined && value.times <= 0)) return {}
    if (value.times) behaviour.times--
    return value
  }

  function isTooMuch ({ requests: most, per = 1000 }) {
    const now = performance.now()
    while (recent.length && recent[0] <= now - per) recent.shift()
    if (recent.length >= most) return true
    recent.push(now)
    return false
  }

  await upstream.start()
  return upstream
}

/** What a request asks for. @returns {Asked & {format?: string}} */
function parse (req, tileSize) {
  const url = new URL(req.url, 'http://upstream')
  const asked = { url: req.url, query: url.searchParams, headers: req.headers, at: performance.now(), ended: false }
  const path = decodeURIComponent(url.pathname)
  if (path === '/wms') return { ...asked, ...parseWms(url.searchParams, tileSize) }
  const tile = TILE.exec(path)
  const key = QUADKEY.exec(path)
  if (!tile && !key) return asked
  let z, x, y
  if (tile) {
    const [a, b] = [+tile[3], +tile[4]]
    z = +tile[2]
    // WMTS says the row first, TMS counts rows from the south
    ;[x, y] = tile[1] === 'wmts' ? [b, a] : [a, tile[1] === 'tms' ? 2 ** z - 1 - b : b]
  } else {
    z = key[1].length
    ;[x, y] = [1, 2].map(bit => parseInt([...key[1]].map(digit => +digit & bit ? 1 : 0).join('') || '0', 2))
  }
  return {
    ...asked, kind: tile ? tile[1] : 'quadkey', z, x, y, format: FORMATS[tile?.[5] ?? 'png'],
    view: { z, px: x * tileSize, py: y * tileSize, width: tileSize, height: tileSize }
  }
}

/** GetMap as the standard wants it, in Web Mercator alone. */
function parseWms (given, tileSize) {
  const query = new Map([...given].map(([name, value]) => [name.toUpperCase(), value]))
  const version = query.get('VERSION')
  const srs = query.get(version === '1.3.0' ? 'CRS' : 'SRS')
  const [west, south, east, north] = (query.get('BBOX') ?? '').split(',').map(Number)
  const [width, height] = [Number(query.get('WIDTH')), Number(query.get('HEIGHT'))]
  const resolution = (east - west) / width
  const z = Math.log2(2 * HALF_WORLD / tileSize / resolution)
  const px = (west + HALF_WORLD) / resolution
  const py = (HALF_WORLD - north) / resolution
  const near = value => Math.abs(value - Math.round(value)) < 1e-3
  const rules = [
    ['SERVICE', query.get('SERVICE') === 'WMS'],
    ['REQUEST', query.get('REQUEST') === 'GetMap'],
    ['VERSION', version === '1.1.1' || version === '1.3.0'],
    ['SRS or CRS', srs === 'EPSG:3857'],
    ['LAYERS', Boolean(query.get('LAYERS'))],
    ['STYLES', query.has('STYLES')], // may be empty, must be there
    ['FORMAT', /^image\/(png|jpeg|webp)$/.test(query.get('FORMAT') ?? '')],
    ['WIDTH and HEIGHT', [width, height].every(value => Number.isInteger(value) && value > 0 && value <= 4096)],
    ['BBOX', Math.abs((north - south) / height / resolution - 1) < 1e-6 && [z, px, py].every(near)]
  ]
  const [wrong] = rules.find(([, right]) => !right) ?? []
  if (wrong) return { kind: 'bad wms', wrong }
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

/** An image, or what stands for one. */
async function send (res, { headers: given, format }, now, whole) {
  const tag = `"${createHash('md5').update(whole).digest('hex')}"`
  const modified = now.lastModified && new Date(now.lastModified)
  const headers = {
    'content-type': now.type ?? format ?? 'application/octet-stream',
    ...(now.etag !== false && { etag: tag }),
    ...(modified && { 'last-modified': modified.toUTCString() }),
    ...(now.cacheControl && { 'cache-control': now.cacheControl }),
    ...(now.expires !== undefined && { expires: now.expires }),
    ...(now.gzip && { 'content-encoding': 'gzip' }),
    ...now.headers
  }
  const unchanged = given['if-none-match'] !== undefined
    ? now.etag !== false && given['if-none-match'] === tag
    : modified && given['if-modified-since'] !== undefined && Date.parse(given['if-modified-since']) >= +modified
  if (unchanged && !now.ignoreConditions) return res.writeHead(304, headers).end()
  const sent = now.gzip ? gzipSync(whole) : whole
  const body = now.truncate ? sent.subarray(0, Math.max(0, sent.length - now.truncate)) : sent
  res.writeHead(200, { ...headers, 'content-length': now.drip ? body.length * 1000 : body.length })
  if (now.cut) {
    // the first half is on its way before the connection ends
    return res.write(body.subarray(0, body.length >> 1), () => setImmediate(() => res.destroy()))
  }
  while (now.drip && !res.destroyed) {
    res.write(body.subarray(0, 10))
    await sleep(now.drip)
  }
  if (!now.drip) res.end(body)
}

/**
 * Raw RGB pixels of a rectangle of the world, counted from its north-western corner at a zoom.
 * @param {{z: number, px: number, py: number, width: number, height: number, epoch?: number, across: number}} view
 *   across: pixels of the world at that zoom; epoch: moves on when the map changes
 */
function drawPixels ({ z, px, py, width, height, epoch = 0, across }) {
  const pixels = Buffer.alloc(width * height * 3)
  let at = 0
  for (let row = py; row < py + height; row++) {
    for (let column = px; column < px + width; column++, at += 3) {
      const inside = column >= 0 && row >= 0 && column < across && row < across
      pixels[at] = inside ? column + 37 * epoch : OUTSIDE[0]
      pixels[at + 1] = inside ? row + 29 * z : OUTSIDE[1]
      pixels[at + 2] = inside ? (column >> 8) * 31 + (row >> 8) * 57 + epoch * 101 : OUTSIDE[2]
    }
  }
  return pixels
}

/** The pixels of a tile, as decoding it must give them. */
export const tilePixels = (z, x, y, { epoch = 0, size = 256 } = {}) =>
  drawPixels({ z, px: x * size, py: y * size, width: size, height: size, epoch, across: size * 2 ** z })

/**
 * @param {Buffer} pixels RGB
 * @param {{width: number, height: number, format?: 'png' | 'jpeg' | 'webp'}} options
 */
const encode = (pixels, { width, height, format = 'png' }) =>
  sharp(pixels, { raw: { width, height, channels: 3 } })
    .toFormat(format, format === 'png' ? { compressionLevel: 6, adaptiveFiltering: true } : { quality: 90 }).toBuffer()

/** What an image shows, as raw RGB. */
export const pixelsOf = bytes => sharp(bytes).removeAlpha().raw().toBuffer()
