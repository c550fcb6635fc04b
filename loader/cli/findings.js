// Findings for people: a table of their kinds, and all of them in a file.
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { TilecouchError } from '../errors.js'
import { faults } from '../check/files/faults.js'
import { BLANK, table } from './output.js'

/**
 * @param {any} summary of a check
 * @param {{file?: string, advise?: boolean}} [options] file: of the whole report
 */
export function findingLines ({ faults: wrong, warnings, kinds, examples }, { file, advise = true } = {}) {
  const codes = Object.keys(faults).filter(code => kinds[code]).sort((a, b) => rank(a) - rank(b))
  if (!codes.length) return []
  const advice = advise ? codes.filter(code => faults[code].advice) : []
  return [
    BLANK,
    ...table(['', 'what', 'count', 'for example'], codes.map(code => {
      const { level, where, why } = examples[code]
      return [level, code, kinds[code], why ? `${where}: ${why}` : where]
    })),
    advice.length && [BLANK, ...advice.map(code => `${code}: ${faults[code].advice}`)],
    ...(file
      ? [BLANK, `All of it is in ${file}.`]
      : wrong + warnings > codes.length ? [BLANK, 'All of it: --report FILE'] : [])
  ]
}

const rank = code => faults[code].level === 'fault' ? 0 : 1

const GATHERED = 64e3 // characters written at once

/** Writes findings to a file, synchronously: they may come faster than a stream writes them. */
export class FindingList {
  #file
  #name
  #lines = ''

  /** @param {string} name of the file, which is emptied */
  constructor (name) {
    this.#name = name
    this.#file = this.#attempt(() => openSync(name, 'w'))
  }

  add (finding) {
    this.#lines += JSON.stringify(finding) + '\n'
    if (this.#lines.length > GATHERED) this.#write()
  }

  #write () {
    this.#attempt(() => writeFileSync(this.#file, this.#lines))
    this.#lines = ''
  }

  close () {
    try {
      this.#write()
    } finally {
      closeSync(this.#file)
    }
  }

  #attempt (action) {
    try {
      return action()
    } catch (error) {
      throw new TilecouchError('TARGET_UNWRITABLE', { value: this.#name, why: error.message }, { cause: error })
    }
  }
}
