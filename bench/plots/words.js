// Words and numbers as the pages of the benchmarks write them.
import { BUSY } from '../machine.js'

export const thousands = number => number.toLocaleString('en-US')

/** Formats a median as "median (lowest–highest)". */
export const range = ({ median, min, max }, unit = '') => min === max
  ? `${thousands(median)}${unit}` : `${thousands(median)}${unit} (${thousands(min)}–${thousands(max)})`

/** Milliseconds with suitable precision. */
export function ms (value) {
  if (value >= 10) return thousands(Math.round(value))
  return value.toFixed(value < 1 ? 2 : 1)
}

export const megabytes = bytes => bytes === null
  ? '' : `${thousands(bytes < 1e7 ? Math.round(bytes / 1e5) / 10 : Math.round(bytes / 1e6))} MB`

/** A number with three significant digits, for the end of a bar. */
export function brief (value) {
  if (value === 0) return '0'
  if (Math.abs(value) >= 100) return thousands(Math.round(value))
  return String(Number(value.toPrecision(Math.abs(value) < 1 ? 2 : 3)))
}

/** A ratio in words. */
export const times = figure => `${brief(figure)} times`

export const rounds = count => count === 1 ? 'one round' : `${count} rounds`

/** The description of the machine at the start of a page. */
export function machineLine ({ quick, machine: { couchdb, node, cpu, cores, memory, os, busy = 0, date } }) {
  const warnings = [quick && 'A short run (`--quick`): a first look.',
    busy > BUSY &&
      `The machine was busy with other things as well (${Math.round(busy * 100)} % of its cores when it began): ` +
        `these figures are worth little.`].filter(Boolean)
  return `${warnings.length ? `**${warnings.join(' ')}** ` : ''}CouchDB ${couchdb}, Node ${node}, ${cpu}, ${cores} ` +
    `cores, ${memory}, ${os ? `${os}, ` : ''}${date}`
}

/** A list of the programs with versions and settings, and of the missing programs. */
export const programList = ({ programs, missing }) =>
  [
    ...Object.entries(programs).map(
      ([name, { version, settings }]) => `- ${name}${version ? ` ${version}` : ''}: ${settings}`
    ),
    ...Object.entries(missing).map(([name, reason]) => `- ${name}: **not measured**: ${reason}`)
  ].join('\n')

const row = cells => `| ${cells.map(cell => String(cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`

/** A table in Markdown. @param {any[][]} rows */
export const table = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

/** @typedef {typeof table} Table */
