// Compares the metadata of a file with its tiles: zooms, bounds and format.
import { extensionOf as extensionOfType, gridOf, parseArea, parseBbox, selectorOf } from '../../../core/index.js'
import { layerFieldsOf } from '../../formats/metadata.js'
import { extensionOf } from '../../formats/names.js'

const MEDIA_TYPE = /^[a-z0-9]+\/[\w.+-]+$/i

/** Sees every tile once, and reports at the end which claims are wrong. */
export class Claims {
  #within
  #grid
  #zooms
  #report
  #isPart
  #seen = { min: Infinity, max: -Infinity }

  /**
   * @param {import('./report.js').Report} report
   * @param {{minzoom?: number, maxzoom?: number, bounds?: import('../../../core/grid.js').Bbox, format?: string,
   *   grid?: string | object}} claims format: extension
   * @param {boolean} [isPart] only some of the tiles will be seen
   */
  constructor (report, { minzoom, maxzoom, bounds, format, grid }, isPart = false) {
    this.#report = report
    this.#isPart = isPart
    this.#zooms = { min: minzoom, max: maxzoom }
    this.#grid = gridOf({ grid })
    this.#within = selectorOf(bounds && parseArea({ bbox: bounds, grid: this.#grid }))
    this.format = format
  }

  see (where, z, x, y) {
    this.#seen = { min: Math.min(this.#seen.min, z), max: Math.max(this.#seen.max, z) }
    const { min = 0, max = 30 } = this.#zooms
    if (z < min || z > max) this.#report.add('outside-zooms', where, `zooms ${min} to ${max}`)
    if (!this.#grid.has(z, x, y)) this.#report.add('outside-pyramid', where, `not in ${this.#grid.id}`)
    else if (!this.#within(z, x, y)) this.#report.add('outside-bounds', where)
  }

  /** @param {string} where the metadata lie */
  end (where) {
    if (this.#isPart || this.#seen.min > this.#seen.max) return
    for (const [name, side] of /** @type {const} */ ([['minzoom', 'min'], ['maxzoom', 'max']])) {
      const claimed = this.#zooms[side]
      const beyond = claimed !== undefined && (side === 'min' ? claimed < this.#seen.min : claimed > this.#seen.max)
      if (beyond) this.#report.add('metadata-disagrees', where, `${name} ${claimed}, the tiles have zooms ${this.#seen.min} to ${this.#seen.max}`)
    }
  }

  /** @param {{ext?: string}} found @returns {import('./decode.js').Problems} */
  compare ({ ext }) {
    if (!ext || !this.format || ext === this.format) return []
    // browsers see for themselves which image it is; a vector tile they cannot mistake for one
    return [[ext === 'pbf' || this.format === 'pbf' ? 'wrong-type' : 'mixed-formats', `${ext}, the file says ${this.format}`]]
  }
}

/**
 * The valid fields of a metadata object that describe the tiles.
 * @param {Record<string, any>} metadata
 * @param {(why: string) => void} onWrong called for the others
 */
export function claimsOf (metadata, onWrong) {
  const { minzoom, maxzoom, bounds, format } = metadata
  const zoom = (name, value) => {
    if (value === undefined || value === null || value === '') return undefined
    const number = typeof value === 'string' && /^\s*\d+(\.0+)?\s*$/.test(value) ? +value : value
    if (Number.isInteger(number) && number >= 0 && number <= 30) return number
    onWrong(`${name} ${JSON.stringify(value)}`)
    return undefined
  }
  /** @type {any} */
  const claims = { minzoom: zoom('minzoom', minzoom), maxzoom: zoom('maxzoom', maxzoom), grid: layerFieldsOf(metadata).grid }
  if (claims.minzoom > claims.maxzoom) onWrong(`minzoom ${minzoom} is greater than maxzoom ${maxzoom}`)
  try {
    if (bounds !== undefined && bounds !== null && bounds !== '') claims.bounds = parseBbox(bounds)
  } catch {
    onWrong(`bounds ${JSON.stringify(bounds)}`)
  }
  const ext = extensionOf(String(format).toLowerCase())
  if (format !== undefined && !ext && !(typeof format === 'string' && MEDIA_TYPE.test(format))) onWrong(`format ${JSON.stringify(format)}`)
  else if (format !== undefined) claims.format = ext ?? extensionOfType(format)
  return claims
}
