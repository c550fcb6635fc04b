// Finds out whether tiles lie in a wrong place, because rows are counted from the other side or columns and rows are
// exchanged. A statement of where they are, such as bounds in metadata, is compared with the boxes of the tiles at each
// zoom. A turn is reported only if no tile lies there as read, and all tiles do after exactly one turn. Nothing is
// reported for maps on both sides of the equator, which look much the same either way.
import { eastOf, flipY, latToY, tileRanges } from '../../core/index.js'

const LEAST_ZOOM = 3 // coarser tiles say little about a place
const SLACK = 0.1 // of the size of the bounds: tiles may reach so far beyond them, since bounds are rounded
const FINE = 6 // zoom from which on tiles may reach one tile beyond the bounds in any case

/**
 * @typedef {'ROWS_FLIPPED' | 'AXES_SWAPPED'} Turn
 * @typedef {[number, number, number, number]} Box first column and row, last column and row
 *
 * @typedef {object} Statement of where tiles are
 * @property {import('../../core/grid.js').Bbox} bounds
 * @property {number} most part of the world that the bounds may cover: larger ones prove nothing
 * @property {boolean} [isPart] the tiles may cover more than the bounds
 */

/** @type {Record<Turn, (z: number, box: Box) => Box>} */
const turns = {
  ROWS_FLIPPED: (z, [x0, y0, x1, y1]) => [x0, flipY(z, y1), x1, flipY(z, y0)],
  AXES_SWAPPED: (z, [x0, y0, x1, y1]) => [y0, x0, y1, x1]
}

/**
 * Turns the boxes of tiles.
 * @param {Map<number, Box>} boxes by zoom @param {Turn} turn
 * @returns {Map<number, Box>}
 */
export const turned = (boxes, turn) => new Map([...boxes].map(([z, box]) => [z, turns[turn](z, box)]))

/**
 * @param {Map<number, Box>} boxes of the tiles, by zoom
 * @param {Statement} statement
 * @returns {Turn | 'as read' | undefined} which way the tiles agree with the statement; nothing if none or several do
 */
export function orientation (boxes, { bounds, most, isPart = false }) {
  const fineBoxes = [...boxes].filter(([z]) => z >= LEAST_ZOOM)
  if (!fineBoxes.length || partOfWorld(bounds) > most) return undefined
  if (fineBoxes.some(([z, box]) => tileRanges(bounds, z).some(range => meets(box, range)))) return 'as read'
  const fittingTurns = /** @type {Turn[]} */ (Object.keys(turns)).filter(turn => fineBoxes.every(([z, box]) => {
    const turnedBox = turns[turn](z, box)
    return tileRanges(bounds, z).some(range =>
      isWithin(turnedBox, widened(range, z)) || (isPart && covers(turnedBox, range)))
  }))
  return fittingTurns.length === 1 ? fittingTurns[0] : undefined
}

/** @typedef {import('../../core/grid.js').TileRange} TileRange */

/** @param {Box} box @param {TileRange} range */
const meets = ([left, top, right, bottom], { x0, y0, x1, y1 }) =>
  left <= x1 && right >= x0 && top <= y1 && bottom >= y0

/** @param {Box} box @param {TileRange} range */
const isWithin = ([left, top, right, bottom], { x0, y0, x1, y1 }) =>
  left >= x0 && right <= x1 && top >= y0 && bottom <= y1

/** @param {Box} box @param {TileRange} range */
const covers = ([left, top, right, bottom], { x0, y0, x1, y1 }) =>
  left <= x0 && right >= x1 && top <= y0 && bottom >= y1

/** @param {TileRange} range @param {number} z @returns {TileRange} */
function widened ({ x0, y0, x1, y1 }, z) {
  const least = z < FINE ? 0 : 1
  const x = Math.max(least, (x1 - x0 + 1) * SLACK)
  const y = Math.max(least, (y1 - y0 + 1) * SLACK)
  return { x0: x0 - x, x1: x1 + x, y0: y0 - y, y1: y1 + y }
}

/** @param {import('../../core/grid.js').Bbox} bounds */
function partOfWorld (bounds) {
  const [west, south, , north] = bounds
  return (eastOf(bounds) - west) / 360 * (latToY(south, 0) - latToY(north, 0))
}
