// Tables of docs/checking.md: everything that can be found, and what is repaired of it.
import { faults } from '../loader/check/files/faults.js'

const all = Object.entries(faults).map(([code, fault]) => ({ code: `\`${code}\``, ...fault }))

/** @param {(head: string[], rows: any[][]) => string} table */
export const verifyTables = table => ({
  verifyFaults: table(['kind', 'level', 'what it means', 'what to do'],
    all.map(({ code, level, means, advice }) => [code, level, means, advice])),
  checkRepairs: table(['damage', 'how it comes about', 'what is done', 'why that is right'],
    all.filter(({ fix }) => fix).map(({ code, means, cause, fix, reason }) => [`${code}: ${means}`, cause, fix, reason]))
})
