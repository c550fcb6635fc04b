// Makes and reads the names of runs. A name begins with the moment at which the run started, so that names sort by
// time. Two runs of one moment have different names: 20240301T101500123-4f9k.
import { isValue } from './rules.js'
import { fromMilliseconds, now } from './times.js'

const stampOf = iso => iso.replace(/[-:.Z]/g, '')

/**
 * The name of a run that begins now.
 * @param {string} [after] a run after which the new name must sort, whatever the clock says
 */
export function newRun (after = '') {
  const nowStamp = stampOf(new Date().toISOString())
  const isLater = nowStamp > after.split('-')[0]
  const stamp = isLater ? nowStamp : stampOf(new Date(dateOf(after).getTime() + 1).toISOString())
  return `${stamp}-${Math.floor(Math.random() * 36 ** 4).toString(36).padStart(4, '0')}`
}

function dateOf (run) {
  const [, year, month, day, hour, minute, second, fraction = ''] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d*)/.exec(run) ?? []
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`)
  return isNaN(date.getTime()) ? new Date() : date
}

/**
 * The run at a moment, for versions that name none: those of older stores and of other programs.
 * @param {string} [time] exact
 */
export const runAt = time => typeof time === 'string' ? stampOf(time) : ''

/** The time at which a run started, in the form of documents. */
export const beganAt = run => run ? fromMilliseconds(dateOf(run)) : now()

/** @param {any} value @returns {boolean} */
export const isRun = value => isValue(value, 'run')
