// Collects the findings of a check. Passes on all of them; keeps the first ones and the numbers.
import { faults } from './faults.js'

export const reportDefaults = {
  first: 100 // findings kept for the summary; all are counted and passed to onFault
}

/** @typedef {{code: string, level: import('./faults.js').Level, where: string, why?: string}} Finding */

export class Report {
  #onFault

  /** @param {{onFault?: (finding: Finding) => void}} [options] */
  constructor ({ onFault } = {}) {
    this.#onFault = onFault
    this.faults = 0
    this.warnings = 0
    /** @type {Record<string, number>} code -> how often */
    this.kinds = {}
    /** @type {Record<string, Finding>} code -> its first finding */
    this.examples = {}
    /** @type {Finding[]} */
    this.first = []
  }

  /**
   * May be handed to a reader as its `onFault`.
   * @param {string} code one of faults.js
   * @param {string} where a document id, z/x/y, an entry's name
   * @param {string} [why]
   */
  add = (code, where, why) => {
    const { level } = faults[code]
    const finding = { code, level, where: oneLine(where), ...(why && { why: oneLine(why) }) }
    if (level === 'fault') this.faults++
    else this.warnings++
    this.kinds[code] = (this.kinds[code] ?? 0) + 1
    this.examples[code] ??= finding
    if (this.first.length < reportDefaults.first) this.first.push(finding)
    this.#onFault?.(finding)
  }

  /** @param {[code: string, why?: string][]} problems */
  addAll (where, problems) {
    for (const [code, why] of problems) this.add(code, where, why)
  }
}

// messages of decoders have several lines, and files may hold anything
const oneLine = text => {
  // eslint-disable-next-line no-control-regex
  const clean = text.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ').trim()
  return clean.length > 200 ? `${clean.slice(0, 199)}…` : clean
}
