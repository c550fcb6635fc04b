// Values of options that several commands take.
import { TilecouchError } from '../../core/index.js'

/**
 * A whole number from 1 on; nothing stays nothing.
 * @param {string} option as the message names it
 * @param {string | undefined} value
 * @param {number} digits it may have
 */
export function wholeNumber (option, value, digits) {
  if (value === undefined) return undefined
  if (!/^[1-9]\d*$/.test(value) || value.length > digits) throw new TilecouchError('BAD_OPTION', { option, value })
  return +value
}
