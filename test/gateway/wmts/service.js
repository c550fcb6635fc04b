// Starts a server with only the WMTS of the gateway. Layers are plain objects, and a tile is answered with the request
// for it as JSON.
import assert from 'node:assert/strict'
import { TilecouchError } from '../../../core/errors.js'
import { wmts } from '../../../server/gateway/wmts/index.js'
import '../../../loader/store/index.js' // loads proj4js, which other grids need
import { townGrid } from '../../support/samples.js'
import { startServer } from '../../support/server.js'
import { dangling, violations } from './schema.js'
import { all, childrenOf, parseXml, textOf } from './xml.js'

export const layers = {
  osm: {
    layer: 'osm', name: 'Streets', description: 'All roads',
    attribution: '© <a href="https://example.org">Mappers &amp; co</a>', format: 'png', minzoom: 0, maxzoom: 19
  },
  alps: { layer: 'alps', format: 'jpg', bounds: [5.9, 45.8, 10.5, 47.8], minzoom: 4, maxzoom: 12 },
  roads: { layer: 'roads', name: 'Roads', format: 'pbf', tileSize: 512, minzoom: 0, maxzoom: 14 },
  pacific: { layer: 'pacific', bounds: [170, -20, -170, 20], maxzoom: 6 }
}

export const times =
  { osm: ['2023-06-01T00:00:00Z', '2024-03-01T00:00:00Z'], alps: ['2020-01-01T00:00:00Z'], roads: [], pacific: [] }

export const town = { ...townGrid(), title: 'The town & around' }

/** Layers in other grids. */
export const others = {
  europe: { layer: 'europe', grid: 'EuropeanETRS89_LAEAQuad', minzoom: 0, maxzoom: 5, bounds: [6, 47, 15, 55] },
  swiss: { layer: 'swiss', grid: 'LV95', minzoom: 14, maxzoom: 20, bounds: [5.9, 45.8, 10.5, 47.8] },
  degrees: { layer: 'degrees', grid: 'WorldCRS84Quad', maxzoom: 7 },
  arctic: { layer: 'arctic', grid: 'UPSArcticWGS84Quad', maxzoom: 4, bounds: [-180, 60, 180, 90] },
  town: { layer: 'town', grid: town }
}

export const CAPABILITIES = '/1.0.0/WMTSCapabilities.xml'

/** The parameters of a GetTile request, and the tile that the WMTS then requests from the gateway. */
export const TILE = {
  SERVICE: 'WMTS', REQUEST: 'GetTile', VERSION: '1.0.0', LAYER: 'osm', STYLE: 'default',
  FORMAT: 'image/png', TILEMATRIXSET: 'GoogleMapsCompatible', TILEMATRIX: '10', TILEROW: '412', TILECOL: '300'
}
export const asked = { kind: 'tile', layer: 'osm', z: 10, x: 300, y: 412, ext: 'png' }

/** @param {ConstructorParameters<typeof URLSearchParams>[0]} parameters */
export const kvp = parameters => `?${new URLSearchParams(parameters)}`

/** The tile that a request asks for. @param {Service} service @param {string} path */
export async function tileOf (service, path) {
  const { status, text } = await service.get(path)
  assert.equal(status, 200, text)
  return JSON.parse(text)
}

/** The exception of a request: [status, code, locator]. @param {Service} service @param {string} path */
export async function refusalOf (service, path) {
  const { status, headers, text } = await service.get(path)
  assert.match(headers.get('content-type') ?? '', /^application\/xml/, text)
  assert.equal(headers.get('cache-control'), 'no-store')
  const report = parseXml(text)
  assert.deepEqual(violations(report), [])
  const [exception] = childrenOf(report, 'ows:Exception')
  assert.ok(textOf(exception, 'ows:ExceptionText').length > 10, 'it says more than a code')
  return [status, exception.attributes.exceptionCode, exception.attributes.locator]
}

/** The capabilities of a service, which follow the schema. @param {Service} service @param {string} [path] */
export async function capabilitiesOf (service, path = CAPABILITIES) {
  const { status, text } = await service.get(path)
  assert.equal(status, 200, text)
  const root = parseXml(text)
  assert.deepEqual([violations(root), dangling(root)], [[], []])
  return root
}

/** @param {import('./xml.js').Node} root of capabilities */
export const layersOf = root => childrenOf(childrenOf(root, 'Contents')[0], 'Layer')

/** @param {import('./xml.js').Node} root @param {string} name */
export const layerOf = (root, name) =>
  layersOf(root).find(layer => textOf(layer, 'ows:Identifier') === name) ?? assert.fail(`no layer ${name}`)

/** The limits of each zoom of a layer, as numbers. @param {import('./xml.js').Node} root @param {string} name */
export const limitsOf = (root, name) => all(layerOf(root, name), 'TileMatrixLimits')
  .map(limit => limit.children.map(({ text }) => +text))

/**
 * @typedef {Awaited<ReturnType<typeof startService>>} Service
 * @param {{layers?: Record<string, any>, times?: Record<string, string[]>, reach?:
 *   import('../../../server/gateway/layers.js').Reach, publicUrl?: string, answerTile?: (asked: any) => any}} [options]
 */
export async function startService ({
  layers: documents = layers, times: editions = times, reach = new Map(), publicUrl, answerTile = tile => tile
} = {}) {
  const book = {
    async get (name) {
      return documents[name] ?? throwMissing(name)
    },
    list: async () => Object.values(documents),
    times: async name => editions[name] ?? throwMissing(name),
    reach: async () => reach
  }
  /** @type {any[]} errors that the WMTS did not handle */
  const thrown = []
  const ctx = {
    layers: book,
    publicUrl: req => ({ base: publicUrl ?? `http://${req.headers.host}/`, isShared: publicUrl !== undefined }),
    async answerTile (tile, req, res) {
      const body = JSON.stringify(await answerTile(tile))
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
    }
  }
  const server = await startServer((req, res) => {
    const { pathname, searchParams } = new URL(/** @type {string} */ (req.url), 'http://localhost')
    const [name, ...path] = pathname.split('/').filter(part => part !== '').map(decodeURIComponent)
    wmts(ctx, { path, query: searchParams, time: name.split('@')[1] }, req, res).catch(error => {
      thrown.push(error)
      res.writeHead(500).end()
    })
  })
  const url = `${server.url}/`
  return {
    url,
    book,
    thrown,
    /** @param {string} path @param {RequestInit} [options] */
    async get (path, options) {
      const response = await fetch(`${url}wmts${path}`, options)
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    close: server.close
  }
}

function throwMissing (layer) {
  throw new TilecouchError('LAYER_NOT_FOUND', { layer })
}
