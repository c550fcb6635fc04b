// Parses requests to the OGC API: the operation of an address below /ogc, its time, and its tile in the store.
import { NUMBER } from '../../../core/addresses.js'
import { formatOfLayer } from '../../../core/formats.js'
import { parsePeriod } from '../../../core/times.js'
import { zoomsOf } from '../../../core/wmts.js'
import { TilecouchError } from '../../../loader/errors.js'
import { coveredBy } from '../coverage.js'
import { gridFor, isVector } from './documents.js'

/**
 * @typedef {object} OgcRequest
 * @property {string} operation landing, conformance, api, collections, collection, tilesets, tileset, tile, sets, set
 * @property {string} [layer]
 * @property {boolean} [isMap] images, at /map/tiles; else vector tiles, at /tiles
 * @property {string} [set] id of a tile matrix set
 * @property {[string, string, string]} [tile] matrix, row and column, as written
 */

const SINGLE = {
  '': 'landing', conformance: 'conformance', api: 'api', collections: 'collections', tileMatrixSets: 'sets'
}

/** @param {string[]} path segments after /ogc/, decoded @returns {OgcRequest} */
export function parsePath (path) {
  const [first = '', name, ...tail] = path
  if (name === undefined && Object.hasOwn(SINGLE, first)) return { operation: SINGLE[first] }
  if (first === 'tileMatrixSets' && tail.length === 0) return { operation: 'set', set: name }
  if (first === 'collections' && tail.length === 0) return { operation: 'collection', layer: name }
  const isMap = tail[0] === 'map'
  const [tiles, set, ...tile] = isMap ? tail.slice(1) : tail
  if (first === 'collections' && tiles === 'tiles') {
    const tileset = { layer: name, isMap, set }
    if (set === undefined) return { operation: 'tilesets', ...tileset }
    if (tile.length === 0) return { operation: 'tileset', ...tileset }
    if (tile.length === 3) return { operation: 'tile', ...tileset, tile: /** @type {any} */ (tile) }
  }
  const reason = `nothing at /ogc/${path.join('/').slice(0, 60)}`
  throw new TilecouchError('NOT_FOUND', { reason: `${reason}: /ogc/ lists what there is` })
}

const SUBSET = /^datetime\((?:"([^"]*)"|\*)(:(?:"([^"]*)"|\*))?\)$/

/**
 * The time of the requested map. An interval means its end, since a version is valid until the next one.
 * @param {URLSearchParams} query
 * @returns {string | undefined} its last second; undefined: the newest map
 */
export function timeOf (query) {
  const text = query.get('datetime') || subsetOf(query)
  if (!text) return
  const [from, to = from, ...more] = text.split('/')
  const start = isOpen(from) ? undefined : parsePeriod(from).start
  const end = isOpen(to) ? undefined : parsePeriod(to).end
  const isInstant = !text.includes('/')
  if (more.length || (isInstant && end === undefined) || (start && end && start > end)) {
    throw new TilecouchError('BAD_TIME', { value: text })
  }
  return end
}

const isOpen = text => text === '' || text === '..'

/** `subset=datetime("2023-01-01":"2023-12-31")` as an interval. */
function subsetOf (query) {
  const subset = query.get('subset')
  if (!subset) return
  const [match, from = '..', interval, to = '..'] = SUBSET.exec(subset) ?? []
  if (match === undefined) throw new TilecouchError('BAD_TIME', { value: subset })
  return interval === undefined ? from : `${from}/${to}`
}

/**
 * The requested layer. Throws if it has no tiles of this kind, or none in this set.
 * @param {{get: (name: string) => Promise<Record<string, any>>}} layers @param {OgcRequest} request
 */
export async function resolveLayer (layers, { layer: name = '', isMap, set }) {
  const layer = await layers.get(name)
  if (isMap !== undefined && isMap === isVector(layer)) {
    const where = isMap ? 'vector tiles, at tiles' : 'images, at map/tiles'
    throw new TilecouchError('NOT_FOUND', { reason: `the layer ${JSON.stringify(name)} has ${where}` })
  }
  const { id, uniqueId } = gridFor(layer)
  if (set !== undefined && set !== id && set !== uniqueId) {
    const reason = `the layer ${JSON.stringify(name)} is in the tile matrix set ${uniqueId}`
    throw new TilecouchError('NOT_FOUND', { reason })
  }
  return layer
}

/**
 * The requested tile of the store; undefined: the layer does not cover this part of the matrix.
 * @param {Parameters<typeof resolveLayer>[0]} layers @param {OgcRequest} request @param {string | undefined} time
 * @returns {Promise<import('../router.js').TileTarget | undefined>}
 */
export async function resolveTile (layers, request, time) {
  const layer = await resolveLayer(layers, request)
  const [matrix, ...indexes] = /** @type {string[]} */ (request.tile)
  const [y, x] = indexes.map(text => NUMBER.test(text) ? +text : NaN)
  const grid = gridFor(layer)
  const z = grid.zoomOf(matrix)
  const { min, max } = zoomsOf(layer)
  if (z === undefined || z < min || z > max) {
    const [first, last] = [min, max].map(zoom => grid.matrix(zoom).id)
    const why = `the tile matrices of ${layer.layer} are ${first} to ${last}`
    throw new TilecouchError('BAD_TILE', { value: [matrix, ...indexes].join('/'), why })
  }
  grid.check(z, x, y)
  const range = coveredBy(layer, z)
  if (!range || y < range.y0 || y > range.y1 || x < range.x0 || x > range.x1) return
  const { ext } = formatOfLayer(layer)
  return { kind: 'tile', layer: layer.layer, ...(time && { time }), z, x, y, ext, missing: '204' }
}
