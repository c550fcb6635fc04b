// Names and document ids. Ids are short, readable, and sort so that the past of a tile follows its head:
//   osm:10:300:412  <  osm:10:300:412@2023-06-01T00:00:00Z
// Rows whose numbers begin with the same digits sort between the two: osm:10:300:4120.
import { TilecouchError } from './errors.js'
import { MAX_ZOOM, checkTile } from './grid.js'
import { ADMINISTRATIVE_KINDS, LAYER_KINDS, RESERVED_NAMES } from './kinds.js'
import { isExactTime } from './times.js'

const LAYER = /^[a-z0-9][a-z0-9_-]{0,62}$/

export { ADMINISTRATIVE_KINDS, LAYER_KINDS }

/** Names that no new layer may have. */
export const RESERVED = new Set(RESERVED_NAMES)
const UNREADABLE = new Set(['layer', 'edition']) // older stores may have layers of the other names

const TILE_ID = /^([^:@]+):(0|[1-9]\d?):(0|[1-9]\d{0,9}):(0|[1-9]\d{0,9})(?:@(.*))?$/
const TILE_PATH = /^(0|[1-9]\d?)\/(0|[1-9]\d{0,9})\/(0|[1-9]\d{0,9})$/

/** The document that marks a database as a tilecouch store. It has no colon, so no tile can have this id. */
export const STORE_ID = 'tilecouch'

/** The name of the attachment that holds a tile's bytes. */
export const TILE_ATTACHMENT = 'tile'

/** @typedef {{layer: string, z: number, x: number, y: number}} TileAddress */
/** @typedef {TileAddress & {time?: string}} VersionAddress */

/** Whether a store may have a layer of this name. @param {unknown} name */
export const isLayer = name => typeof name === 'string' && LAYER.test(name) && !UNREADABLE.has(name)

/** @param {unknown} name @returns {string} */
export function checkLayer (name) {
  if (!isLayer(name)) {
    const lowerCase = String(name).toLowerCase()
    throw new TilecouchError('BAD_LAYER', {
      value: name,
      ...(isLayer(lowerCase) && { why: `write it small: ${lowerCase}` })
    })
  }
  return /** @type {string} */ (name)
}

/** Checks the name of a new layer. @param {unknown} name @returns {string} */
export function checkNewLayer (name) {
  const layer = checkLayer(name)
  if (RESERVED.has(layer)) throw new TilecouchError('BAD_LAYER', { value: name, why: 'the name is reserved' })
  return layer
}

/** The id of a tile's head. */
export const tileId = (layer, z, x, y) => `${layer}:${z}:${x}:${y}`

/** The id of the head of a version's tile. @param {string} id of a head or of a past version */
export const headId = id => id.split('@', 1)[0]

/** Groups ids by layer. @param {string[]} ids of heads @returns {Map<string, string[]>} */
export function byLayer (ids) {
  const idsByLayer = new Map()
  for (const id of ids) {
    const layer = id.slice(0, id.indexOf(':'))
    const idsOfLayer = idsByLayer.get(layer)
    if (idsOfLayer) idsOfLayer.push(id)
    else idsByLayer.set(layer, [id])
  }
  return idsByLayer
}

/** The id of a past version. */
export const versionId = (layer, z, x, y, time) => `${layer}:${z}:${x}:${y}@${time}`

export const layerId = layer => `layer:${layer}`

export const editionId = (layer, time) => `edition:${layer}@${time}`

/** The id of the manifest of a run. A manifest with many blocks has parts. */
export const manifestId = (layer, time, run, part) =>
  `manifest:${layer}@${time}:${run}${part === undefined ? '' : `:${part}`}`

/** The id of a block of 64 x 64 tiles, from its place and a name made of its content. */
export const blockId = (layer, place, name) => `block:${layer}:${place}:${name}`

/** The id of a removal. */
export const removedId = (layer, run) => `removed:${layer}:${run}`

/** The id of the limits of a layer: see store/limits.js. */
export const limitsId = layer => `limits:${layer}`

/** The id of a style of a layer from a time on. Without a time: the beginning of the ids of all its styles. */
export const styleId = (layer, time = '') => `style:${layer}@${time}`

/** The id of a work document. @param {string} run */
export const workId = run => `work:${run}`

/** A regular expression for the ids of documents about the running of a store. */
export const ADMINISTRATIVE_IDS = `^(${ADMINISTRATIVE_KINDS.join('|')}):[^:@]+$`
const ADMINISTRATIVE = new RegExp(ADMINISTRATIVE_IDS)

/** Ids that a mirror does not copy: those above, design documents, and the limits of a store. */
export const UNMIRRORED_IDS = `^_design/|^limits:[^:]+$|${ADMINISTRATIVE_IDS}`

/**
 * Whether a document is about the running of this store: work, activity or a token. Copies of a store have no such
 * documents, and followers of tiles ignore them. Tiles of a layer with such a name have more colons.
 * @param {string} id
 */
export const isAdministrative = id => ADMINISTRATIVE.test(id)

const OF_LAYER = new RegExp(`^(?:${[
  '(layer|limits):([^:@]+)',
  '(edition|style):([^:@]+)@([^:]+:[^:]+:[^:]+)',
  '(manifest):([^:@]+)@([^:]+:[^:]+:[^:]+):([^:]+)(?::(\\d+))?',
  '(block):([^:@]+):(\\d+):(\\d+):(\\d+):[\\w-]+',
  '(removed):([^:@]+):[^:]+'
].join('|')})$`)

/**
 * Parses the id of a document of a layer. Undefined for a tile, and for a document that belongs to no layer. A block
 * has the zoom, column and row of its place.
 * @param {string} id
 * @returns {{kind: 'layer' | 'limits' | 'edition' | 'style' | 'manifest' | 'block' | 'removed', layer: string,
 *   time?: string, z?: number, x?: number, y?: number} | undefined}
 */
export function parseDocumentId (id) {
  const parts = OF_LAYER.exec(id)
  if (!parts) return undefined
  const kind = /** @type {any} */ (parts[1] ?? parts[3] ?? parts[6] ?? parts[11] ?? parts[16])
  const layer = parts[2] ?? parts[4] ?? parts[7] ?? parts[12] ?? parts[17]
  const time = parts[5] ?? parts[8]
  if (!isLayer(layer) || (time !== undefined && !isExactTime(time))) return undefined
  if (kind !== 'block') return { kind, layer, ...(time && { time }) }
  const [z, x, y] = [+parts[13], +parts[14], +parts[15]]
  return z > MAX_ZOOM ? undefined : { kind, layer, z, x, y }
}

/**
 * A regular expression for the ids of all documents of these layers, and of no other layer. In older stores a layer may
 * be called like a kind of document, or by a number. CouchDB compiles the expression for each change, so it has the
 * names only twice.
 * @param {string[]} layers
 */
export function idsOfLayers (layers) {
  const names = `(${layers.join('|')})`
  const place = ':[0-9]+:[0-9]+:[0-9]+'
  return `^((${LAYER_KINDS.join('|')}):${names}($|@|:[^:]+$|${place}:)|${names}${place}($|@))`
}

/** Writes a layer, or a layer at a time: `osm`, `osm@2024-03-01`. */
export const formatReference = (layer, time) => time ? `${layer}@${time}` : layer

/**
 * Parses the id of a head or a past version; throws BAD_ID for any other text.
 * @param {string} id
 * @returns {VersionAddress}
 */
export function parseTileId (id) {
  const match = TILE_ID.exec(id)
  if (!match) throw new TilecouchError('BAD_ID', { value: id })
  const [, layer, z, x, y, time] = match
  if (!isLayer(layer)) throw new TilecouchError('BAD_ID', { value: id, why: 'bad layer name' })
  const tile = { layer, z: +z, x: +x, y: +y }
  const across = 2 ** tile.z
  if (tile.z > MAX_ZOOM || tile.x >= across || tile.y >= across) {
    throw new TilecouchError('BAD_ID', { value: id, why: 'outside the pyramid' })
  }
  if (time === undefined) return tile
  if (!isExactTime(time)) throw new TilecouchError('BAD_ID', { value: id, why: 'bad time' })
  return { ...tile, time }
}

/** Whether this is the id of a tile document, head or past. */
export function isTileId (id) {
  try { return Boolean(parseTileId(id)) } catch { return false }
}

/**
 * `osm@2024-03` -> { layer: 'osm', time: '2024-03' }. The time is as written, partial or not: the caller knows which
 * end of it is meant.
 * @param {string} text
 * @returns {{layer: string, time?: string}}
 */
export function parseReference (text) {
  const separator = String(text).indexOf('@')
  if (separator < 0) return { layer: checkLayer(text) }
  const time = text.slice(separator + 1)
  if (!time) throw new TilecouchError('BAD_TIME', { value: time })
  // the error has the whole address: scrub() could not remove a password from one half
  return { layer: checkLayer(text.includes('://') ? text : text.slice(0, separator)), time }
}

/** `10/300/412` -> { z, x, y } @param {string} text */
export function parseTilePath (text) {
  const match = TILE_PATH.exec(String(text))
  if (!match) throw new TilecouchError('BAD_TILE', { value: text })
  return checkTile(+match[1], +match[2], +match[3])
}

/** Byte order, as in CouchDB's primary index: ids are ASCII, so the order of code units is the order of bytes. */
export function compareIds (a, b) {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/**
 * Compares zooms or columns in the order of ids. A colon follows them there and sorts after every digit, so 10 comes
 * before 1, and 2 after both.
 */
export const compareInner = (a, b) => compareIds(`${a}:`, `${b}:`)

/** Compares rows in the order of ids. A row ends the id, so 1 comes before 10. */
export const compareRows = (a, b) => compareIds(`${a}`, `${b}`)

/** Every document of a layer's tiles lies in this range of ids. */
export const layerRange = layer => ({ startkey: `${layer}:`, endkey: `${layer};` })

/** The past versions of one tile lie in this range of ids; its head comes before it. */
export const pastRange = id => ({ startkey: `${id}@`, endkey: `${id}@~` })
