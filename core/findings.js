// What the doctor and the control room say about a store in the same way: the states of findings, and limits.

/** The worst first. */
export const STATES = /** @type {const} */ (['bad', 'warning', 'unknown', 'ok'])

/** Values from which on a finding is bad or a warning. */
export const findingDefaults = {
  waste: 2, // file size / data in use: smoosh compacts at this ratio by itself
  waits: 536_870_912, // wasted bytes: smoosh compacts at this size by itself, whatever the ratio
  little: 100e6, // wasted bytes that do not matter
  behind: 10_000, // changes that an index has yet to process: some seconds of work
  far: 1_000_000 // changes that an index has yet to process: minutes of work, for which readers wait
}
