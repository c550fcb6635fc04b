// Bars of the timeline. Pure.

const APART = 5 // pixels from bar to bar at least; changes closer than this share one
const LEAST = 4 // pixels: one tile is to be seen next to thousands

/**
 * @typedef {{x: number, from: number, to: number, index: number, changes: number, tiles: number, bytes: number}} Bin
 * from and to: milliseconds of the first and last change; index: of the first one in the list
 */

/**
 * Joins changes that are too close to tell apart. Grouped from the first change of all, not from the first one in view,
 * so that bars do not regroup while the axis is moved.
 * @param {Array<{time: string, tiles: number, bytes: number}>} changes
 * @param {import('./scale.js').Axis} axis
 * @returns {Bin[]}
 */
export function binChanges (changes, axis) {
  /** @type {Bin[]} */
  const bins = []
  let bin
  const near = APART * axis.msPerPx
  for (const [index, { time, tiles, bytes }] of changes.entries()) {
    const at = Date.parse(time)
    if (bin && at - bin.from < near) {
      bin.to = at
      bin.changes++
      bin.tiles += tiles
      bin.bytes += bytes
    } else bins.push(bin = { x: axis.x(at), from: at, to: at, index, changes: 1, tiles, bytes })
  }
  return bins
}

/**
 * As wide as the closest two allow, within measure.
 * @param {Bin[]} bins
 */
export function barWidth (bins) {
  let apart = Infinity
  for (let i = 1; i < bins.length; i++) apart = Math.min(apart, bins[i].x - bins[i - 1].x)
  return apart >= 14 ? 8 : apart >= 9 ? 6 : APART - 1
}

/**
 * By the square root of the tiles: they are an area, and the root is the side of it. One tile beside 5,000 can be seen,
 * and half as many still look less, which a logarithm would hide.
 * @param {number} tiles @param {number} most @param {number} height pixels of the highest bar
 */
export const barHeight = (tiles, most, height) => Math.max(LEAST, Math.sqrt(tiles / Math.max(most, 1)) * height)

/**
 * The bar nearest to a pixel, within reach.
 * @param {Bin[]} bins @param {number} x @param {number} reach pixels
 */
export function binAt (bins, x, reach) {
  let best = null
  for (const bin of bins) {
    if (Math.abs(bin.x - x) <= reach && (!best || Math.abs(bin.x - x) < Math.abs(best.x - x))) best = bin
  }
  return best
}

/**
 * A bar with a round top standing on the base line, as a part of an SVG path.
 * @param {number} x middle @param {number} base @param {number} width @param {number} height
 */
export function barPath (x, base, width, height) {
  const radius = Math.min(width / 2, height)
  const left = round(x - width / 2)
  return `M${left} ${base}V${round(base - height + radius)}a${radius} ${radius} 0 0 1 ${width} 0V${base}Z`
}

const round = number => Math.round(number * 10) / 10
