// TMS 1.0.0: the service, and the TileMap of a layer, now or as of a time, also as the tilemapresource.xml of
// gdal2tiles. A TileMap has one origin, its lower left corner, so grids whose zooms do not halve have no TileMap.
import { formatReference, gridOf } from '../../../core/index.js'
import { formatOfLayer } from '../../../core/formats.js'
import { matrixSetOf } from '../../../core/wmts.js'
import { TilecouchError } from '../../../loader/errors.js'
import { tokenQuery, visibleLayers } from '../access/visitor.js'
import { rounded } from '../coverage.js'
import { REVALIDATE, sendXml } from '../../http/answers.js'
import { xml } from '../wmts/xml.js'

/** @type {import('../dispatch.js').Route<import('../router.js').TmsTarget>} */
export async function tms (ctx, { layer, time, visitor }, req, res) {
  const url = ctx.publicUrl(req)
  const service = `${url.base}tms/1.0.0/`
  if (layer === undefined) visitor?.requireSome(res)
  else visitor?.requireAccess(res, layer)
  const text = layer === undefined
    ? serviceXml(await visibleLayers(ctx.layers, visitor), service, tokenQuery(visitor))
    : tileMapXml({ ...await ctx.layers.get(layer), layer }, { service, time })
  return sendXml(req, res, url, REVALIDATE, text)
}

/**
 * @param {Record<string, any>[]} layers @param {string} service its address, ends in a slash
 * @param {string} query of addresses: the token, if any
 */
function serviceXml (layers, service, query) {
  return String(xml`<?xml version="1.0" encoding="UTF-8"?>
<TileMapService version="1.0.0" services="${service}">
<Title>tilecouch</Title>
<Abstract>Map tiles that remember: write layer@time for the map as of a time</Abstract>
<TileMaps>${layers.filter(layer => gridOf(layer).isQuad).map(layer => xml`
<TileMap title="${layer.name || layer.layer}" srs="${srsOf(layer)}" profile="${profileOf(layer)}" \
href="${service}${layer.layer}${query}"/>`)}
</TileMaps>
</TileMapService>
`)
}

/**
 * A TileMap has the box of the grid, since GDAL puts the first tile into its corner. It has every zoom down to the last
 * one of the layer, since GDAL needs the orders from 0 on.
 * @param {Record<string, any>} layer
 * @param {{service: string, time?: string}} place service: address of the service, ends in a slash; time: as written
 */
function tileMapXml (layer, { service, time }) {
  const { grid, matrices } = matrixSetOf(layer)
  if (!grid.isQuad) {
    throw new TilecouchError('NOT_FOUND', { reason: 'TMS needs zooms that halve, which this grid has not: use WMTS' })
  }
  const [{ z: first }] = matrices
  const [minx, miny, maxx, maxy] = grid.rangeExtent(first, grid.whole(first)).map(rounded)
  const { type, ext } = formatOfLayer(layer)
  const side = grid.tileSize
  return String(xml`<?xml version="1.0" encoding="UTF-8"?>
<TileMap version="1.0.0" tilemapservice="${service}">
<Title>${layer.name || layer.layer}</Title>
<Abstract>${layer.description}</Abstract>
<SRS>${srsOf(layer)}</SRS>
<BoundingBox minx="${minx}" miny="${miny}" maxx="${maxx}" maxy="${maxy}"/>
<Origin x="${minx}" y="${miny}"/>
<TileFormat width="${side}" height="${side}" mime-type="${type}" extension="${ext}"/>
<TileSets profile="${profileOf(layer)}">${matrices.map(({ z, cellSize }) => xml`
<TileSet href="${service}${formatReference(layer.layer, time)}/${z}" \
units-per-pixel="${rounded(cellSize)}" order="${z}"/>`)}
</TileSets>
</TileMap>
`)
}

/** The reference system. Longitude comes first in TMS, whatever the system says. */
const srsOf = layer => gridOf(layer).crs.replace('OGC:CRS84', 'EPSG:4326')

/** The profile as gdal2tiles names it: the order of a TileSet is its zoom. */
function profileOf (layer) {
  const grid = gridOf(layer)
  if (grid.isWebMercator) return 'mercator'
  return grid.id === 'WorldCRS84Quad' ? 'geodetic' : 'local'
}
