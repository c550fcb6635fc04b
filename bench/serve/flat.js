// Is a row of samples flat? A heap breathes, so tenths are compared by their medians.
import { median } from '../measure.js'

export const LIMIT = 0.1 // growth that is not called growth

/**
 * From the second tenth, when caches are full and the program has settled, to the last.
 * @param {number[]} values in the order of time
 * @returns {{tenths: number[], growth: number, flat: boolean}} growth: share of the second tenth
 */
export function flatness (values) {
  if (values.length < 20) throw new Error(`${values.length} samples say nothing about growth`)
  const tenths = Array.from({ length: 10 }, (_, tenth) => median(values.slice(Math.floor(tenth * values.length / 10), Math.floor((tenth + 1) * values.length / 10))))
  const growth = tenths[9] / tenths[1] - 1
  return { tenths, growth, flat: growth <= LIMIT }
}
