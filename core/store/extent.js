// Which zooms were seen, and where: what a load tells the layer document, and an export its target.
import { tileBounds } from '../grid.js'
import { extensionOf } from '../images.js'

const clamp = (value, most) => Math.min(Math.max(value, -most), most)

/** The box of columns and rows seen at each zoom. */
export class Extent {
  /** Zoom -> west, north, east and south most of the columns and rows. @type {Map<number, number[]>} */
  zooms = new Map()

  add (z, x, y) {
    const box = this.zooms.get(z)
    if (!box) this.zooms.set(z, [x, y, x, y])
    else {
      if (x < box[0]) box[0] = x
      if (y < box[1]) box[1] = y
      if (x > box[2]) box[2] = x
      if (y > box[3]) box[3] = y
    }
  }

  // the finest zoom says most exactly where the map is; coarse tiles reach far beyond it
  /** @returns {[number, number, number, number]} west, south, east, north */
  get bounds () {
    const z = Math.max(...this.zooms.keys())
    const [x0, y0, x1, y1] = /** @type {number[]} */ (this.zooms.get(z))
    const [west, , , north] = tileBounds(z, x0, y0)
    const [, south, east] = tileBounds(z, x1, y1)
    return [clamp(west, 180), clamp(south, 90), clamp(east, 180), clamp(north, 90)]
  }
}

/**
 * The fields of a layer that reach as far as what was loaded into it.
 * @param {Record<string, any>} stored
 * @param {Extent} extent
 * @param {{types: Record<string, number>}} summary
 */
export function widen (stored, extent, { types }) {
  const levels = [...extent.zooms.keys()].filter(z => z <= 30)
  if (!levels.length) return stored
  const [commonest] = Object.entries(types).sort((a, b) => b[1] - a[1])
  return {
    ...stored,
    minzoom: Math.min(stored.minzoom ?? Infinity, ...levels),
    maxzoom: Math.max(stored.maxzoom ?? 0, ...levels),
    bounds: union(stored.bounds, extent.bounds),
    ...(!stored.format && commonest && { format: extensionOf(commonest[0]) })
  }
}

/** The smallest box around two; either may be missing. */
export function union (a, b) {
  if (!a || !b) return a ?? b ?? null
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]
}
