// Settings of the code that tests change, and which are as they were after each test.

/**
 * @param {Record<string, any>} defaults such as sourceLimits
 * @param {Record<string, any>} [changes] that hold for every test of the suite
 */
export function useDefaults (defaults, changes = {}) {
  const before = { ...defaults }
  beforeEach(() => { Object.assign(defaults, changes) })
  afterEach(() => { Object.assign(defaults, before) })
}
