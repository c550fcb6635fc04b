// Checks the values of configurations, and has small helpers for objects. rules.js has the checks for documents.

/** @param {number} most characters @returns {(value: any) => boolean} */
export const isText = most => value => typeof value === 'string' && value.length <= most

/** @returns {(value: any) => boolean} */
export const isWhole = (least, most) => value => Number.isInteger(value) && value >= least && value <= most

/** An object that is no list. @type {(value: any) => value is Record<string, any>} */
export const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object with the same names and changed values. @param {(value: any, name: string) => any} change */
export const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]))

/** An object with one value for several names. */
export const sameFor = (value, ...names) => Object.fromEntries(names.map(name => [name, value]))

/**
 * The names of counts, the greatest count first.
 * @param {Record<string, number> | Record<number, number>} counts
 * @returns {string[]}
 */
export const byCount = counts => Object.entries(counts).sort(([, a], [, b]) => b - a).map(([name]) => name)

/** The result of a function; undefined if it throws. @template T @param {() => T} read @returns {T | undefined} */
export function attempt (read) {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The value of a JSON text; undefined if it is invalid. @param {string} text @returns {any} */
export const jsonOf = text => attempt(() => JSON.parse(text))

/** JSON that is the same for equal values: fields in the order of their names. @returns {string} */
export function canonical (value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return Number.isNaN(value) ? 'NaN' : JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value).filter(name => value[name] !== undefined).sort()
  return `{${fields.map(name => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

/** Whether two values are the same as JSON; a missing value counts as null. */
export const isSameJson = (a, b) => canonical(a) === canonical(b)

/** A part of a URL as text; unchanged if it cannot be decoded. @param {string} text */
export const decodedText = text => attempt(() => decodeURIComponent(text)) ?? text

const SWITCHES = new Map([
  ...['true', '1', 'yes', 'on'].map(text => /** @type {const} */ ([text, true])),
  ...['false', '0', 'no', 'off'].map(text => /** @type {const} */ ([text, false]))
])

/**
 * Whether a switch of the environment or of a file is on; undefined if its value is no switch.
 * @param {unknown} value
 */
export const switchOf = value => SWITCHES.get(String(value).toLowerCase())
