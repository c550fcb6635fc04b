// Ids of tiles in PMTiles: zoom after zoom, and along a Hilbert curve in each. A square of 4^k ids is one tile k zooms
// further up, so that squares outside of an area can be skipped at once.
import { tileIdToZxy } from 'pmtiles'

export const LAST_ZOOM = 26 // the ids of deeper zooms are no exact numbers, and readers refuse them

/** The first id of each zoom, and of the zoom after the last. */
const firstIds = Array.from({ length: LAST_ZOOM + 2 }, (_, z) => (4 ** z - 1) / 3)

/** All ids are smaller. */
export const ID_LIMIT = firstIds[LAST_ZOOM + 1]

export const zoomOf = id => firstIds.findLastIndex(first => first <= id)

/**
 * Selects ids by their area and zooms.
 * @param {{area?: import('../../../core/area.js').Area, zooms?: import('../../../core/grid.js').Zooms}} selection
 */
export function idSelection ({ area, zooms = { min: 0, max: LAST_ZOOM } }) {
  /** Whether any of the tiles that a tile is split into, k zooms further down, is selected. */
  function touches ([z, x, y], k = 0) {
    if (!area || area.grid.isWebMercator) return !area || area.has(z, x, y)
    const side = 2 ** k
    return area.touches(z + k, { x0: x * side, x1: (x + 1) * side - 1, y0: y * side, y1: (y + 1) * side - 1 })
  }

  /** Splits the ids from `from` to before `to` by zoom. Ids of a part are counted from the first id of its zoom. */
  function * parts (from, to) {
    for (let z = zooms.min; z <= Math.min(zooms.max, LAST_ZOOM); z++) {
      const [first, next] = [firstIds[z], firstIds[z + 1]]
      if (first < to && next > from) yield { z, from: Math.max(from, first) - first, to: Math.min(to, next) - first }
    }
  }

  /** The selected tiles of the square of 4^k ids from `start` on, as far as it lies from `from` to before `to`. */
  function * square (z, k, start, from, to) {
    const size = 4 ** k
    if (start >= to || start + size <= from) return
    const tile = tileIdToZxy(firstIds[z - k] + start / size)
    if (!touches(tile, k)) return
    if (k === 0) yield tile
    else for (let quarter = 0; quarter < 4; quarter++) yield * square(z, k - 1, start + quarter * size / 4, from, to)
  }

  /** The selected tiles among the ids from `from` to before `to`. @returns {Generator<[number, number, number]>} */
  function * tiles (from, to) {
    for (const part of parts(from, to)) {
      if (area && part.to - part.from > 1) yield * square(part.z, part.z, 0, part.from, part.to)
      else {
        for (let index = part.from; index < part.to; index++) {
          const tile = tileIdToZxy(firstIds[part.z] + index)
          if (touches(tile)) yield tile
        }
      }
    }
  }

  return {
    tiles,
    /** Whether any of the ids from `from` to before `to` is selected. */
    any: (from, to) => !tiles(from, to).next().done
  }
}
