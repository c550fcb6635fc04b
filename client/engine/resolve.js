// Decides which image a tile shows as of a time. Pure functions over the version index.
import { isImage } from './version-index.js'

/**
 * @typedef {import('./version-index.js').Version} Version
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {object} Picture
 * @property {Version} version the tile's own, or an ancestor's
 * @property {number} up zooms up to that ancestor, 0 for its own
 * @property {number} dx column of the part of the image that is shown; there are 2^up columns
 * @property {number} dy
 */

/**
 * Finds the image of a tile: its own, or the enlarged part of the nearest ancestor that has one.
 * @param {import('./version-index.js').VersionIndex} index
 * @param {{z: number, x: number, y: number}} tile
 * @param {string | null} time
 * @param {{overzoom: number, minzoom: number}} options
 * @returns {Picture | null | undefined} null: there is nothing to draw; undefined: the index does not know the tile
 */
export function resolve (index, { z, x, y }, time, { overzoom, minzoom }) {
  for (let up = 0; up === 0 || (up <= overzoom && z - up >= minzoom); up++) {
    const [ax, ay] = [Math.floor(x / 2 ** up), Math.floor(y / 2 ** up)]
    if (!index.isKnown(z - up, ax, ay)) return undefined
    const version = index.at(z - up, ax, ay, time)
    if (version && isImage(version)) return { version, up, dx: x - ax * 2 ** up, dy: y - ay * 2 ** up }
  }
  return null
}

/**
 * The columns of the ancestors of these columns.
 * @param {Column[]} columns
 * @param {{overzoom: number, minzoom: number}} options
 * @returns {Column[]}
 */
export function ancestors (columns, { overzoom, minzoom }) {
  /** @type {Map<string, Column>} */
  const ancestorsByName = new Map()
  for (const { z, x, y0, y1 } of columns) {
    for (let up = 1; up <= overzoom && z - up >= minzoom; up++) {
      const column = {
        z: z - up, x: Math.floor(x / 2 ** up), y0: Math.floor(y0 / 2 ** up), y1: Math.floor(y1 / 2 ** up)
      }
      const name = `${column.z}/${column.x}`
      const other = ancestorsByName.get(name)
      if (other) Object.assign(other, { y0: Math.min(other.y0, column.y0), y1: Math.max(other.y1, column.y1) })
      else ancestorsByName.set(name, column)
    }
  }
  return [...ancestorsByName.values()]
}

/**
 * The times around a time at which the view changes, the nearest first: 1 after, 1 before, 2 after, …
 * @param {{time: string}[]} changes ascending
 * @param {number} count on each side
 * @param {boolean} [forward] which side comes first
 * @returns {string[]}
 */
export function neighbours (changes, time, count, forward = true) {
  let shownIndex = changes.length - 1 // the change that is shown
  while (shownIndex >= 0 && time !== null && changes[shownIndex].time > time) shownIndex--
  const times = []
  for (let step = 1; step <= count; step++) {
    for (const direction of forward ? [1, -1] : [-1, 1]) {
      const change = changes[shownIndex + direction * step]
      if (change) times.push(change.time)
    }
  }
  return times
}

/**
 * The part of the grid that a range of a map's tiles covers, without the copies of the world left and right of it.
 * @param {{min: {x: number, y: number}, max: {x: number, y: number}}} range
 * @param {number} z
 * @param {import('../../core/grid.js').TileRange[]} [within] the ranges of the layer
 * @param {boolean} [wraps] whether the map has such copies
 * @returns {Column[]}
 */
export function viewColumns ({ min, max }, z, within, wraps = true) {
  const across = 2 ** z
  const [top, bottom] = [Math.max(min.y, 0), Math.min(max.y, across - 1)]
  const columns = []
  const last = Math.min(max.x, min.x + across - 1)
  for (let column = wraps ? min.x : Math.max(min.x, 0); column <= (wraps ? last : max.x); column++) {
    const x = wraps ? ((column % across) + across) % across : column
    for (const range of within ?? [{ x0: 0, x1: across - 1, y0: 0, y1: across - 1 }]) {
      const [y0, y1] = [Math.max(top, range.y0), Math.min(bottom, range.y1)]
      if (x >= range.x0 && x <= range.x1 && y0 <= y1) columns.push({ z, x, y0, y1 })
    }
  }
  return columns
}

/**
 * The columns that contain these tiles and no others: neighbours in a column share one range of rows.
 * @param {{z: number, x: number, y: number}[]} tiles
 */
export function columnsOf (tiles) {
  /** @type {Column[]} */
  const columns = []
  for (const { z, x, y } of [...tiles].sort((a, b) => a.z - b.z || a.x - b.x || a.y - b.y)) {
    const last = columns.at(-1)
    if (last?.z === z && last.x === x && y <= last.y1 + 1) last.y1 = y
    else columns.push({ z, x, y0: y, y1: y })
  }
  return columns
}

/** Whether a tile is in one of these columns. @param {Column[]} columns */
export const isInColumns = (columns, z, x, y) =>
  columns.some(column => column.z === z && column.x === x && column.y0 <= y && y <= column.y1)
