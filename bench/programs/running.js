// The programs of a benchmark: each that runs is told and will be ended, each that is missing is named.

/**
 * @param {{closing: (() => any)[], log: (text: string) => void}} options closing: told how to end each
 */
export function runningPrograms ({ closing, log }) {
  /** @type {Record<string, string>} name -> why */
  const missing = {}
  /** @type {Record<string, {version?: string, settings: string}>} */
  const programs = {}
  /** @type {<T extends {close: () => any}>(name: string, running: T, about: {version?: string, settings: string}) => T} */
  const keep = (name, running, { version, settings }) => {
    closing.push(running.close)
    programs[name] = { ...(version && { version }), settings }
    log(`  ${name}${version ? ` ${version}` : ''}: ${settings}`)
    return running
  }
  /**
   * What stands on this machine or does not.
   * @template F, R
   * @param {string} name @param {string} why it is not to be had
   * @param {F | undefined} found
   * @param {(found: F) => Promise<R>} start
   * @returns {Promise<R | undefined>}
   */
  const optional = async (name, why, found, start) => {
    if (found) return start(found)
    missing[name] = why
    log(`  ${name}: not measured, ${why}`)
  }
  return { missing, programs, keep, optional }
}
