// The documents of the OGC API. Clients follow only the links in them, which are absolute: GDAL does not resolve
// relative ones.
import { formatOfLayer, formats } from '../../../core/formats.js'
import { gridOf } from '../../../core/grids/index.js'
import { zoomsOf } from '../../../core/wmts.js'
import { boundsOf, coveredBy, storedIn } from '../coverage.js'

/**
 * Beginning and end of the links in a document.
 * @typedef {object} View
 * @property {string} base URL of the gateway, ends in a slash
 * @property {string} root URL of the OGC API, ends in a slash
 * @property {string} query `?` with the time and the token, or empty
 * @property {string} token `?` with the token, or empty
 *
 * @typedef {import('../wmts/capabilities.js').LayerEntry} LayerEntry
 */

export const JSON_TYPE = 'application/json'
export const API_TYPE = 'application/vnd.oai.openapi+json;version=3.0'
const REL = 'http://www.opengis.net/def/rel/ogc/1.0/'
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const GREGORIAN = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian'

const link = (rel, href, title, type = JSON_TYPE) => ({ rel, type, title, href })

/** Whether a layer has vector tiles: its collection has tiles of one kind. @param {Record<string, any>} layer */
export const isVector = layer => layer.format === formats.mvt.ext

/** Vector tiles have no pixels, so they are in the set of the usual size. @param {Record<string, any>} layer */
export const gridFor = layer => gridOf({ grid: layer.grid, tileSize: isVector(layer) ? undefined : layer.tileSize })

/** The grids of layers, each once, and Web Mercator. @param {Record<string, any>[]} layers */
export const gridsOf = layers => [...new Map([{}, ...layers].map(gridFor).map(grid => [grid.uniqueId, grid])).values()]

/** Title, description and attribution of a layer. @param {Record<string, any>} layer */
const titleFields = ({ layer, name, description, attribution }) =>
  ({ title: name || layer, ...(description && { description }), ...(attribution && { attribution }) })

export function landing ({ root, token }, title) {
  return {
    title,
    description: 'Map tiles that remember: the newest ones, and as of any time (datetime)',
    links: [
      link('self', root + token, 'This document'),
      link('service-desc', `${root}api${token}`, 'The API as OpenAPI 3.0', API_TYPE),
      link('conformance', `${root}conformance${token}`, 'What it conforms to'),
      link(`${REL}conformance`, `${root}conformance${token}`, 'What it conforms to'),
      link('data', `${root}collections${token}`, 'The layers'),
      link(`${REL}data`, `${root}collections${token}`, 'The layers'),
      link(`${REL}tiling-schemes`, `${root}tileMatrixSets${token}`, 'The tile matrix sets')
    ]
  }
}

export const conformance = {
  conformsTo: [
    ...['core', 'landing-page', 'json', 'oas30']
      .map(name => `http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/${name}`),
    'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
    ...['core', 'tileset', 'tilesets-list', 'geodata-tilesets', 'datetime', 'oas30', 'png', 'jpeg', 'mvt']
      .map(name => `http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/${name}`),
    ...['tilematrixset', 'tilematrixsetlimits', 'tilesetmetadata']
      .flatMap(name => [name, `json-${name}`]).map(name => `http://www.opengis.net/spec/tms/2.0/conf/${name}`)
  ]
}

export const collections = (entries, view) => ({
  links: [link('self', `${view.root}collections${view.query}`, 'This document')],
  collections: entries.map(entry => collection(entry, view))
})

export function collection ({ layer, times }, { base, root, query, token }) {
  const address = `${root}collections/${layer.layer}`
  const kind = isVector(layer) ? 'vector' : 'map'
  const about = titleFields(layer)
  return {
    id: layer.layer,
    ...about,
    extent: {
      spatial: { bbox: [boundsOf(layer)], crs: CRS84 },
      ...(times.length > 0 && { temporal: temporal(times) })
    },
    dataType: kind,
    crs: [gridFor(layer).crsUri],
    links: [
      link('self', address + query, about.title),
      link(`${REL}tilesets-${kind}`, `${address}${pathOf(layer)}${query}`, 'The tiles'),
      link('describedby', `${base}${layer.layer}.json${token}`, 'TileJSON')
    ]
  }
}

const pathOf = layer => isVector(layer) ? '/tiles' : '/map/tiles'

/** From the first time on, without an end: the newest map is valid until the next one. */
const temporal = times => ({ interval: [[times[0], null]], trs: GREGORIAN, grid: { coordinates: times } })

export function tilesets (entry, view) {
  const { title, dataType, crs, tileMatrixSetURI, links } = tileset(entry, view)
  const path = `${view.root}collections/${entry.layer.layer}${pathOf(entry.layer)}${view.query}`
  return {
    links: [link('self', path, 'This document')],
    tilesets: [{ title, dataType, crs, ...(tileMatrixSetURI && { tileMatrixSetURI }), links: links.slice(0, 2) }]
  }
}

/** @param {LayerEntry} entry @param {View} view */
export function tileset ({ layer, reach }, { base, root, query, token }) {
  const { uniqueId: id, set: { uri }, crsUri: crs } = gridFor(layer)
  const address = `${root}collections/${layer.layer}`
  const path = `${address}${pathOf(layer)}/${id}`
  const { type } = formatOfLayer(layer)
  const [west, south, east, north] = boundsOf(layer)
  const about = titleFields(layer)
  return {
    ...about,
    dataType: isVector(layer) ? 'vector' : 'map',
    crs,
    ...(uri && { tileMatrixSetURI: uri }),
    tileMatrixSetLimits: matrixLimits(layer, reach),
    boundingBox: { lowerLeft: [west, south], upperRight: [east, north], crs: CRS84 },
    mediaTypes: [type],
    ...(isVector(layer) && layer.vector_layers?.length && { layers: layer.vector_layers.map(vectorLayer) }),
    links: [
      link('self', path + query, about.title),
      link(`${REL}tiling-scheme`, `${root}tileMatrixSets/${id}${token}`, 'The tile matrix set'),
      { ...link('item', `${path}/{tileMatrix}/{tileRow}/{tileCol}${query}`, 'A tile', type), templated: true },
      link(`${REL}geodata`, address + query, 'The layer'),
      link('alternate', `${base}${layer.layer}.json${token}`, 'TileJSON')
    ]
  }
}

/**
 * The limits of the zooms of a layer. Images have the limits of the whole matrix: GDAL 3.6 puts images of a limited
 * matrix in the wrong place. Vector tiles have the limits of the stored tiles, because GDAL reads all tiles in them.
 */
function matrixLimits (layer, reach) {
  const grid = gridFor(layer)
  const { min, max } = zoomsOf(layer, reach)
  const matrices = grid.matrices.filter(({ z }) => z >= min && z <= max)
  return matrices.flatMap(({ id, z }) => {
    const covered = isVector(layer) ? coveredBy(layer, z) : grid.whole(z)
    if (!covered) return []
    const range = isVector(layer) ? storedIn(layer, covered, reach?.get(z)) : covered
    return [{ tileMatrix: id, minTileRow: range.y0, maxTileRow: range.y1, minTileCol: range.x0, maxTileCol: range.x1 }]
  })
}

const FIELD_TYPES = new Set(['string', 'number', 'boolean'])

/** @param {{id: string, description?: string, fields?: Record<string, any>}} layer of TileJSON */
function vectorLayer ({ id, description, fields = {} }) {
  const properties = Object.entries(fields).map(([name, type]) => {
    const fieldType = String(type).toLowerCase()
    return [name, FIELD_TYPES.has(fieldType) ? { type: fieldType } : {}]
  })
  return {
    id: String(id),
    dataType: 'vector',
    ...(description && { description }),
    propertiesSchema: { type: 'object', properties: Object.fromEntries(properties) }
  }
}

export const matrixSets = (layers, { root, token }) => ({
  links: [link('self', `${root}tileMatrixSets${token}`, 'This document')],
  tileMatrixSets: gridsOf(layers).map(({ uniqueId: id, title, crsUri: crs, set: { uri } }) => {
    return { id, title, ...(uri && { uri }), crs, links: [link('self', `${root}tileMatrixSets/${id}${token}`, title)] }
  })
})

/**
 * A set as JSON, with the names of version 1.0 beside those of 2.0: GDAL 3.6 reads only 1.0.
 * @param {import('../../../core/grids/grid.js').Grid} grid
 */
export const matrixSet = ({ set, crsUri, uniqueId }) => ({
  ...set,
  id: uniqueId,
  type: 'TileMatrixSetType',
  identifier: uniqueId,
  supportedCRS: crsUri,
  tileMatrices: set.tileMatrices.map(matrix =>
    ({ ...matrix, identifier: matrix.id, topLeftCorner: matrix.pointOfOrigin }))
})
