// Opens the capabilities of a WMTS as a source: one layer, in one of its tile matrix sets, as the settings of an
// upstream. The layer gets the grid of that set: the name of a built-in grid with the same matrices, else the set as
// JSON.
import { setImmediate } from 'node:timers/promises'
import { gridNames, gridOf, isSameGrid, parseBbox, some } from '../../../core/index.js'
import { cellSizeOf } from '../../../core/grids/index.js'
import { attempt } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'
import { layerFieldsOf } from '../../formats/metadata.js'
import { quoted, refusal } from '../../formats/other-kinds.js'
import { layersWords } from './services.js'
import { absolute, blocksOf, plain, textsOf, withoutSecrets } from './templates.js'
import * as upstream from './upstream.js'

const NEAR = 1e-6 // part by which figures of equal matrices may differ: capabilities are rounded
const FORMATS = [
  'image/png', 'image/png8', 'image/jpeg', 'image/jpg', 'image/webp', 'application/vnd.mapbox-vector-tile'
]

/** Whether XML is the capabilities of a WMTS. @param {string} root its first element @param {string} text */
export const isWmts = (root, text) => root === 'Capabilities' && /opengis\.net\/wmts/i.test(text)

/**
 * @param {string} xml
 * @param {{name: string, base?: URL}} where base: its address, if it has one
 * @param {import('./index.js').SourceOptions & import('./upstream.js').Asking} options
 */
export async function openWmts (xml, where, options) {
  const layer = layerIn(xml, where, options)
  const { set, grid, matrices, tileSize } = await setOf(xml, layer, where, options)
  const { url, secrets } = withoutSecrets(templateOf(xml, layer, where), options.secrets)
  const zooms = matrices.map(({ z }) => z)
  const bounds = boundsInLayer(layer.block)
  const matrix = matrixOf(matrices, grid)
  const settings = {
    type: 'wmts',
    url,
    layers: layer.id,
    ...(layer.style && { styles: layer.style }),
    matrixSet: set,
    ...(matrix && { matrix }),
    minzoom: Math.min(...zooms),
    maxzoom: Math.max(...zooms),
    ...(bounds && { bounds })
  }
  const fields = {
    ...layerFieldsOf({ name: layer.title, description: layer.abstract }),
    grid: grid.field,
    ...(tileSize !== 256 && { tileSize })
  }
  // the server has only the set that it states, even if the command names another grid
  if (options.isGridGiven && !isSameGrid({ grid: options.grid }, fields)) {
    throw new TilecouchError('OTHER_GRID', {
      what: where.name, grid: grid.id, other: 'what is given', otherGrid: gridOf({ grid: options.grid }).id
    })
  }
  return upstream.open(url, { ...options, grid: fields.grid, upstream: settings, secrets, fields, isAnnounced: true })
}

/** The requested layer. @param {string} xml */
function layerIn (xml, { name }, /** @type {import('./index.js').SourceOptions} */ { sourceName }) {
  const layers = blocksOf('Layer', xml).map(text => {
    const [block] = text.split(/<\/(?:\w+:)?Layer>/)
    const [layerText] = block.split(/<(?:\w+:)?Style\b/)
    const [style] = textsOf('Identifier', blocksOf('Style', block)[0] ?? '')
    const [id = ''] = textsOf('Identifier', layerText)
    return { block, id, title: textsOf('Title', layerText)[0], abstract: textsOf('Abstract', layerText)[0], style }
  }).filter(({ id }) => id)
  const layersOfName = sourceName === undefined ? layers : layers.filter(({ id }) => id === sourceName)
  if (layersOfName.length === 1) return layersOfName[0]
  const [first] = layers
  throw refusal(name, first ? 'the description of a WMTS' : 'the description of a WMTS without layers', {
    how: `Name one of its layers.${layersWords(layers.map(({ id }) => id))} Such as`,
    lines: [`tilecouch load ${quoted(name)} --source-layer ${quoted(first?.id ?? 'LAYER')} --layer NAME --bbox ` +
      'WEST,SOUTH,EAST,NORTH --zoom 0-12']
  })
}

/** The requested matrix set, as a grid, with the name of the matrix of each zoom. */
async function setOf (xml, { id, block }, { name }, /** @type {import('./index.js').SourceOptions} */ options) {
  const { matrixSet, grid: expectedGrid, signal } = options
  const links = linksIn(block)
  const linked = [...links.keys()]
  const defined = new Map(blocksOf('TileMatrixSet', xml).filter(text => /SupportedCRS/.test(text)).map(text => {
    const [setText] = text.split(/<\/(?:\w+:)?TileMatrixSet>/)
    return [textsOf('Identifier', setText)[0], setText]
  }))
  const names = linked.filter(set => defined.has(set) && (matrixSet === undefined || set === matrixSet))
  /** @type {any[]} */
  const sets = []
  for (const set of names) {
    await setImmediate() // so that a signal can abort the loop
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    sets.push({ set, ...resultOrError(() => gridIn(set, defined.get(set) ?? '', links.get(set))) })
  }
  const readableSets = sets.filter(({ grid }) => grid)
  const isExpected = ({ grid: { field } }) =>
    expectedGrid !== undefined && isSameGrid({ grid: field }, { grid: expectedGrid })
  const chosen = readableSets.find(isExpected) ??
    readableSets.find(({ grid }) => grid.isWebMercator) ?? (readableSets.length === 1 ? readableSets[0] : undefined)
  if (chosen) return chosen
  if (sets.length && !readableSets.length) throw sets[0].error
  throw new TilecouchError('BAD_OPTION', {
    option: '--matrix-set', value: matrixSet ?? null, why: `the layer ${id} of ${name} has ` +
      `${linked.length ? some(linked) : 'none'}`
  })
}

function resultOrError (read) {
  try {
    return read()
  } catch (error) {
    return { error }
  }
}

/**
 * The sets of a layer, with the ids of their matrices; undefined if the layer has all of them.
 * @param {string} block @returns {Map<string, Set<string> | undefined>}
 */
function linksIn (block) {
  /** @type {Map<string, Set<string> | undefined>} */
  const links = new Map(textsOf('TileMatrixSet', block).map(set => [set, undefined]))
  for (const text of blocksOf('TileMatrixSetLink', block).reverse()) { // of two links with one name the first counts
    const [link] = text.split(/<\/(?:\w+:)?TileMatrixSetLink>/)
    const [set] = textsOf('TileMatrixSet', link)
    const ids = textsOf('TileMatrix', link)
    if (ids.length && links.has(set)) links.set(set, new Set(ids))
  }
  return links
}

/** @param {string} set its name @param {string} xml @param {Set<string>} [limits] */
function gridIn (set, xml, limits) {
  const [crs = ''] = textsOf('SupportedCRS', xml)
  const inDegrees = /[:/](?:4326|4258|CRS84)$/i.test(crs)
  const tileMatrices = blocksOf('TileMatrix', xml).map(block => {
    const number = tag => Number(textsOf(tag, block)[0])
    const scaleDenominator = number('ScaleDenominator')
    return {
      id: textsOf('Identifier', block)[0],
      scaleDenominator,
      cellSize: cellSizeOf({ inDegrees }, scaleDenominator),
      cornerOfOrigin: /** @type {const} */ ('topLeft'),
      pointOfOrigin: /** @type {[number, number]} */ (textsOf('TopLeftCorner', block)[0]?.split(/[\s,]+/).map(Number)),
      tileWidth: number('TileWidth'),
      tileHeight: number('TileHeight'),
      matrixWidth: number('MatrixWidth'),
      matrixHeight: number('MatrixHeight')
    }
  }).sort((a, b) => b.scaleDenominator - a.scaleDenominator)
  const tileSize = tileMatrices[0]?.tileWidth
  const gridId = set.replace(/[^\w.:-]/g, '_').slice(0, 100)
  const definedGrid = gridOf({ grid: { id: gridId, crs: uriOf(crs), tileMatrices } })
  const builtIn = gridNames().map(grid => gridOf({ grid, tileSize })).find(grid => pairsOf(definedGrid, grid))
  const grid = builtIn ?? definedGrid
  const pairs = /** @type {{z: number, id: string}[]} */ (pairsOf(definedGrid, grid))
  const matrices = pairs.filter(({ id }) => !limits || limits.has(id))
  if (!matrices.length) throw new TilecouchError('BAD_GRID', { why: `the layer has no matrix of ${set}` })
  return { grid, matrices, tileSize }
}

/** A reference system as the OGC writes it. @param {string} crs */
const uriOf = crs => /\bEPSG:(?:[\d.]*:)?(?:900913|3785|102100|102113)$/.test(crs) ? 'EPSG:3857' : crs.trim()

/**
 * Each matrix of a set with its zoom in a grid; undefined if the grid lacks any of them.
 * @param {import('../../../core/grids/grid.js').Grid} set @param {import('../../../core/grids/grid.js').Grid} grid
 */
function pairsOf (set, grid) {
  const isSystem = set.crs === grid.crs || (set.inDegrees && grid.inDegrees)
  const pairs = isSystem && set.matrices.map(matrix => {
    const match = grid.matrices.find(candidate => [0, 1].every(axis =>
      Math.abs(candidate.span[axis] / matrix.span[axis] - 1) < NEAR &&
      Math.abs(candidate.origin[axis] - matrix.origin[axis]) < matrix.span[axis] * 1e-4) &&
      matrix.columns <= candidate.columns && matrix.rows <= candidate.rows)
    return match && { z: match.z, id: matrix.id }
  })
  return pairs && pairs.every(Boolean) ? pairs : undefined
}

/** The names of the matrices at the server, by zoom; undefined if the grid has the same names. */
function matrixOf (matrices, grid) {
  const prefixes = matrices.map(({ z, id }) => {
    const matrixId = grid.matrix(z).id
    return id.endsWith(matrixId) ? id.slice(0, id.length - matrixId.length) : undefined
  })
  if (prefixes.every(text => text !== undefined && text === prefixes[0])) return prefixes[0] && `${prefixes[0]}{z}`
  return Object.fromEntries(matrices.map(({ z, id }) => [z, id]))
}

/** The template of tile addresses: RESTful if the server offers it, else with parameters (KVP). */
function templateOf (xml, { id, block }, where) {
  const defaults = new Map(blocksOf('Dimension', block).map(text =>
    [textsOf('Identifier', text)[0]?.toLowerCase(), textsOf('Default', text)[0]]))
  const tags = [...block.matchAll(/<(?:\w+:)?ResourceURL\b[^<>]*\bresourceType="tile"[^<>]*>/g)].map(([tag]) => ({
    url: plain(/\btemplate="([^"]+)"/.exec(tag)?.[1] ?? ''), format: /\bformat="([^"]+)"/.exec(tag)?.[1] ?? ''
  })).filter(({ url }) => url)
  const link = FORMATS.map(format => tags.find(tag => tag.format === format)).find(Boolean) ?? tags[0]
  if (link) {
    return absolute(link.url.replace(/\{(\w+)\}/g, (place, name) => defaults.get(name.toLowerCase()) ?? place), where)
  }
  const getTile = xml.split(/<(?:\w+:)?Operation\b[^<>]*\bname="GetTile"/)[1] ?? ''
  const [, address] = /<(?:\w+:)?Get\b[^<>]*\bhref="([^"]+)"/.exec(getTile.split(/<\/(?:\w+:)?Operation>/)[0]) ?? []
  const service = address ? plain(address) : where.base && `${where.base.origin}${where.base.pathname}`
  if (!service) {
    throw new TilecouchError('SOURCE_UNREADABLE', { value: where.name, why: `it has no address for tiles of ${id}` })
  }
  const offered = textsOf('Format', block)
  const format = FORMATS.find(type => offered.includes(type)) ?? offered[0] ?? 'image/png'
  const query = [
    'SERVICE=WMTS', 'VERSION=1.0.0', 'REQUEST=GetTile', 'LAYER={Layer}', 'STYLE={Style}',
    'TILEMATRIXSET={TileMatrixSet}', 'TILEMATRIX={TileMatrix}', 'TILEROW={TileRow}', 'TILECOL={TileCol}',
    `FORMAT=${encodeURIComponent(format)}`
  ].join('&')
  const separator = service.includes('?') && !/\?$/.test(service) ? '&' : '?'
  return absolute(`${service.replace(/[?&]$/, '')}${separator}${query}`, where)
}

function boundsInLayer (block) {
  const corner = tag => textsOf(tag, (blocksOf('WGS84BoundingBox', block)[0] ?? ''))[0]?.split(/\s+/)
  return attempt(() => parseBbox([...corner('LowerCorner') ?? [], ...corner('UpperCorner') ?? []].map(Number)))
}
