// Where people look: a window over the map that is moved by a part of itself, in one direction for some time, then in
// another; a browser asks only for tiles that it has not shown before.
import { random } from '../tiles.js'
import { CORNER } from './tiles.js'

const WINDOW = { columns: 5, rows: 4 }
const STEP = { columns: 2, rows: 2 } // of a pan
const LONGEST = 7 // pans in one direction

/** @typedef {{x0: number, y0: number, side: number}} Region */

/**
 * A square of regions of a layer.
 * @param {import('./tiles.js').Layer} layer
 * @param {number} count
 * @returns {Region[]}
 */
export function regionsOf ({ side }, count) {
  const across = Math.sqrt(count)
  const own = Math.floor(side / across)
  return Array.from({ length: count },
    (_, at) => ({ x0: CORNER + at % across * own, y0: CORNER + Math.floor(at / across) * own, side: own }))
}

/**
 * Views: the tiles that are new in each.
 * @param {import('./tiles.js').Layer} layer @param {Region} region @param {{views: number, seed: number}} options
 * @returns {import('./tiles.js').Place[][]}
 */
export function pans (layer, { x0, y0, side }, { views, seed }) {
  const next = random(seed)
  const pick = most => Math.floor(next() * most)
  const seen = new Set()
  const found = []
  let [x, y] = [pick(side - WINDOW.columns), pick(side - WINDOW.rows)]
  let [dx, dy, left] = [0, 0, 0]
  for (let tries = 0; found.length < views && tries < views * 20; tries++) {
    const fresh = []
    for (let column = x; column < x + WINDOW.columns; column++) {
      for (let row = y; row < y + WINDOW.rows; row++) {
        const key = column * side + row
        if (!seen.has(key)) fresh.push({ layer, z: layer.z, x: x0 + column, y: y0 + row })
        seen.add(key)
      }
    }
    if (fresh.length) found.push(fresh)
    const isInside = () => x + dx >= 0 && y + dy >= 0 && x + dx <= side - WINDOW.columns && y + dy <= side - WINDOW.rows
    while (!left || !isInside() || (!dx && !dy)) {
      [dx, dy, left] = [(pick(3) - 1) * STEP.columns, (pick(3) - 1) * STEP.rows, 1 + pick(LONGEST)]
    }
    x += dx
    y += dy
    left--
  }
  return found
}

/** One tile a view, anywhere. @param {import('./tiles.js').Layer} layer @returns {import('./tiles.js').Place[][]} */
export function jumps (layer, { count, seed }) {
  const next = random(seed)
  const { side, z } = layer
  const indexes = new Set()
  while (indexes.size < count) indexes.add(Math.floor(next() * side * side))
  return [...indexes].map(index => [{ layer, z, x: CORNER + Math.floor(index / side), y: CORNER + index % side }])
}
