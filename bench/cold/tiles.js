// The layers of bench/cold.js: seeded tiles, all of one length.
import { NEW, OLD } from '../block.js'
import { random, tileOfLength } from '../tiles.js'

export const LENGTH = 4400

/**
 * @typedef {object} Layer
 * @property {string} name
 * @property {number} z
 * @property {number} side tiles
 * @property {string[]} times
 * @property {number} share of its places that have a tile
 * @property {number} seed
 * @typedef {{layer: Layer, z: number, x: number, y: number}} Place
 */

export const CORNER = 5000 // column and row

/** @type {Record<'map' | 'single' | 'sparse' | 'other', Layer>} other: for the warm-up */
export const LAYERS = {
  map: { name: 'map', z: 14, side: 100, times: [OLD, NEW], share: 1, seed: 1 },
  single: { name: 'single', z: 14, side: 60, times: [OLD, NEW], share: 1, seed: 100_001 },
  sparse: { name: 'sparse', z: 14, side: 100, times: [NEW], share: 1 / 16, seed: 200_001 },
  other: { name: 'other', z: 14, side: 40, times: [OLD, NEW], share: 1, seed: 300_001 }
}

const indexOf = ({ layer, x, y }) => (x - CORNER) * layer.side + y - CORNER

const hasTile = place => random(place.layer.seed + indexOf(place))() < place.layer.share

/** The places that have a tile, in the order of their ids. @param {Layer} layer @returns {Place[]} */
export function placesOf (layer) {
  const { z, side } = layer
  const places = Array.from({ length: side * side },
    (_, index) => ({ layer, z, x: CORNER + Math.floor(index / side), y: CORNER + index % side }))
  return places.filter(hasTile)
}

const tilesBySeed = new Map()

/** The tile at a time, or undefined if there is none. @param {Place} place */
export function bytesOf (place, time) {
  const { layer } = place
  if (!hasTile(place) || !layer.times.includes(time)) return undefined
  const seed = layer.seed + indexOf(place) * 2 + (time === NEW ? 1 : 0)
  if (!tilesBySeed.has(seed)) tilesBySeed.set(seed, tileOfLength(seed, LENGTH))
  return tilesBySeed.get(seed)
}

/** @param {Layer} layer @param {string} time */
export function * versionsOf (layer, time) {
  for (const place of placesOf(layer)) {
    yield { layer: layer.name, z: place.z, x: place.x, y: place.y, time, bytes: bytesOf(place, time) }
  }
}
