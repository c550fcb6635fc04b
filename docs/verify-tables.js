// Tables of docs/exports.md, everything that can be found, and of docs/checking.md, what is repaired of it.
import { repairs } from '../loader/check/repairs.js'
import { faults } from '../loader/verify/faults.js'

const OF_FILES = new Set(['duplicate-tile', 'outside-pyramid', 'mixed-formats', 'wrong-length']) // a store cannot have these, or has another as well

/** @param {(head: string[], rows: any[][]) => string} table */
export const verifyTables = table => ({
  verifyFaults: table(['kind', 'level', 'what it means', 'what to do'], Object.entries(faults).map(([code, { level, means, advice }]) => [`\`${code}\``, level, means, advice])),
  checkRepairs: table(['damage', 'how it comes about', 'what is done', 'why that is right'], Object.entries(repairs).map(([code, { cause, fix, reason }]) => [`\`${code}\`: ${faults[code].means}`, cause, fix, reason])),
  checkLeft: table(['finding', 'what a person can do'], Object.entries(faults).slice(0, Object.keys(faults).indexOf('no-tiles')).filter(([code]) => !repairs[code] && !OF_FILES.has(code))
    .map(([code, { means, advice }]) => [`\`${code}\`: ${means}`, advice ?? 'Look at it: what is right is not the same everywhere.']))
})
