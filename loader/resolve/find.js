// Which documents have several living leaves, as the view lifecycle/conflicts tells.

export const CONFLICTS = '_design/lifecycle/_view/conflicts'

/** @typedef {{id: string, layer: string | null, revs: string[]}} Conflict revs: the leaves that CouchDB does not show */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {{layers?: string[], page: number, signal?: AbortSignal}} options
 * @returns {AsyncGenerator<Conflict[]>} pages
 */
export async function * conflicts (couch, { layers, page, signal }) {
  const ranges = layers?.map(layer => ({ startkey: [layer], endkey: [layer, {}] })) ?? [{}]
  for (const range of ranges) {
    for await (const rows of couch.viewPages(CONFLICTS, range, { page, signal })) yield rows.map(({ id, key: [layer], value }) => ({ id, layer, revs: value }))
  }
}

/**
 * How many documents of a layer have several living leaves.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @returns {Promise<number>}
 */
export async function countConflicts (couch, layer) {
  const [row] = await couch.view(CONFLICTS, { startkey: [layer], endkey: [layer, {}] })
  return row?.value ?? 0
}
