// Makes text of a store or a file safe to show. Control characters move the cursor of a terminal, and bidirectional
// ones show a text in another order than a program reads it.

const HIDDEN = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu

/** Text for a terminal or a page. @param {unknown} text */
export const plainText = text => String(text).replace(HIDDEN, '\ufffd')

/** @param {string} text */
export const isPlainText = text => plainText(text) === text

const escaped = character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Text of JSON for a terminal: the same value, with these characters escaped. @param {string} json */
export const plainJsonText = json => json.replace(/[\p{Bidi_Control}\u007f-\u009f]/gu, escaped)

/** JSON for a terminal. @param {unknown} value @param {number} [indent] */
export const plainJson = (value, indent) => plainJsonText(JSON.stringify(value, null, indent) ?? '')

// Rounding of numbers that people compare: the same in the commands and in the viewer, in every language.

const UNITS = ['kB', 'MB', 'GB', 'TB']

/**
 * Bytes in the largest unit of which there is at least one; below 100 with one decimal place.
 * @param {number} bytes 1000 or more
 * @param {string[]} [units] of 1000 bytes, of a million, …
 * @returns {{value: number, digits: 0 | 1, unit: string}} value: rounded; digits: decimal places
 */
export function inUnits (bytes, units = UNITS) {
  let value = bytes / 1000
  let unitIndex = 0
  for (; value >= 999.5 && unitIndex < units.length - 1; unitIndex++) value /= 1000
  const digits = value < 99.95 ? 1 : 0
  return { value: +value.toFixed(digits), digits, unit: units[unitIndex] }
}

/** Bounds in degrees, rounded to about ten metres. @param {number[]} bounds */
export const inDegrees = bounds => bounds.map(degrees => +degrees.toFixed(4))
