// The routes for documents about layers: TileJSON, the times at which a layer changed, the versions of a tile, styles,
// and files for QGIS.
import { gridOf, qgisConnections, qgisLayers, styleAt, tileId, tileJson } from '../../../core/index.js'
import { wmtsOf } from '../../../core/wmts.js'
import { TilecouchError } from '../../../loader/errors.js'
import { tokenQuery, visibleLayers } from '../access/visitor.js'
import { KEEP, REVALIDATE, etagOf, sendJson, sendTagged, sendXml } from '../../http/answers.js'
import { joinTask } from '../shared-work.js'
import { toXyz } from './numbering.js'
import { hasRetina } from './retina.js'

/**
 * TileJSON 3.0 of a layer, now or as of a time. Its addresses are absolute: most clients do not resolve relative
 * ones.
 * @type {import('../dispatch.js').Route<import('../router.js').LayerTarget>}
 */
export async function tilejson (ctx, { layer, time, visitor }, req, res) {
  const doc = await ctx.layers.get(layer)
  const url = ctx.publicUrl(req)
  const json = tileJsonOf({ ...doc, layer }, url, { time, visitor })
  return sendJson(req, res, json, { cacheControl: KEEP, url })
}

/** @param {Record<string, any>} doc @param {{base: string}} url @param {{time?: string, visitor?: any}} target */
function tileJsonOf (doc, { base }, { time, visitor }) {
  const json = tileJson(doc, { time, base })
  if (!json.tiles) return json
  const retinaAddresses = hasRetina(doc) && json.tiles.map(address => address.replace('{y}', '{y}@2x'))
  const withToken = address => address + tokenQuery(visitor)
  const retina = retinaAddresses && { retina: retinaAddresses.map(withToken) }
  return { ...json, tiles: json.tiles.map(withToken), ...retina }
}

/**
 * The TileJSON of all layers in one list, as TileServer GL has it; each also with the name of its layer as `id`. A
 * layer called index keeps its own TileJSON.
 * @type {import('../dispatch.js').Route<import('../router.js').StateTarget>}
 */
export async function index (ctx, { visitor }, req, res) {
  if (await ctx.layers.find('index')) {
    visitor?.requireAccess(res, 'index')
    return tilejson(ctx, { kind: 'tilejson', layer: 'index', visitor }, req, res)
  }
  visitor?.requireSome(res)
  const url = ctx.publicUrl(req)
  const layers = await visibleLayers(ctx.layers, visitor)
  const list = layers.map(doc => ({ id: doc.layer, ...tileJsonOf(doc, url, { visitor }) }))
  return sendJson(req, res, list, { url })
}

/** Reads from stores under way. @type {Map<string, Promise<any>>} */
const reads = new Map()

/** Calls a method of the store. Equal calls share the read that is under way. */
const readOnce = ({ store }, method, ...args) =>
  joinTask(reads, JSON.stringify([store.url, method, ...args]), () => store[method](...args))

// Limits for the box of a view. Without a box the answer is about the complete zoom, which costs little.
const MOST_COLUMNS = 512 // each is a range the store reads
const MOST_TILES = 65536

/**
 * The times at which a layer, or a view of the map, changed, with tiles and bytes. Editions without changes have 0
 * tiles. The format is that of _design/tiles/lists/times.js.
 * @type {import('../dispatch.js').Route<import('../router.js').TimesTarget>}
 */
export async function times (ctx, { layer, bbox, z }, req, res) {
  if (bbox) checkSize(gridOf(await ctx.layers.find(layer)).ranges(bbox, /** @type {number} */ (z)), bbox, z)
  const changes = await readOnce(ctx, 'timesLooked', layer, { bbox, z })
  if (changes.length === 0) await ctx.layers.get(layer) // throws if there is no such layer
  return sendJson(req, res, { layer, z, times: changes })
}

/** @param {import('../../../core/grid.js').TileRange[]} ranges of a box at a zoom */
function checkSize (ranges, bbox, z) {
  const columns = ranges.reduce((sum, { x0, x1 }) => sum + x1 - x0 + 1, 0)
  const tiles = ranges.reduce((sum, { x0, x1, y0, y1 }) => sum + (x1 - x0 + 1) * (y1 - y0 + 1), 0)
  if (columns <= MOST_COLUMNS && tiles <= MOST_TILES) return
  const why = `${columns} columns and ${tiles} tiles at zoom ${z}, and a view has ${MOST_COLUMNS} and ${MOST_TILES} ` +
    'at most; leave the box out for the whole zoom'
  throw new TilecouchError('BAD_BBOX', { value: bbox.join(), why })
}

/**
 * The versions of one tile, oldest first, in the format of _design/tiles/lists/versions.js, and when each was last
 * confirmed.
 * @type {import('../dispatch.js').Route<import('../router.js').VersionsTarget>}
 */
export async function versions (ctx, target, req, res) {
  const { layer, z, x, y } = target.numbering ? await toXyz(ctx, target) : target
  const stored = await ctx.store.versions(layer, z, x, y)
  if (stored.length === 0) {
    await ctx.layers.get(layer) // throws if there is no such layer
    throw new TilecouchError('TILE_NOT_FOUND', { id: tileId(layer, z, x, y) })
  }
  return sendJson(req, res, { layer, z, x, y, versions: stored.map(describe) })
}

/** @param {Record<string, any>} version */
const describe = ({ time, id, rev, size, expires = null, gone, current, checked }) =>
  ({ time, id, rev, bytes: size, expires, gone, current, ...(checked && { checked }) })

const STYLE_FILE_TYPES = { json: 'application/json', png: 'image/png', pbf: 'application/x-protobuf' }

/**
 * The stored style that is valid at a time, else the default one, in the format of _design/tiles/lists/style.js. Its
 * addresses are absolute.
 * @type {import('../dispatch.js').Route<import('../router.js').StyleTarget>}
 */
export async function style (ctx, { layer, time, theme, file, visitor }, req, res) {
  if (file !== undefined) return sendStyleFile(ctx, { layer, time, file }, req, res)
  const doc = await readOnce(ctx, 'style', layer, time) ?? await ctx.layers.get(layer)
  const url = ctx.publicUrl(req)
  const document = styleAt(doc, { base: url.base, time, theme, query: tokenQuery(visitor) })
  if (!document) throw new TilecouchError('STYLE_UNKNOWN', { layer })
  return sendJson(req, res, document, { cacheControl: KEEP, url })
}

/** Clients keep the file as long as a tile: a style never changes, but it may be removed and replaced. */
async function sendStyleFile (ctx, { layer, time, file }, req, res) {
  const bytes = await readOnce(ctx, 'styleFile', layer, time, file)
  if (!bytes) throw new TilecouchError('STYLE_NOT_FOUND', { layer, time, file })
  const type = { 'Content-Type': STYLE_FILE_TYPES[file.slice(file.lastIndexOf('.') + 1)] }
  sendTagged(req, res, etagOf(bytes), { 'Cache-Control': ctx.policy.steady }, type, bytes)
}

// Files for QGIS: a layer definition with all editions of a layer, and lists of connections.

/**
 * `/{layer}.qlr` and `/{layer}@{time}.qlr`, in the format of _design/tiles/lists/qgis.js.
 * @type {import('../dispatch.js').Route<import('../router.js').LayerTarget>}
 */
export async function qgis (ctx, { layer, time, visitor }, req, res) {
  const doc = await ctx.layers.get(layer)
  const url = ctx.publicUrl(req)
  const editionTimes = time ? [] : await ctx.layers.editions(layer)
  const place = { base: url.base, query: tokenQuery(visitor) }
  const text = qgisLayers({ ...doc, layer }, { ...place, time, times: editionTimes, wmtsOf })
  if (!text) throw new TilecouchError('QGIS_GRID', { layer, isVector: true })
  const name = `${layer}${time ? `@${time.replaceAll(':', '')}` : ''}.qlr`
  return sendXml(req, res, url, REVALIDATE, text, { 'Content-Disposition': `attachment; filename="${name}"` })
}

/**
 * `/qgis-xyz.xml` and its like: the connections of all layers that the visitor may see.
 * @type {import('../dispatch.js').Route<import('../router.js').ConnectionsTarget>}
 */
export async function connections (ctx, { of: service, visitor }, req, res) {
  visitor?.requireSome(res)
  const url = ctx.publicUrl(req)
  const layers = await visibleLayers(ctx.layers, visitor)
  const text = qgisConnections(service, layers, { base: url.base, query: tokenQuery(visitor) })
  return sendXml(req, res, url, REVALIDATE, text)
}
