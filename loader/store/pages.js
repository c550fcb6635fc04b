// The rows of a view, page by page: as many as there are, although those that were read may be written meanwhile and stand
// somewhere else then.

/**
 * @param {import('./couch.js').Couch} couch
 * @param {string} view in which a document has one row
 * @param {{startkey?: any, endkey?: any}} range
 * @param {{page: number, signal?: AbortSignal}} options page: rows a request, two at least
 * @returns {AsyncGenerator<{id: string, key: any, value: any}[]>}
 */
export async function * pagesOf (couch, view, range, { page, signal }) {
  for (let from = /** @type {any} */ (range), last; ;) {
    const rows = await couch.view(view, { ...from, reduce: false, limit: page }, signal)
    const fresh = rows.filter(({ id }) => id !== last)
    if (fresh.length) yield fresh
    if (rows.length < page) return
    const { id, key } = rows[rows.length - 1]
    last = id
    from = { ...range, startkey: key, startkey_docid: id }
  }
}
