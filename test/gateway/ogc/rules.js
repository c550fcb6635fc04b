// Checks of documents by the rules of OGC API - Common (Part 1 and 2), OGC API - Tiles 1.0, and Tile Matrix Set and
// Tile Set Metadata 2.0. Each exported check returns the faults of a document as texts.
const DEGREE = Math.PI * 6378137 / 180 // metres at the equator
const REL = 'http://www.opengis.net/def/rel/ogc/1.0/'

const isText = value => typeof value === 'string' && value.length > 0
const isUri = value => isText(value) && URL.canParse(value)
const isNumber = value => typeof value === 'number' && Number.isFinite(value)
const isPoint = value => Array.isArray(value) && value.length === 2 && value.every(isNumber)
const isWhole = value => Number.isInteger(value) && value >= 0
const isTime = value => value === null || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value)

const isKind = value => ['map', 'vector', 'coverage'].includes(value)
const isBox = box => box.length === 4 && box.every(isNumber) && box[0] <= box[2] && box[1] <= box[3]
const isInterval = ([from, to]) => isTime(from) && isTime(to) && (to === null || from <= to)

/** The elements of a list. A missing list has none; `faults` reports it. */
const listOf = value => Array.isArray(value) ? value : []

/**
 * The missing and invalid fields of an object.
 * @param {Record<string, any>} value
 * @param {Record<string, (value: any) => boolean | undefined>} required
 * @param {Record<string, (value: any) => boolean | undefined>} [optional]
 */
function faults (value, required, optional = {}) {
  const isWrong = (isValid, field) => {
    try {
      return !isValid(field)
    } catch {
      return true // a value of another type
    }
  }
  const missing = Object.keys(required).filter(name => isWrong(required[name], value?.[name]))
  const wrong = Object.keys(optional)
    .filter(name => value?.[name] !== undefined && isWrong(optional[name], value[name]))
  return [...missing, ...wrong].map(name => `${name} is ${JSON.stringify(value?.[name])}`)
}

const isLink = link => faults(link, { href: isText, rel: isText },
  { type: isText, title: isText, templated: value => typeof value === 'boolean' }).length === 0
const isLinks = links => Array.isArray(links) && links.every(isLink)

/** @param {any} document @param {string} rel @param {string} [type] */
export const linkOf = ({ links }, rel, type) =>
  listOf(links).find(link => [rel, REL + rel].includes(link.rel) && (type === undefined || link.type === type))

/** The required links that a document lacks. @param {any} document @param {string[]} rels */
const missingLinks = (document, rels) => rels.filter(rel => !linkOf(document, rel)).map(rel => `no link ${rel}`)

/** Common 1, /req/landing-page/root-success; Tiles, /rec/tileset/tmxslink. */
export const landingFaults = document => [
  ...faults(document, { links: isLinks }, { title: isText, description: isText }),
  ...missingLinks(document, ['self', 'service-desc', 'conformance', 'data', 'tiling-schemes'])
]

/** Common 1, /req/core/conformance-success */
export const conformanceFaults = document => [
  ...faults(document, { conformsTo: uris => uris.every(isUri) }),
  ...['core', 'tileset', 'tilesets-list', 'geodata-tilesets', 'datetime']
    .map(name => `http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/${name}`)
    .filter(uri => !listOf(document.conformsTo).includes(uri))
]

/** Common 2, /req/collections/rc-md-items, rc-md-extent; Tiles, /req/geodata-tilesets/desc-links */
export function collectionFaults (document) {
  const { spatial, temporal } = document.extent ?? {}
  const tiles = listOf(document.links).filter(({ rel }) => /\/tilesets-(map|vector|coverage)$/.test(rel))
  const hasTiles = tiles.length > 0 && tiles.every(({ href }) => /\/tiles(\?.*)?$/.test(href))
  return [
    ...faults(document, { id: isText, links: isLinks, extent: value => typeof value === 'object' },
      { title: isText, description: isText, attribution: isText, dataType: isKind, crs: value => value.every(isUri) }),
    ...missingLinks(document, ['self']),
    ...(hasTiles ? [] : ['no link to its tilesets, at …/tiles']),
    ...faults(spatial, { bbox: boxes => boxes.length === 1 && isBox(boxes[0]) }, { crs: isUri }),
    ...(temporal ? faults(temporal, { interval: intervals => intervals.length === 1 && isInterval(intervals[0]) },
      { trs: isUri, grid: ({ coordinates }) => coordinates.length > 0 && coordinates.every(isTime) }) : [])
  ]
}

/** Common 2, /req/collections/rc-md-success */
export const collectionsFaults = document => [
  ...faults(document, { links: isLinks, collections: Array.isArray }),
  ...missingLinks(document, ['self']),
  ...listOf(document.collections).flatMap(collectionFaults)
]

const itemFaults = item => [
  ...faults(item, { dataType: isKind, crs: isUri, links: isLinks }, { title: isText, tileMatrixSetURI: isUri }),
  ...missingLinks(item, ['self', 'tiling-scheme'])
]

/** Tiles, /req/tilesets-list/tileset-links */
export const tilesetsFaults = document => [
  ...faults(document, { tilesets: value => listOf(value).length > 0 }, { links: isLinks }),
  ...listOf(document.tilesets).flatMap(itemFaults)
]

const isTemplate = ({ href, templated, type }) => templated === true && isText(type) &&
  ['{tileMatrix}', '{tileRow}', '{tileCol}'].every(name => href.includes(name))

/** Tiles, /req/tileset/description; Tile Set Metadata, tileMatrixSetLimits and boundingBox */
export function tilesetFaults (document) {
  const items = listOf(document.links).filter(({ rel }) => rel === 'item')
  const limits = document.tileMatrixSetLimits ?? []
  return [
    ...itemFaults(document),
    ...(items.length ? [] : ['no link item']),
    ...items.filter(item => !isTemplate(item)).map(({ href }) => `${href} is no template`),
    ...limits.flatMap(limit => faults(limit,
      { tileMatrix: isText, minTileRow: isWhole, maxTileRow: isWhole, minTileCol: isWhole, maxTileCol: isWhole })),
    ...limits.filter(limit => limit.minTileRow > limit.maxTileRow || limit.minTileCol > limit.maxTileCol)
      .map(({ tileMatrix }) => `limits of ${tileMatrix} are empty`),
    ...(document.boundingBox ? faults(document.boundingBox, { lowerLeft: isPoint, upperRight: isPoint }, { crs: isUri })
      : []),
    ...(document.layers ?? []).flatMap(layer => faults(layer, { id: isText, dataType: isText }))
  ]
}

const MATRIX_FIELDS = {
  id: isText, scaleDenominator: isNumber, cellSize: isNumber, pointOfOrigin: isPoint,
  tileWidth: isWhole, tileHeight: isWhole, matrixWidth: isWhole, matrixHeight: isWhole
}

/** Tile Matrix Set 2.0: scales become larger from matrix to matrix, and the cell size fits the scale. */
export function matrixSetFaults (document) {
  const matrices = listOf(document.tileMatrices)
  const unit = /84Quad$/.test(document.id) && /4326|CRS84/.test(document.crs) ? DEGREE : 1 // metres
  return [
    ...faults(document, { id: isText, crs: isUri, tileMatrices: value => listOf(value).length > 0 }, {
      title: isText, uri: isUri, wellKnownScaleSet: isUri,
      orderedAxes: value => value.length === 2 && value.every(isText)
    }),
    ...matrices.flatMap(matrix => faults(matrix, MATRIX_FIELDS,
      { cornerOfOrigin: value => ['topLeft', 'bottomLeft'].includes(value) })),
    ...matrices.filter(({ scaleDenominator, cellSize }) =>
      Math.abs(scaleDenominator * 0.00028 / cellSize / unit - 1) > 1e-9)
      .map(({ id }) => `cells of ${id} do not fit its scale`),
    ...matrices.filter(({ scaleDenominator }, index) =>
      index > 0 && scaleDenominator >= matrices[index - 1].scaleDenominator)
      .map(({ id }) => `${id} is not larger than the one before`)
  ]
}

/** Tiles, /req/oas30/completeness and operation-id: every path of tiles, with its parameters. */
export function apiFaults (document) {
  const requiredIds = ['map', 'vector'].flatMap(kind =>
    ['getTileSetsList', 'getTileSet', 'getTile'].map(name => `collection.${kind}.${name}`))
  const operations = Object.entries(document.paths ?? {}).map(([path, { get }]) => ({ path, ...get }))
  return [
    ...faults(document, { openapi: value => /^3\.0\.\d$/.test(value), info: value => isText(value.title) &&
      isText(value.version) }),
    ...requiredIds.filter(id => !operations.some(({ operationId }) => operationId === id)),
    ...operations.flatMap(({ path, parameters, responses }) => {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const describedNames = parameters.filter(parameter => parameter.in === 'path' && parameter.required)
        .map(({ name }) => name)
      return [...(`${inPath}` === `${describedNames}` ? [] : [`${path} describes ${describedNames}`]),
        ...(responses[200] ? [] : [`${path} has no answer`])]
    })
  ]
}
