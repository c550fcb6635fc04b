// Tables of docs/exports.md, everything that can be found, and of docs/checking.md, what is repaired of it.
import { faults } from '../loader/verify/faults.js'

// a store cannot have these, or has another as well
const OF_FILES = new Set(['duplicate-tile', 'outside-pyramid', 'mixed-formats', 'wrong-length'])
const all = Object.entries(faults).map(([code, fault]) => ({ code: `\`${code}\``, ...fault }))
const ofStores = all.slice(0, Object.keys(faults).indexOf('no-tiles')).filter(({ code }) => !OF_FILES.has(code.slice(1, -1)))
const UNCLEAR = 'Look at it: what is right is not the same everywhere.'

/** @param {(head: string[], rows: any[][]) => string} table */
export const verifyTables = table => ({
  verifyFaults: table(['kind', 'level', 'what it means', 'what to do'],
    all.map(({ code, level, means, advice }) => [code, level, means, advice])),
  checkRepairs: table(['damage', 'how it comes about', 'what is done', 'why that is right'],
    all.filter(({ fix }) => fix).map(({ code, means, cause, fix, reason }) => [`${code}: ${means}`, cause, fix, reason])),
  checkLeft: table(['finding', 'what a person can do'],
    ofStores.filter(({ fix }) => !fix).map(({ code, means, advice = UNCLEAR }) => [`${code}: ${means}`, advice]))
})
