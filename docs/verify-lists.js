// The lists of docs/checking.md: everything that `tilecouch check` can find, and what to do about it.
import { faults, LOAD_AGAIN } from '../loader/check/files/faults.js'

/** What `--fix` does, else what a person does; the page says once how a document is deleted and loaded again. */
const remedyOf = ({ fix, advice = '' }) => fix ? `\`--fix\`: ${fix}` : advice.replace(LOAD_AGAIN, 'Load again.')

/** An item of the page. @param {string} code */
export function findingItem (code) {
  const { means, ...fault } = faults[code]
  const remedy = remedyOf(fault)
  return `- \`${code}\`: ${means}${remedy && `. ${remedy}`}`
}

export function verifyLists () {
  const findings = level => Object.keys(faults).filter(code => faults[code].level === level).map(findingItem).join('\n')
  return { faults: findings('fault'), warnings: findings('warning') }
}
