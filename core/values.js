// What a value of a document may be.

/** @param {number} most characters @returns {(value: any) => boolean} */
export const text = most => value => typeof value === 'string' && value.length <= most

/** @returns {(value: any) => boolean} */
export const whole = (least, most) => value => Number.isInteger(value) && value >= least && value <= most

/** @param {(value: any) => boolean} test @returns {(value: any) => boolean} */
export const listOf = test => value => Array.isArray(value) && value.every(test)

/** An object that is no list. @returns {boolean} */
export const object = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns {boolean} */
export const flag = value => typeof value === 'boolean'

/**
 * Whether lists and objects are so deep within each other at most: what walks over a value recurses.
 * @returns {boolean}
 */
export const isShallow = (value, depth) =>
  typeof value !== 'object' || value === null ||
  (depth > 0 && Object.values(value).every(inner => isShallow(inner, depth - 1)))
