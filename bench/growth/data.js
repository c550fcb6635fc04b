// A store that grows in tiles: the blocks of the histories' benchmark, wider at every stage, each tile with an older edition and
// every tenth with a newer one, so that a view of the map holds the same rows however many tiles there are in all.
import { NEW, OLD } from '../block.js'
import { newTiles } from '../history/data.js'
import { noiseTile } from '../tiles.js'

export const BYTES = 1000 // of an image, nearly: what grows is to be the trees, not the pictures
export const SHARE = 10 // every so many tiles are changed by the newer edition

/** @param {number} columns @param {number} rows of a block; there is one at each of four zooms */
const stage = (columns, rows) => ({ tiles: 4 * columns * rows, versions: 4 * columns * rows * (1 + 1 / SHARE), wide: [columns, rows], deep: [0, 0] })

export const FULL = [stage(50, 50), stage(100, 75), stage(200, 125), stage(300, 250), stage(500, 500)]
export const QUICK = [stage(50, 20), stage(60, 50), stage(100, 100)]

/** @typedef {ReturnType<typeof stage>} Stage */
/** @typedef {{layer: string, z: number, x: number, y: number}} Tile */

/** Exactly one tile of any ten in a row, from west to east. @param {{x: number, y: number}} tile */
export const changes = ({ x, y }) => (x + 3 * y) % SHARE === 0

/** @param {{x: number, y: number}} tile @param {string} time */
export const bytesOf = ({ x, y }, time) => noiseTile((x * 65536 + y) * 2 + (time === NEW ? 1 : 0), BYTES)

/**
 * An edition of the tiles that the stage before did not hold, in the order of their ids. The newer one is whole as well: most of its
 * tiles are what they were.
 * @param {Stage} wanted @param {Stage | undefined} before @param {string} time
 */
export function * edition (wanted, before, time) {
  for (const tile of newTiles(wanted, before)) yield { ...tile, time, bytes: bytesOf(tile, time === NEW && changes(tile) ? NEW : OLD) }
}
