// Generates walks over the map. A window moves by a part of itself, in one direction for some time, then in another. As
// a browser does, it requests only tiles that it has not shown before.
import { random } from '../tiles.js'
import { CORNER } from './tiles.js'

const WINDOW = { columns: 5, rows: 4 }
const STEP = { columns: 2, rows: 2 } // of a pan
const LONGEST = 7 // pans in one direction

/** @typedef {{x0: number, y0: number, side: number}} Region */

/**
 * The regions of a layer: a square of squares.
 * @param {import('./tiles.js').Layer} layer
 * @param {number} count
 * @returns {Region[]}
 */
export function regionsOf ({ side }, count) {
  const across = Math.sqrt(count)
  const size = Math.floor(side / across)
  return Array.from({ length: count },
    (_, at) => ({ x0: CORNER + at % across * size, y0: CORNER + Math.floor(at / across) * size, side: size }))
}

/**
 * The new tiles of each view of a walk.
 * @param {import('./tiles.js').Layer} layer @param {Region} region @param {{views: number, seed: number}} options
 * @returns {import('./tiles.js').Place[][]}
 */
export function pans (layer, { x0, y0, side }, { views, seed }) {
  const next = random(seed)
  const pick = most => Math.floor(next() * most)
  const seenKeys = new Set()
  const walk = []
  let [x, y] = [pick(side - WINDOW.columns), pick(side - WINDOW.rows)]
  let [dx, dy, left] = [0, 0, 0]
  for (let tries = 0; walk.length < views && tries < views * 20; tries++) {
    const newTiles = []
    for (let column = x; column < x + WINDOW.columns; column++) {
      for (let row = y; row < y + WINDOW.rows; row++) {
        const key = column * side + row
        if (!seenKeys.has(key)) newTiles.push({ layer, z: layer.z, x: x0 + column, y: y0 + row })
        seenKeys.add(key)
      }
    }
    if (newTiles.length) walk.push(newTiles)
    const isInside = () => x + dx >= 0 && y + dy >= 0 && x + dx <= side - WINDOW.columns && y + dy <= side - WINDOW.rows
    while (!left || !isInside() || (!dx && !dy)) {
      [dx, dy, left] = [(pick(3) - 1) * STEP.columns, (pick(3) - 1) * STEP.rows, 1 + pick(LONGEST)]
    }
    x += dx
    y += dy
    left--
  }
  return walk
}

/**
 * Views with a single tile at a random place.
 * @param {import('./tiles.js').Layer} layer @returns {import('./tiles.js').Place[][]}
 */
export function jumps (layer, { count, seed }) {
  const next = random(seed)
  const { side, z } = layer
  const indexes = new Set()
  while (indexes.size < count) indexes.add(Math.floor(next() * side * side))
  return [...indexes].map(index => [{ layer, z, x: CORNER + Math.floor(index / side), y: CORNER + index % side }])
}
