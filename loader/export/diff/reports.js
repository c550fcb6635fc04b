// Writes the tiles that differ, as JSON lines or as polygons for a map, while they are compared.
import { gridOf } from '../../../core/index.js'
import { union } from '../../../core/store/extent.js'
import { AtomicFile, openOutput } from '../../formats/atomic-file.js'

const DIGITS = 10 // of a degree: 0.01 mm, and a hundredth of a tile of zoom 30

/** @param {import('./changes.js').Change} change */
function describeChange ({ z, x, y, change, from, to, since }) {
  return { z, x, y, change, from: from?.time ?? null, to: to?.time ?? since ?? null, bytes: (to ?? from)?.size ?? 0 }
}

/** A file or stream that is written piece by piece. */
class Report {
  tiles = 0

  /** Call `open` instead. @param {Awaited<ReturnType<typeof openOutput>>} out */
  constructor (out) {
    this.out = out
  }

  finish () { return this.out.finish() }
  discard () { return this.out.discard() }
}

/** One JSON object per line. */
export class ListReport extends Report {
  /** @param {string} file @param {NodeJS.WritableStream} stdout used if the file is `-` */
  static open = async (file, stdout) => new ListReport(await openOutput(file, stdout))

  /** @param {import('./changes.js').Change} change */
  add (change) {
    this.tiles++
    return this.out.write(`${JSON.stringify(describeChange(change))}\n`)
  }
}

/** A GeoJSON FeatureCollection (RFC 7946) with one polygon per tile. */
export class GeoJsonReport extends Report {
  #begin
  #everyZoom
  #deepest = -1
  #separator = ''
  #bounds
  #grid

  /**
   * @param {string} file
   * @param {{name: string, everyZoom?: boolean, grid?: import('../../../core/grids/grid.js').Grid}} options everyZoom:
   * polygons for the tiles of all zooms, not only of the deepest one; grid: of the tiles
   */
  static open = async (file, options) => new GeoJsonReport(await AtomicFile.open(file), options)

  /** @param {AtomicFile} out @param {Parameters<typeof GeoJsonReport.open>[1]} options */
  constructor (out, { name, everyZoom = false, grid = gridOf() }) {
    super(out)
    this.#grid = grid
    this.#begin = `{"type":"FeatureCollection","name":${JSON.stringify(name)},"features":[`
    this.#everyZoom = everyZoom
  }

  /** The zoom of the polygons, if all have the same one. */
  get zoom () {
    return this.#everyZoom || this.#deepest < 0 ? undefined : this.#deepest
  }

  /** @param {import('./changes.js').Change} change */
  async add (change) {
    const { z, x, y } = change
    // zooms come in the order of ids, 10 before 9: the deepest one is known only at the end
    if (!this.#everyZoom && z < this.#deepest) return
    if (!this.#everyZoom && z > this.#deepest) await this.#restart()
    this.#deepest = Math.max(z, this.#deepest)
    this.tiles++
    const bounds = this.#grid.tileBounds(z, x, y).map(degrees => +degrees.toFixed(DIGITS))
    this.#bounds = union(this.#bounds, bounds)
    const feature = { type: 'Feature', properties: describeChange(change), geometry: geometryOf(bounds) }
    await this.out.write(`${this.#separator || this.#begin}\n${JSON.stringify(feature)}`)
    this.#separator = ','
  }

  async #restart () {
    if (this.#separator) await /** @type {AtomicFile} */ (this.out).restart()
    this.#separator = ''
    this.#bounds = undefined
    this.tiles = 0
  }

  async finish () {
    const bbox = this.#bounds ? `,"bbox":${JSON.stringify(this.#bounds)}` : ''
    await this.out.write(`${this.#separator ? '' : this.#begin}\n]${bbox}}\n`)
    await super.finish()
  }
}

/** The geometry of a box of degrees. A box over the antimeridian is cut there. */
function geometryOf (/** @type {number[]} */ [west, south, east, north]) {
  if (west <= east) return { type: 'Polygon', coordinates: [outline(west, south, east, north)] }
  return {
    type: 'MultiPolygon', coordinates: [[outline(west, south, 180, north)], [outline(-180, south, east, north)]]
  }
}

/** Counterclockwise. */
const outline = (west, south, east, north) =>
  [[west, south], [east, south], [east, north], [west, north], [west, south]]

/**
 * The differing features of vector tiles, as a FeatureCollection. It is written at the end, because a feature may be in
 * several tiles.
 */
export class FeatureReport extends Report {
  /**
   * @param {string} file @param {NodeJS.WritableStream} stdout used if the file is `-`
   * @param {{name: string, changes: import('./features.js').FeatureChanges}} options
   */
  static open = async (file, stdout, options) => new FeatureReport(await openOutput(file, stdout), options)

  /**
   * @param {Awaited<ReturnType<typeof openOutput>>} out
   * @param {{name: string, changes: import('./features.js').FeatureChanges}} options
   */
  constructor (out, { name, changes }) {
    super(out)
    this.name = name
    this.changes = changes
  }

  /** @param {import('./changes.js').Change} change */
  add (change) { return this.changes.add(change) }

  async finish () {
    await this.changes.finish()
    await this.out.write(`{"type":"FeatureCollection","name":${JSON.stringify(this.name)},"features":[`)
    let separator = ''
    for (const feature of this.changes.features()) {
      await this.out.write(`${separator}\n${JSON.stringify(feature)}`)
      separator = ','
    }
    await this.out.write('\n]}\n')
    await super.finish()
  }
}
