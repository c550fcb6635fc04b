// The rows of views and of ranges of ids, page by page.

/**
 * As many as there are, although those that were read may be written meanwhile and stand somewhere else then.
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

/**
 * The documents of a range, in the order of their ids.
 * @param {import('./couch.js').Couch} couch
 * @param {{startkey: string, endkey: string}} range
 * @param {{page?: number, signal?: AbortSignal, include_docs?: boolean}} [options] page: rows a request
 * @returns {AsyncGenerator<{id: string, value: {rev: string}, doc?: any}[]>} never an empty page
 */
export async function * idPages (couch, { startkey, endkey }, { page = 2000, signal, ...more } = {}) {
  for (let from = startkey; ;) {
    const { rows } = await couch.request({ path: '_all_docs', qs: { startkey: from, endkey, limit: page, ...more }, signal })
    if (rows.length) yield rows
    if (rows.length < page) return
    from = `${rows[rows.length - 1].id}\u0000`
  }
}
