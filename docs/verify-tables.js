// The tables of docs/checking.md: everything that `tilecouch check` can find, and what to do about it.
import { faults, LOAD_AGAIN } from '../loader/check/files/faults.js'

/** What `--fix` does, else what a person does; the page says once how a document is deleted and loaded again. */
export const remedyOf = ({ fix, advice = '' }) => fix ? `\`--fix\`: ${fix}` : advice.replace(LOAD_AGAIN, 'Load again.')

/** @param {(head: string[], rows: any[][]) => string} table */
export function verifyTables (table) {
  const findings = level => table(['kind', 'what it means', 'what to do'], Object.entries(faults)
    .filter(([, fault]) => fault.level === level)
    .map(([code, fault]) => [`\`${code}\``, fault.means, remedyOf(fault)]))
  return { faults: findings('fault'), warnings: findings('warning') }
}
