// What becomes of one tile.

/**
 * @typedef {import('../store/list.js').ListedTile['versions'][0]} Version
 *
 * @typedef {object} Item
 * @property {string} id
 * @property {Version[]} doomed
 * @property {boolean} [falls] whether its head changes: one that goes, or none that was there
 * @property {Version} [head] the head that goes
 * @property {Version} [heir] the newest version that stays, when the head changes
 */

/**
 * What becomes of a tile when the versions of some times go. One without a head gets one: what stays of it is not lost from sight.
 * @param {string} id @param {Version[]} versions oldest first @param {Set<string>} times
 * @returns {Item}
 */
export function itemOf (id, versions, times) {
  const doomed = versions.filter(({ time }) => times.has(time))
  const newest = versions[versions.length - 1]
  const head = newest.current ? newest : undefined
  if (head && !times.has(head.time)) return { id, doomed }
  return { id, doomed, falls: true, head, heir: versions.findLast(({ time }) => !times.has(time)) }
}
