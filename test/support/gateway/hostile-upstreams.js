// Upstreams that mean harm. `cruel` may be asked, and answers with what no image is; `inner` may not be asked by any
// address or redirect, and counts who does so all the same.
import { gzipSync } from 'node:zlib'
import { startServer } from '../server.js'
import { png } from '../tiles.js'

/** Text of upstreams. No visitor may read it. */
export const UPSTREAM_SECRET = 'what an inner server says'

const bomb = gzipSync(Buffer.alloc(100e6))
const vectorBomb = gzipSync(Buffer.alloc(100e6, 0x1a))

/** A PNG that says it has this many pixels a side. */
function pngOfSize (side) {
  const bytes = Buffer.from(png(1))
  bytes.writeUInt32BE(side, 16)
  bytes.writeUInt32BE(side, 20)
  return bytes
}

/**
 * How each layer is answered.
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
  gigapixels: res => res.end(pngOfSize(60000)),
  cut: res => res.writeHead(200, { 'content-length': 5000 }).write(png(1), () => res.destroy()),
  endless: res => { const more = () => {
    while (!res.destroyed && res.write(Buffer.alloc(65536, UPSTREAM_SECRET)));
  }; res.on('drain', more); more() },
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

/**
 * Starts both.
 * @returns {Promise<{layers: Record<string, Record<string, any>>, network: string, asked: {cruel: number, inner:
 *   number}, close: () => Promise<void>}>}
 *   layers: their upstreams by name; network: what an operator who trusts `cruel` names
 */
export async function startHostileUpstreams () {
  const asked = { cruel: 0, inner: 0 }
  const inner = await startServer((req, res) => {
    asked.inner++
    res.end(png(1))
  })
  const cruel = await startServer((req, res) => {
    asked.cruel++
    ways[req.url?.split('/')[1] ?? '']?.(res, inner.url)
  })
  const xyz = url => ({ url, timeout: 1, negative: 0 })
  return {
    layers: Object.fromEntries([
      ...Object.keys(ways).map(way => [`cruel-${way}`, xyz(`${cruel.url}/${way}/{z}/{x}/{y}.png`)]),
      ['cruel-wms', { type: 'wms', url: `${cruel.url}/service`, layers: 'a', timeout: 1, negative: 0 }],
      ...spellings(inner.port).map((url, at) => [`inner-${at}`, xyz(url)])
    ]),
    network: `127.0.0.1:${cruel.port}`,
    asked,
    close: async () => { await Promise.all([cruel, inner].map(server => server.close())) }
  }
}
