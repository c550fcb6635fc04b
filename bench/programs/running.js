// Keeps the programs of a benchmark: it logs and ends the running ones, and names the missing ones.

/** @param {{closing: (() => any)[], log: (text: string) => void}} options */
export function runningPrograms ({ closing, log }) {
  const missing = /** @type {Record<string, string>} */ ({}) // name -> reason
  const programs = /** @type {Record<string, {version?: string, settings: string}>} */ ({})

  /**
   * @type {<T extends {close?: () => any}>(name: string, running: T, about?: {version?: string, settings: string}) =>
   *   T}
   */
  const addRunning = (name, running, about = /** @type {any} */ (running)) => {
    const { version, settings } = about
    if (running.close) closing.push(running.close)
    programs[name] = { ...(version && { version }), settings }
    log(`  ${name}${version ? ` ${version}` : ''}: ${settings}`)
    return running
  }

  /**
   * Starts a program if it is installed.
   * @template F, R
   * @param {string} name @param {string} reason the reason if it is not installed
   * @param {F | undefined} program @param {(found: F) => Promise<R>} start
   * @returns {Promise<R | undefined>}
   */
  const optional = async (name, reason, program, start) => {
    if (program) return start(program)
    missing[name] = reason
    log(`  ${name}: not measured, ${reason}`)
  }
  return { missing, programs, addRunning, optional }
}
