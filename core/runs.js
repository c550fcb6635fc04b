// A run is one load or one single write. Its name begins with the moment it began, so that a later run is greater, and
// two of one moment still have different names: 20240301T101500123-4f9k.
import { isValue } from './rules.js'
import { now } from './times.js'

const stampOf = iso => iso.replace(/[-:.Z]/g, '')

/**
 * The name of a run that begins now.
 * @param {string} [after] a run that it has to be greater than, whatever the clock says
 */
export function newRun (after = '') {
  const ownStamp = stampOf(new Date().toISOString())
  const stamp = ownStamp > after.split('-')[0] ? ownStamp : stampOf(new Date(dateOf(after).getTime() + 1).toISOString())
  return `${stamp}-${Math.floor(Math.random() * 36 ** 4).toString(36).padStart(4, '0')}`
}

function dateOf (run) {
  const [, year, month, day, hour, minute, second, fraction = ''] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d*)/.exec(run) ?? []
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`)
  return isNaN(date.getTime()) ? new Date() : date
}

/**
 * The run at a moment, for what names none: versions of older stores and of other programs.
 * @param {string} [time] exact
 */
export const runAt = time => typeof time === 'string' ? stampOf(time) : ''

/** When a run began, in the form every document uses. */
export const beganAt = run => run ? dateOf(run).toISOString().slice(0, 19) + 'Z' : now()

/** @param {any} value @returns {boolean} */
export const isRun = value => isValue(value, 'run')
