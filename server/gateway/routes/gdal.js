// A layer for GDAL: a GDAL_WMS document, which every program with GDAL opens as one image with overviews, now or as of
// a time: `gdalinfo http://localhost:8080/osm@2023/gdal.xml`.
import { formatReference } from '../../../core/index.js'
import { formats } from '../../../core/images.js'
import { TilecouchError } from '../../../loader/errors.js'
import { cacheControlWith } from '../addresses.js'
import { etagOf, sendTagged } from '../responses.js'
import { EDGE, limitsOf, zoomsOf } from '../wmts/matrix-sets.js'
import { formatOf } from '../wmts/request.js'
import { xml } from '../wmts/xml.js'

const KEEP = 'public, max-age=60, stale-while-revalidate=3600' // a layer document changes hardly ever
const TYPE = { 'Content-Type': 'application/xml; charset=utf-8' }

const FEW = 4 // columns and rows of the smallest overview
const MOST_PIXELS = 2 ** 31 - 1 // a side: GDAL counts with 32 bits

/**
 * @param {any} ctx
 * @param {import('../router.js').AskedGdal & {visitor?: import('../access/visitor.js').Visitor}} asked visitor: of a
 *   private layer
 */
export async function gdal (ctx, { layer: name, time, visitor }, req, res) {
  const layer = await ctx.layers.get(name)
  if (formatOf(layer) === formats.mvt) {
    throw new TilecouchError('NOT_FOUND', { reason: 'gdal.xml is for images, and this layer has vector tiles' })
  }
  const url = ctx.publicUrl(req)
  const stored = (await ctx.layers.reach()).get(name)
  const query = visitor?.link ? `?token=${visitor.link}` : ''
  const bytes = Buffer.from(gdalXml(layer, { base: url.base, time, query, stored }))
  sendTagged(req, res, etagOf(bytes), { 'Cache-Control': cacheControlWith(url, KEEP) }, TYPE, bytes)
}

/**
 * @param {Record<string, any>} layer
 * @param {object} options
 * @param {string} options.base URL of the gateway, ends in a slash
 * @param {string} [options.time] as written
 * @param {string} [options.query] of the addresses of tiles
 * @param {Map<number, any>} [options.stored] by zoom: where the store has tiles
 */
export function gdalXml (layer, { base, time, query = '', stored }) {
  const { tileSize = 256 } = layer
  const { type, ext } = formatOf(layer)
  const { level, overviews, columns, rows, first, width } = windowOf(layer, stored)
  const deep = 2 ** overviews
  const left = -EDGE + first.x * width
  const top = EDGE - first.y * width
  const address = `${base}${formatReference(layer.layer, time)}/$\{z}/$\{x}/$\{y}.${ext}${query}`
  // no XML declaration: GDAL knows the document by its first characters
  return String(xml`<GDAL_WMS>
  <Service name="TMS"><ServerUrl>${address}</ServerUrl></Service>
  <DataWindow>
    <UpperLeftX>${left}</UpperLeftX><UpperLeftY>${top}</UpperLeftY>
    <LowerRightX>${left + columns * width}</LowerRightX><LowerRightY>${top - rows * width}</LowerRightY>
    <TileLevel>${level}</TileLevel><TileX>${first.x * deep}</TileX><TileY>${first.y * deep}</TileY>
    <SizeX>${columns * deep * tileSize}</SizeX><SizeY>${rows * deep * tileSize}</SizeY><YOrigin>top</YOrigin>
  </DataWindow>
  <Projection>EPSG:3857</Projection>
  <BlockSizeX>${tileSize}</BlockSizeX><BlockSizeY>${tileSize}</BlockSizeY>
  <OverviewCount>${overviews}</OverviewCount>
  <BandsCount>${type === formats.jpeg.type ? 3 : 4}</BandsCount>
  <ZeroBlockHttpCodes>204,404</ZeroBlockHttpCodes>
</GDAL_WMS>
`)
}

/**
 * The image: whole tiles of the smallest overview around the bounds of the layer, so that the tiles of all zooms begin
 * at its corner.
 * @param {Record<string, any>} layer @param {Map<number, any>} [stored]
 */
function windowOf (layer, stored) {
  const { tileSize = 256, maxzoom = stored && Math.max(...stored.keys()) } = layer
  const { min, max } = zoomsOf({ ...layer, maxzoom })
  for (let level = max; ; level--) {
    let smallest = level
    while (smallest > min && sizeOf(limitsOf(layer, smallest)) > FEW) smallest--
    const limits = limitsOf(layer, smallest)
    const overviews = level - smallest
    if (level > min && sizeOf(limits) * 2 ** overviews * tileSize > MOST_PIXELS) continue
    return {
      level,
      overviews,
      columns: limits.maxCol - limits.minCol + 1,
      rows: limits.maxRow - limits.minRow + 1,
      first: { x: limits.minCol, y: limits.minRow },
      width: 2 * EDGE / 2 ** smallest // metres
    }
  }
}

const sizeOf = ({ minRow, maxRow, minCol, maxCol }) => Math.max(maxRow - minRow, maxCol - minCol) + 1
