// Text that a store or a file holds must not act on what shows it: control characters move the cursor of a terminal,
// and bidirectional ones show a text in another order than a program reads it.

const HIDDEN = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu

/** For a terminal or a page. @param {unknown} text */
export const plainText = text => String(text).replace(HIDDEN, '\ufffd')

/** @param {string} text */
export const isPlainText = text => plainText(text) === text

const escaped = character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Text of JSON for a terminal: the same value, with these characters escaped. @param {string} json */
export const plainJsonText = json => json.replace(/[\p{Bidi_Control}\u007f-\u009f]/gu, escaped)

/** JSON for a terminal. @param {unknown} value @param {number} [indent] */
export const plainJson = (value, indent) => plainJsonText(JSON.stringify(value, null, indent) ?? '')

// How numbers that people compare are rounded: the same in the commands and in the viewer, whatever their language.

const UNITS = ['kB', 'MB', 'GB', 'TB']

/**
 * Bytes in the largest unit of which there is one, with a digit behind the point below 100.
 * @param {number} bytes 1000 or more
 * @param {string[]} [units] of 1000 bytes, of a million, …
 * @returns {{value: number, digits: 0 | 1, unit: string}} value: rounded; digits: behind the point
 */
export function inUnits (bytes, units = UNITS) {
  let value = bytes / 1000
  let at = 0
  for (; value >= 999.5 && at < units.length - 1; at++) value /= 1000
  const digits = value < 99.95 ? 1 : 0
  return { value: +value.toFixed(digits), digits, unit: units[at] }
}

/** Bounds in degrees, to some ten metres. @param {number[]} bounds */
export const inDegrees = bounds => bounds.map(degrees => +degrees.toFixed(4))
