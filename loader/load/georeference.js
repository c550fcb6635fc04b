// Collects where the tiles of a load lie, their sizes and types, and warns if something looks wrong. It counts while
// the tiles are read. A load reports the result after its first tiles and at the end.
import { extensionOf, formats } from '../../core/index.js'
import { formatOf, imageSize } from '../../core/images.js'
import { Extent } from '../../core/store/extent.js'
import { attempt, byCount } from '../../core/values.js'
import { TilecouchError } from '../errors.js'
import { placeOf } from '../store/place/index.js'
import { count as inWords } from '../text.js'
import { orientation, turned } from './orientation.js'

export const georeferenceDefaults = {
  large: 1e6, // bytes: a larger tile gets a warning
  small: 128, // pixels: smaller images are blanks, which may have any size
  known: 0.25, // part of the world that bounds of a source, or an area, may cover to be compared with its tiles
  layer: 0.01 // the same for the bounds of a layer: other editions may cover another part of the world
}

/**
 * @typedef {import('../../core/grid.js').Bbox} Bbox
 * @typedef {import('./sources/index.js').Source} Source
 *
 * @typedef {object} Where
 * @property {string} place as people call it
 * @property {Bbox} bounds
 * @property {{min: number, max: number}} zooms
 * @property {number} [tileSize] pixels, if the tiles are images
 * @property {string[]} formats extensions of their types, the commonest first
 * @property {string} [flipped] the place with rows counted from the other side, if it is on land and `place` is not
 *
 * @typedef {{count: number, tile: string}} Count of tiles; tile: the first of them
 */

export class Georeference {
  #source
  #layerBounds
  /** Tiles by width and height. @type {Map<string, Count>} */
  #sizes = new Map()
  /** Tiles whose type is not that of their name, by type and name. @type {Map<string, Count>} */
  #misnamed = new Map()
  #large = { count: 0, bytes: 0, tile: '' }

  /**
   * @param {Source} source
   * @param {{grid?: import('../../core/grids/grid.js').Grid, layerBounds?: Bbox}} [layer] grid: of its tiles;
   *   layerBounds: of other editions, if there are any
   */
  constructor (source, { grid, layerBounds } = {}) {
    this.extent = new Extent(grid)
    this.#source = source
    this.#layerBounds = layerBounds
  }

  /** @param {{z: number, x: number, y: number, ext?: string}} tile @param {Uint8Array} bytes of it */
  add (tile, bytes) {
    const { z, x, y, ext } = tile
    this.extent.add(z, x, y)
    const { width, height } = imageSize(bytes) ?? { width: 0, height: 0 }
    if (Math.max(width, height) >= georeferenceDefaults.small) addTo(this.#sizes, `${width} x ${height}`, tile)
    const format = ext === undefined ? undefined : formatOf(bytes)
    if (format && formats[format].ext !== ext) addTo(this.#misnamed, `${formats[format].ext} ${ext}`, tile)
    if (bytes.length > georeferenceDefaults.large) {
      const large = this.#large
      large.count++
      if (bytes.length > large.bytes) Object.assign(large, { bytes: bytes.length, tile: `${z}/${x}/${y}` })
    }
  }

  /**
   * @param {Record<string, number>} types tiles by content type
   * @returns {Where | undefined} nothing if there were no tiles
   */
  describe (types) {
    const levels = [...this.extent.zooms.keys()]
    if (!levels.length) return undefined
    const { bounds, tileSize, grid } = this.extent
    const isTurnable = this.#source.scheme && grid.isWebMercator
    const flipped = isTurnable ? boundsOfBoxes(turned(this.extent.zooms, 'ROWS_FLIPPED')) : undefined
    return {
      // computed on access: it takes a moment
      get place () { return nameOf(bounds) },
      bounds,
      zooms: { min: Math.min(...levels), max: Math.max(...levels) },
      ...(tileSize && { tileSize }),
      formats: byCount(types).map(type => extensionOf(type) ?? type),
      get flipped () { return flipped && landIfFlipped(bounds, flipped) }
    }
  }

  /**
   * @param {{layer: string, time?: string, types?: Record<string, number>}} load time: of the edition, if one is
   *   written; types: of all tiles, at the end
   * @returns {TilecouchError[]}
   */
  warnings ({ layer, time, types }) {
    const warnings = [
      this.#misplaced(layer, time), this.#otherGrid(), this.#mixedSizes(), ...this.#misnamedTypes(layer),
      types && this.#otherType(layer, types), this.#tooLarge()
    ]
    return warnings.filter(warning => warning !== undefined)
  }

  #misplaced (layer, time) {
    const { zooms, grid } = this.extent
    if (!grid.isWebMercator) return undefined
    const [source, layerBounds] = [this.#source, this.#layerBounds]
    const { known, layer: most } = georeferenceDefaults
    const turning = turnOf([
      { bounds: source.bounds, most: known, boxes: zooms, says: 'its metadata say so' },
      areaStatement(source),
      { bounds: layerBounds, most, boxes: zooms, says: 'the other editions of the layer lie there' }
    ])
    if (!turning) return undefined
    const { turn, boxes, says, bounds } = turning
    const remove = time ? `remove this edition with \`tilecouch remove ${layer} --edition ${time}\`, and ` : ''
    const flipped = source.scheme
      ? `load it with --scheme ${otherScheme(source)}`
      : 'create the file again from its source'
    const reloading = turn === 'AXES_SWAPPED' ? 'rename the files to z/x/y (docs/sources.md), and load them' : flipped
    const otherEditions = bounds === layerBounds ? ' If the other editions are wrong, remove those.' : ''
    const error = new TilecouchError(turn, { ...placesOf(boxes, turn), says })
    return Object.assign(error, { advice: `If so, ${remove}${reloading}.${otherEditions}` })
  }

  #otherGrid () {
    const { profile } = this.#source
    return profile === undefined || !this.extent.grid.isWebMercator
      ? undefined
      : new TilecouchError('NOT_WEB_MERCATOR', { profile })
  }

  #mixedSizes () {
    const sizes = byFrequency(this.#sizes)
    if (sizes.length < 2) return undefined
    const texts = sizes.map(([size, { count: tiles, tile }], index) => `${inWords(tiles)} of ${size} ` +
      `pixels${index ? `, such as ${tile}` : ''}`)
    return new TilecouchError('MIXED_SIZES', { sizes: texts.join('; ') })
  }

  #misnamedTypes (layer) {
    return byFrequency(this.#misnamed).map(([key, { count, tile }]) => {
      const [type, name] = key.split(' ')
      return Object.assign(new TilecouchError('OTHER_TYPE', {
        type, name, count, tile
      }), { advice: typeAdvice(layer, type) })
    })
  }

  /** Most tiles are of another type than the metadata say. */
  #otherType (layer, types) {
    const { format } = this.#source.fields ?? {}
    const [type] = byCount(types).map(extensionOf)
    const total = Object.values(types).reduce((sum, count) => sum + count, 0)
    const expected = Object.entries(types).find(([name]) => extensionOf(name) === format)?.[1] ?? 0
    if (!type || format === undefined || expected >= total / 2) return undefined
    return Object.assign(new TilecouchError('OTHER_TYPE', { type, format }), { advice: typeAdvice(layer, type) })
  }

  #tooLarge () {
    const { count, bytes, tile } = this.#large
    return count ? new TilecouchError('LARGE_TILES', { count, bytes, tile }) : undefined
  }
}

const typeAdvice = (layer, type) =>
  `Each tile is stored as what it is. Use addresses that end with .${type}: \`tilecouch layer ${layer} --tile-format ` +
    `${type}\` writes that into the TileJSON.`

/**
 * Explains why a source has no tiles in the requested area, if it has tiles elsewhere.
 * @param {Source} source
 * @returns {{why: string, advice?: string} | undefined}
 */
export function whyEmpty (source) {
  const { wanted: selection } = source
  if (!selection?.seen.zooms.size) return undefined
  const statement = areaStatement(source)
  const turning = selection.area.grid.isWebMercator ? turnOf([statement]) : undefined
  if (!turning) {
    const levels = [...selection.seen.zooms.keys()]
    const zooms = `${Math.min(...levels)} to ${Math.max(...levels)}`
    return { why: `its tiles lie in ${nameOf(selection.seen.bounds)}, at zooms ${zooms}, and not in this area at ` +
      'these zooms' }
  }
  const { place, other } = placesOf(turning.boxes, turning.turn)
  const isFlip = turning.turn === 'ROWS_FLIPPED'
  const correction = isFlip ? 'rows counted from the other side' : 'columns and rows exchanged'
  return {
    why: `as read, they lie not in this area, but in ${place}; with ${correction} they lie in ${other}`,
    ...(isFlip && source.scheme && { advice: `Load it with --scheme ${otherScheme(source)}.` })
  }
}

/** @param {Source} source */
const otherScheme = ({ scheme }) => scheme === 'tms' ? 'xyz' : 'tms'

/** The requested area, with all tiles of the source, in it or not. @param {Source} source */
const areaStatement = ({ wanted: selection }) => ({
  bounds: selection?.area.bbox,
  most: georeferenceDefaults.known,
  isPart: true,
  boxes: selection?.seen.zooms,
  says: 'that is the area that was asked for'
})

/**
 * How tiles are turned. The first statement that gives an answer decides.
 * @param {{bounds?: Bbox, most: number, isPart?: boolean, boxes?: Extent['zooms'], says: string}[]} statements
 */
function turnOf (statements) {
  for (const { bounds, most, isPart, boxes, says } of statements) {
    if (!bounds || !boxes?.size) continue
    const turn = orientation(boxes, { bounds, most, isPart })
    if (turn === 'as read') return undefined
    if (turn) return { turn, boxes, says, bounds }
  }
  return undefined
}

/** Where tiles lie as read, and turned. @param {Extent['zooms']} boxes @param {import('./orientation.js').Turn} turn */
const placesOf = (boxes, turn) =>
  ({ place: nameOf(boundsOfBoxes(boxes)), other: nameOf(boundsOfBoxes(turned(boxes, turn))) })

/** @param {Extent['zooms']} zooms */
function boundsOfBoxes (zooms) {
  const extent = new Extent()
  extent.zooms = zooms
  return extent.bounds
}

/** @param {Bbox} bounds */
const nameOf = bounds => safePlaceOf(bounds).name

/** @param {Bbox} bounds @param {Bbox} flipped */
function landIfFlipped (bounds, flipped) {
  if (safePlaceOf(bounds).isLand) return undefined
  const { name, isLand } = safePlaceOf(flipped)
  return isLand ? name : undefined
}

/** The place, or a default after an error: no load may fail because a place has no name. @param {Bbox} bounds */
const safePlaceOf = bounds => attempt(() => placeOf(bounds)) ?? { name: 'an unknown place', isLand: true }

/** @param {Map<string, Count>} counts @param {string} key */
function addTo (counts, key, { z, x, y }) {
  const entry = counts.get(key)
  if (entry) entry.count++
  else counts.set(key, { count: 1, tile: `${z}/${x}/${y}` })
}

/** @param {Map<string, Count>} counts */
const byFrequency = counts => [...counts].sort(([, a], [, b]) => b.count - a.count)
