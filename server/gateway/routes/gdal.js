// A document with which GDAL opens a layer as one image with overviews, now or as of a time:
// `gdalinfo http://localhost:8080/osm@2023/gdal.xml`.
import { formatReference, gridOf } from '../../../core/index.js'
import { formatOfLayer, formats } from '../../../core/formats.js'
import { TilecouchError } from '../../../loader/errors.js'
import { matrixSetOf, zoomsOf } from '../../../core/wmts.js'
import { tokenQuery } from '../access/visitor.js'
import { coveredOrWhole, rounded } from '../coverage.js'
import { KEEP, sendXml } from '../../http/answers.js'
import { xml } from '../wmts/xml.js'

const MOST_TILES = 4 // columns and rows of the smallest overview
const MOST_PIXELS = 2 ** 31 - 1 // of a side: GDAL counts with 32 bits

/** @type {import('../dispatch.js').Route<import('../router.js').LayerTarget>} */
export async function gdal (ctx, { layer: name, time, visitor }, req, res) {
  const layer = await ctx.layers.get(name)
  if (formatOfLayer(layer) === formats.mvt) {
    throw new TilecouchError('NOT_FOUND', { reason: 'gdal.xml is for images, and this layer has vector tiles' })
  }
  const url = ctx.publicUrl(req)
  const stored = (await ctx.layers.reach()).get(name)
  const query = tokenQuery(visitor)
  return sendXml(req, res, url, KEEP, gdalXml(layer, { base: url.base, time, query, stored }))
}

/**
 * @typedef {{base: string, time?: string, query?: string}} Place base: URL of the gateway, ends in a slash; time: as
 *   written; query: of the addresses
 * @param {Record<string, any>} layer
 * @param {Place & {stored?: Map<number, any>}} options stored: where the store has tiles, by zoom
 */
export function gdalXml (layer, { stored, ...place }) {
  const { maxzoom = deepestZoom(layer, stored) } = layer
  const zooms = zoomsOf({ ...layer, maxzoom })
  return String(gridOf(layer).isQuad ? gdalWms(layer, zooms, place) : gdalWmts(layer, zooms, place))
}

/**
 * The deepest zoom that the store or the upstream has, if either is known.
 * @param {Record<string, any>} layer @param {Map<number, any>} [stored] @returns {number | undefined}
 */
function deepestZoom ({ upstream }, stored = new Map()) {
  const zooms = [...stored.keys(), upstream?.maxzoom].filter(zoom => zoom !== undefined)
  return zooms.length ? Math.max(...zooms) : undefined
}

/**
 * The addresses of tiles, for grids whose zooms halve, as GDAL's overviews do. It has no XML declaration: GDAL
 * recognises the document by its first characters.
 * @param {Record<string, any>} layer @param {import('../../../core/grid.js').Zooms} zooms @param {Place} place
 */
function gdalWms (layer, zooms, { base, time, query = '' }) {
  const grid = gridOf(layer)
  const { tileSize } = grid
  const { type, ext } = formatOfLayer(layer)
  const { level, overviews, range } = windowOf(layer, zooms)
  const { x0, x1, y0, y1 } = range
  const [left, bottom, right, top] = grid.rangeExtent(level - overviews, range).map(rounded)
  const deep = 2 ** overviews
  const address = `${base}${formatReference(layer.layer, time)}/$\{z}/$\{x}/$\{y}.${ext}${query}`
  return xml`<GDAL_WMS>
  <Service name="TMS"><ServerUrl>${address}</ServerUrl></Service>
  <DataWindow>
    <UpperLeftX>${left}</UpperLeftX><UpperLeftY>${top}</UpperLeftY>
    <LowerRightX>${right}</LowerRightX><LowerRightY>${bottom}</LowerRightY>
    <TileLevel>${level}</TileLevel><TileX>${x0 * deep}</TileX><TileY>${y0 * deep}</TileY>
    <SizeX>${(x1 - x0 + 1) * deep * tileSize}</SizeX><SizeY>${(y1 - y0 + 1) * deep * tileSize}</SizeY>\
<YOrigin>top</YOrigin>
  </DataWindow>
  <Projection>${grid.crs}</Projection>
  <BlockSizeX>${tileSize}</BlockSizeX><BlockSizeY>${tileSize}</BlockSizeY>
  <OverviewCount>${overviews}</OverviewCount>
  <BandsCount>${bandsOf(type)}</BandsCount>
  <ZeroBlockHttpCodes>204,404</ZeroBlockHttpCodes>
</GDAL_WMS>
`
}

/**
 * The address of the capabilities, which have the scale of each zoom, for grids whose zooms do not halve.
 * @param {Record<string, any>} layer @param {import('../../../core/grid.js').Zooms} zooms @param {Place} place
 */
function gdalWmts (layer, { max }, { base, time, query = '' }) {
  const { id, grid } = matrixSetOf(layer)
  return xml`<GDAL_WMTS>
  <GetCapabilitiesUrl>${base}${formatReference('wmts', time)}/1.0.0/WMTSCapabilities.xml${query}</GetCapabilitiesUrl>
  <Layer>${layer.layer}</Layer>
  <TileMatrixSet>${id}</TileMatrixSet>
  <TileMatrix>${grid.matrix(max).id}</TileMatrix>
  <Format>${formatOfLayer(layer).type}</Format>
  <BandsCount>${bandsOf(formatOfLayer(layer).type)}</BandsCount>
  <ZeroBlockHttpCodes>204,404</ZeroBlockHttpCodes>
</GDAL_WMTS>
`
}

const bandsOf = type => type === formats.jpeg.type ? 3 : 4

/**
 * The image: whole tiles of the smallest overview around the bounds of the layer, so that the tiles of all zooms begin
 * at its corner.
 */
function windowOf (layer, { min, max }) {
  const { tileSize } = gridOf(layer)
  for (let level = max; ; level--) {
    let smallest = level
    while (smallest > min && sizeOf(coveredOrWhole(layer, smallest)) > MOST_TILES) smallest--
    const range = coveredOrWhole(layer, smallest)
    const overviews = level - smallest
    if (level > min && sizeOf(range) * 2 ** overviews * tileSize > MOST_PIXELS) continue
    return { level, overviews, range }
  }
}

const sizeOf = ({ x0, x1, y0, y1 }) => Math.max(y1 - y0, x1 - x0) + 1
