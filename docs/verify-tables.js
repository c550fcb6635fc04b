// Table of docs/exports.md: everything that `tilecouch verify` can find.
import { faults } from '../loader/verify/faults.js'

/** @param {(head: string[], rows: any[][]) => string} table */
export const verifyTables = table => ({
  verifyFaults: table(['kind', 'level', 'what it means', 'what to do'], Object.entries(faults).map(([code, { level, means, advice }]) => [`\`${code}\``, level, means, advice]))
})
