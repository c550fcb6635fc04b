// The capabilities of the WMTS: one document about all layers. The schema of WMTS 1.0.0 sets the order of elements.
import pMap from 'p-map'
import { formatOfLayer } from '../../../core/formats.js'
import { gridOf } from '../../../core/grids/index.js'
import { ignoring } from '../../../core/promises.js'
import { matrixSetOf, zoomsOf } from '../../../core/wmts.js'
import { visibleLayers } from '../access/visitor.js'
import { boundsOf, clamp } from '../coverage.js'
import { allLimitsOf, crsOf, matrixSetsOf, position, scaleDenominator, wellKnownScaleSet } from './matrix-sets.js'
import { STYLE } from './request.js'
import { withSeries } from './times.js'
import { xml } from './xml.js'

const MAX_TIMES = 1000 // newest times of a layer: every client reads them before it shows anything
const MANY_TIMES = 100 // times of a layer: beyond it, regular series become periods, which few programs read
const CONCURRENCY = 8 // layers whose times are read at once
const MAX_TEXT = 1000 // characters of a description, and of an attribution: every client reads all of them

/**
 * @typedef {{layer: Record<string, any>, times: string[], reach?: Map<number,
 *   import('../../../core/grid.js').TileRange>}} LayerEntry times: exact, ascending; reach: where the store has tiles
 *   of each zoom
 */

/**
 * A layer of the store with its times and boxes, for documents that describe it.
 * @param {Pick<import('../layers.js').Layers, 'times' | 'reach'>} layers @param {Record<string, any>} layer
 * @returns {Promise<LayerEntry>}
 */
export async function describeLayer (layers, layer) {
  const [times, reach] = await Promise.all([layers.times(layer.layer), layers.reach()])
  return { layer, times, reach: reach.get(layer.layer) }
}

/**
 * All layers that the visitor may see, with their times and boxes.
 * @param {Pick<import('../layers.js').Layers, 'list' | 'times' | 'reach'>} layers
 * @param {import('../access/visitor.js').Visitor} [visitor] if there are private layers
 */
export async function describeLayers (layers, visitor) {
  // a layer may have been removed since it was listed
  const describe = layer => describeLayer(layers, layer).catch(ignoring('LAYER_NOT_FOUND'))
  const entries = await pMap(await visibleLayers(layers, visitor), describe, { concurrency: CONCURRENCY })
  return entries.filter(entry => entry !== undefined)
}

/**
 * @param {LayerEntry[]} entries
 * @param {object} options
 * @param {string} options.base URL of the gateway, ends in a slash
 * @param {string} [options.query] of the addresses: the token, if any
 * @param {string} [options.at] exact time: the default, and part of the addresses
 */
export function capabilities (entries, { base, query = '', at: defaultTime }) {
  const service = `${base}wmts${defaultTime ? `@${defaultTime}` : ''}`
  const self = `${service}/1.0.0/WMTSCapabilities.xml${query}`
  const kvp = `${service}${query ? `${query}&` : '?'}`
  const layers = entries.map(({ layer }) => layer)
  const links = { service, query, defaultTime }
  return String(xml`<?xml version="1.0" encoding="UTF-8"?>
<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" \
xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.opengis.net/wmts/1.0 \
http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd" version="1.0.0">
<ows:ServiceIdentification>
<ows:Title>tilecouch</ows:Title>
<ows:Abstract>Map tiles that remember: the newest ones, and as of any time</ows:Abstract>
<ows:ServiceType>OGC WMTS</ows:ServiceType>
<ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>
<ows:Fees>none</ows:Fees>
<ows:AccessConstraints>none</ows:AccessConstraints>
</ows:ServiceIdentification>
<ows:OperationsMetadata>${operation('GetCapabilities', self, kvp)}${operation('GetTile', `${service}/${query}`, kvp)}
</ows:OperationsMetadata>
<Contents>${entries.map(entry => layerElement(entry, links))}${matrixSetsOf(layers).map(matrixSet)}
</Contents>
<ServiceMetadataURL xlink:href="${self}"/>
</Capabilities>
`)
}

// RESTful first: clients that take the first encoding get addresses that caches can keep
const operation = (name, restful, kvp) => xml`
<ows:Operation name="${name}">
<ows:DCP><ows:HTTP>${[['RESTful', restful], ['KVP', kvp]].map(([encoding, href]) => xml`
<ows:Get xlink:href="${href}">
<ows:Constraint name="GetEncoding"><ows:AllowedValues>\
<ows:Value>${encoding}</ows:Value></ows:AllowedValues></ows:Constraint>
</ows:Get>`)}
</ows:HTTP></ows:DCP>
</ows:Operation>`

/** @param {Record<string, any>} entry @param {Record<string, any>} links */
function layerElement ({ layer, times, reach }, { service, query, defaultTime }) {
  const { type, ext } = formatOfLayer(layer)
  const [west, south, east, north] = boundsOf(layer)
  const grid = gridOf(layer)
  const newest = times.slice(-MAX_TIMES)
  // one template a layer: clients that find two take either, and half of the tiles would not follow the time
  const place = `${newest.length ? '{Time}/' : ''}{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}`
  const template = `${service}/${layer.layer}/${STYLE}/${place}.${ext}${query}`
  return xml`
<Layer>
<ows:Title>${layer.name || layer.layer}</ows:Title>${abstractOf(layer) && xml`
<ows:Abstract>${abstractOf(layer)}</ows:Abstract>`}
<ows:WGS84BoundingBox><ows:LowerCorner>${west} ${south}</ows:LowerCorner>\
<ows:UpperCorner>${east} ${north}</ows:UpperCorner></ows:WGS84BoundingBox>
<ows:Identifier>${layer.layer}</ows:Identifier>${!grid.isWebMercator && boxElement(grid, crsBoxOf(layer))}
<Style isDefault="true"><ows:Title>${STYLE}</ows:Title><ows:Identifier>${STYLE}</ows:Identifier></Style>
<Format>${type}</Format>${newest.length > 0 && xml`
<Dimension>
<ows:Identifier>Time</ows:Identifier>
<ows:UOM>ISO8601</ows:UOM>
<Default>${defaultTime ? momentAt(newest, defaultTime) : 'current'}</Default>
<Current>true</Current>${(newest.length > MANY_TIMES ? withSeries(newest) : newest).map(time => xml`
<Value>${time}</Value>`)}
</Dimension>`}
<TileMatrixSetLink>
<TileMatrixSet>${matrixSetOf(layer).id}</TileMatrixSet>${limitElements(allLimitsOf(layer, reach))}
</TileMatrixSetLink>
<ResourceURL format="${type}" resourceType="tile" template="${template}"/>
</Layer>`
}

/** The last listed time up to a moment, since programs look for it in the list; else the moment itself. */
const momentAt = (times, moment) => times.findLast(time => time <= moment) ?? moment

const limitElements = limits => limits.length > 0 && xml`
<TileMatrixSetLimits>${limits.map(({ matrix, x0, x1, y0, y1 }) => xml`
<TileMatrixLimits><TileMatrix>${matrix.id}</TileMatrix>\
<MinTileRow>${y0}</MinTileRow><MaxTileRow>${y1}</MaxTileRow>\
<MinTileCol>${x0}</MinTileCol><MaxTileCol>${x1}</MaxTileCol></TileMatrixLimits>`)}
</TileMatrixSetLimits>`

const boxElement = (grid, [left, bottom, right, top]) => xml`
<ows:BoundingBox crs="${crsOf(grid)}"><ows:LowerCorner>${position(grid, [left, bottom])}</ows:LowerCorner>\
<ows:UpperCorner>${position(grid, [right, top])}</ows:UpperCorner></ows:BoundingBox>`

/** @param {import('./matrix-sets.js').MatrixSet} set */
function matrixSet (set) {
  const { grid, matrices } = set
  const deepest = matrices[matrices.length - 1]
  return xml`
<TileMatrixSet>
<ows:Title>${grid.isWebMercator ? 'Web Mercator' : grid.title} to zoom ${deepest.id}, \
tiles of ${grid.tileSize} pixels</ows:Title>
<ows:Identifier>${set.id}</ows:Identifier>${boxElement(grid, grid.rangeExtent(deepest.z, grid.whole(deepest.z)))}
<ows:SupportedCRS>${crsOf(grid)}</ows:SupportedCRS>${wellKnownScaleSet(set) && xml`
<WellKnownScaleSet>${wellKnownScaleSet(set)}</WellKnownScaleSet>`}${matrices.map(matrix => xml`
<TileMatrix>
<ows:Identifier>${matrix.id}</ows:Identifier>
<ScaleDenominator>${scaleDenominator(set, matrix)}</ScaleDenominator>
<TopLeftCorner>${position(grid, matrix.origin)}</TopLeftCorner>
<TileWidth>${grid.tileSize}</TileWidth><TileHeight>${grid.tileSize}</TileHeight>
<MatrixWidth>${matrix.columns}</MatrixWidth><MatrixHeight>${matrix.rows}</MatrixHeight>
</TileMatrix>`)}
</TileMatrixSet>`
}

/** The box of a layer in the system of its grid, within its deepest matrix. */
function crsBoxOf (layer) {
  const grid = gridOf(layer)
  const { max } = zoomsOf(layer)
  const whole = grid.rangeExtent(max, grid.whole(max))
  const box = (layer.bounds && grid.boxOf(grid.inDegrees ? boundsOf(layer) : layer.bounds)) ?? whole
  const [left, bottom, right, top] = whole
  return box.map((value, side) => side % 2 ? clamp(value, bottom, top) : clamp(value, left, right))
}

const SIGNS = new Map(Object.entries({ copy: '©', amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' }))

/** Description and attribution: WMTS has no other place for an attribution. HTML is reduced to its text. */
function abstractOf ({ description = '', attribution = '' }) {
  const plain = attribution.slice(0, MAX_TEXT).replace(/<[^>]*>/g, '')
    .replace(/&(\w+);/g, (entity, name) => SIGNS.get(name) ?? entity)
  return [description.slice(0, MAX_TEXT), plain].map(text => text.trim()).filter(Boolean).join('\n')
}
