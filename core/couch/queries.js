// Reads many ranges of a view, or of the primary index, in few requests.
import { chunks } from '../lists.js'
import { askAll } from './answers.js'
import { TilecouchError } from '../errors.js'
import { MAX_ZOOM } from '../grid.js'

/**
 * Sends queries. Repeats a query after an error, or if a row is missing for one of its `keys`.
 * @param {{url?: string, request: (request: any) => Promise<any>}} couch
 * @param {string} path of the view, or `_all_docs`
 * @param {any[]} queries
 * @param {{most?: number, limits?: import('./answers.js').Asking['limits'], signal?: AbortSignal, [option: string]: any
 * }} [options] most: queries per request; the others are options of the request
 * @returns {Promise<any[][]>} the rows of each query
 */
export async function askQueries (couch, path, queries, { most = Infinity, limits, ...options } = {}) {
  const answers = []
  for (let first = 0; first < queries.length; first += most) {
    const batch = queries.slice(first, first + most)
    const byId = new Map(batch.map((query, index) => [nameOf(query, first + index), query]))
    const askBatch = ids => askNamed(couch, path, ids.map(id => ({ id, query: byId.get(id) })), options)
    const answersById = await askAll(couch.url ?? path, [...byId.keys()], askBatch, { signal: options.signal, limits })
    for (const id of byId.keys()) answers.push(/** @type {any} */ (answersById.get(id))[0].rows)
  }
  return answers
}

/** Sends one request. @returns {Promise<any[]>} for each query its rows or an error */
export async function askResults (couch, path, queries, options) {
  const url = `${path}/queries`
  const { results } = await couch.request({ method: 'POST', path: url, body: { queries }, ...options })
  if (!Array.isArray(results)) throw new TilecouchError('BAD_ANSWER', { url, why: 'no list of results' })
  return results
}

async function askNamed (couch, path, namedQueries, options) {
  const results = await askResults(couch, path, namedQueries.map(({ query }) => query), options)
  return results.flatMap((result, index) => {
    const { id, query } = namedQueries[index] ?? {}
    return id === undefined ? [] : { id, rows: result?.rows, ...faultOf(path, query, result) }
  })
}

/** The error of the answer to one query, if there is one. */
function faultOf (path, { keys }, result) {
  if (result?.error) return { error: result.error, reason: result.reason }
  if (!Array.isArray(result?.rows)) return { error: 'no rows' }
  const failedRow = result.rows.find(({ error }) => error && error !== 'not_found')
  if (failedRow) return { error: failedRow.error, reason: `${failedRow.key}: ${failedRow.reason ?? failedRow.error}` }
  // for a single missing key CouchDB returns no row: it reads a range, which fails as a whole
  if (!path.endsWith('_all_docs') || !(keys?.length > 1)) return undefined
  const answeredKeys = new Set(result.rows.map(({ key }) => key))
  const missing = keys.find(key => !answeredKeys.has(key))
  return missing === undefined ? undefined : { error: 'no row', reason: `${missing}: no row` }
}

/** The name of a query in errors. */
const nameOf = ({ keys, startkey, key = startkey }, at) => `query ${at} (${JSON.stringify(keys ?? key)?.slice(0, 80)})`

/**
 * Reads all rows of a range of the primary index, page by page, in the order of their ids.
 * @param {(range: import('./client.js').Range) => Promise<import('./client.js').Row[]>} read
 * @param {import('./client.js').Range} range
 * @param {{page?: number, ahead?: boolean}} [options] page: rows per request; ahead: requests the next page early
 * @returns {AsyncGenerator<import('./client.js').Row[]>} never an empty page
 */
export async function * pagesOf (read, range, { page = 2000, ahead = false } = {}) {
  const readFrom = startkey => read({ ...range, ...(startkey !== undefined && { startkey }), limit: page })
  let nextPage = /** @type {ReturnType<typeof read> | undefined} */ (readFrom(undefined))
  try {
    while (nextPage) {
      const rows = await nextPage
      const nextStart = rows.length < page ? undefined : `${rows[rows.length - 1].id}\u0000`
      nextPage = ahead && nextStart !== undefined ? readFrom(nextStart) : undefined
      nextPage?.catch(() => {}) // awaited after these rows, unless the caller stops
      if (rows.length) yield rows
      if (nextStart !== undefined) nextPage ??= readFrom(nextStart)
    }
  } finally {
    await nextPage?.catch(() => {})
  }
}

// Finds zooms and columns that have tiles, with the reduce of a view whose keys begin with layer, zoom and column. The
// cost depends on the number of columns, not of tiles. Used to list a store in Node (loader/store) and on a device
// (client/offline).

/**
 * The query for zooms.
 * @param {string} layer
 * @param {import('../grid.js').Zooms} [zooms]
 * @param {number} [level] group_level of the keys
 */
export const zoomQuery = (layer, { min, max } = { min: 0, max: MAX_ZOOM }, level = 2) => (
  { startkey: [layer, min], endkey: [layer, max, {}], group_level: level }
)

/** @typedef {{prefix: any[], x0: number, x1: number}} Span of columns. prefix: the parts of a key before the column */

/**
 * @template {Span} S
 * @param {(queries: object[]) => Promise<any[][]>} askRanges returns the rows of each query
 * @param {S[]} spans
 * @param {{limit: number, most?: number}} limits limit: columns per query; most: spans per request
 * @returns {AsyncGenerator<{span: S, x: number, value: any}>} in the order of the spans, ascending
 */
export async function * columnsIn (askRanges, spans, { limit, most = spans.length }) {
  const queryOf = ({ prefix, x0, x1 }) => (
    { startkey: [...prefix, x0], endkey: [...prefix, x1, {}], group_level: prefix.length + 1, limit }
  )
  for (const batch of chunks(spans, most)) {
    const answers = await askRanges(batch.map(queryOf))
    for (const [index, span] of batch.entries()) {
      let rows = /** @type {any[] | undefined} */ (answers[index])
      while (rows) {
        const columns = rows.map(({ key, value }) => ({ span, x: key[span.prefix.length], value }))
        yield * columns.filter(({ x }) => Number.isInteger(x))
        const x0 = rows.length < limit ? Infinity : Math.floor(columns[limit - 1].x) + 1
        rows = x0 <= span.x1 ? (await askRanges([queryOf({ ...span, x0 })]))[0] : undefined
      }
    }
  }
}
