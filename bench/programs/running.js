// The programs of a benchmark: those that run are logged and ended, those that are missing are named.

/** @param {{closing: (() => any)[], log: (text: string) => void}} options */
export function runningPrograms ({ closing, log }) {
  const missing = /** @type {Record<string, string>} */ ({}) // name -> why
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
   * @param {string} name @param {string} why it is not measured otherwise
   * @param {F | undefined} found @param {(found: F) => Promise<R>} start
   * @returns {Promise<R | undefined>}
   */
  const optional = async (name, why, found, start) => {
    if (found) return start(found)
    missing[name] = why
    log(`  ${name}: not measured, ${why}`)
  }
  return { missing, programs, addRunning, optional }
}
