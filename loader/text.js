// How numbers, sizes, times and tables look in messages and reports.
import { inUnits } from '../core/text.js'

/** @param {number | undefined} number */
export const count = number => Number(number).toLocaleString('en-US')

/** @param {number | undefined} number @param {string} noun in the singular */
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`

/** @returns {string} such as `1.5 MB` */
export function bytes (number) {
  if (number < 999.5) return `${Math.round(number)} B`
  const { value, digits, unit } = inUnits(number)
  return `${value.toFixed(digits)} ${unit}`
}

/** @returns {string} such as `1:02:03` */
export function duration (seconds) {
  const total = Math.max(0, Math.round(seconds))
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60]
  return h ? `${h}:${String(m).padStart(2, '0')}:${String(s).padStart(2, '0')}` : `${m}:${String(s).padStart(2, '0')}`
}

/** Aligned columns; numbers to the right. @param {any[][]} rows */
export function table (head, rows) {
  const cells = rows.map(row => row.map(cell => typeof cell === 'number' ? count(cell) : String(cell ?? '')))
  const isNumeric = head.map((_, column) => rows.some(row => typeof row[column] === 'number'))
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map(row => row[column].length)))
  const pad = (cell, column) => isNumeric[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])
  const line = row => row.map(pad).join('  ').trimEnd()
  return [line(head), ...cells.map(line)]
}
