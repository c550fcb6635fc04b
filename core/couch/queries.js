// Many ranges of a view, or of ids, in few requests.
import { chunks } from '../lists.js'
import { askAll } from './answers.js'
import { TilecouchError } from '../errors.js'
import { MAX_ZOOM } from '../grid.js'

/**
 * Asks again for a query that has an error, or lacks a row of a document that was named.
 * @param {{url?: string, request: (request: any) => Promise<any>}} couch
 * @param {string} path of the view, or `_all_docs`
 * @param {any[]} queries
 * @param {{most?: number, limits?: import('./answers.js').Asking['limits'], signal?: AbortSignal, [option: string]: any
 * }} [options] most: queries a request; the others are the couch's
 * @returns {Promise<any[][]>} the rows of each
 */
export async function askQueries (couch, path, queries, { most = Infinity, limits, ...options } = {}) {
  const answers = []
  for (let at = 0; at < queries.length; at += most) {
    const some = queries.slice(at, at + most)
    const byId = new Map(some.map((query, index) => [nameOf(query, at + index), query]))
    const askSome = ids => ask(couch, path, ids.map(id => ({ id, query: byId.get(id) })), options)
    const answersById = await askAll(couch.url ?? path, [...byId.keys()], askSome, { signal: options.signal, limits })
    for (const id of byId.keys()) answers.push(/** @type {any} */ (answersById.get(id))[0].rows)
  }
  return answers
}

/** One request: of each query its rows, or an error. */
export async function askResults (couch, path, queries, options) {
  const url = `${path}/queries`
  const { results } = await couch.request({ method: 'POST', path: url, body: { queries }, ...options })
  if (!Array.isArray(results)) throw new TilecouchError('BAD_ANSWER', { url, why: 'no list of results' })
  return results
}

async function ask (couch, path, asked, options) {
  const results = await askResults(couch, path, asked.map(({ query }) => query), options)
  return results.flatMap((result, index) => {
    const { id, query } = asked[index] ?? {}
    return id === undefined ? [] : { id, rows: result?.rows, ...troubleOf(path, query, result) }
  })
}

/** What is wrong with the answer to one query, as an error of its row. */
function troubleOf (path, { keys }, result) {
  if (result?.error) return { error: result.error, reason: result.reason }
  if (!Array.isArray(result?.rows)) return { error: 'no rows' }
  const bad = result.rows.find(({ error }) => error && error !== 'not_found')
  if (bad) return { error: bad.error, reason: `${bad.key}: ${bad.reason ?? bad.error}` }
  // for a single key that is not there CouchDB has no row: it reads a range then, which fails as a whole
  if (!path.endsWith('_all_docs') || !(keys?.length > 1)) return undefined
  const answeredKeys = new Set(result.rows.map(({ key }) => key))
  const missing = keys.find(key => !answeredKeys.has(key))
  return missing === undefined ? undefined : { error: 'no row', reason: `${missing}: no row` }
}

/** For errors, which name what has no answer. */
const nameOf = ({ keys, startkey, key = startkey }, at) => `query ${at} (${JSON.stringify(keys ?? key)?.slice(0, 80)})`

/**
 * All rows of a range of the primary index, page by page, in the order of their ids.
 * @param {(range: import('./client.js').Range) => Promise<import('./client.js').Row[]>} read
 * @param {import('./client.js').Range} range
 * @param {{page?: number, ahead?: boolean}} [options] page: rows a request; ahead: requests the next page early
 * @returns {AsyncGenerator<import('./client.js').Row[]>} never an empty page
 */
export async function * pagesOf (read, range, { page = 2000, ahead = false } = {}) {
  const readFrom = startkey => read({ ...range, ...(startkey !== undefined && { startkey }), limit: page })
  let next = /** @type {ReturnType<typeof read> | undefined} */ (readFrom(undefined))
  try {
    while (next) {
      const rows = await next
      const after = rows.length < page ? undefined : `${rows[rows.length - 1].id}\u0000`
      next = ahead && after !== undefined ? readFrom(after) : undefined
      next?.catch(() => {}) // awaited after these rows, if anybody still wants it
      if (rows.length) yield rows
      if (after !== undefined) next ??= readFrom(after)
    }
  } finally {
    await next?.catch(() => {})
  }
}

// Zooms and columns that hold anything, from the reduce of a view whose keys begin with layer, zoom and column: it
// costs what the columns cost, and not their tiles. For listings of a store in Node (loader/store) and on a device
// (client/offline).

/**
 * The query for zooms.
 * @param {string} layer
 * @param {import('../grid.js').Zooms} [zooms]
 * @param {number} [level] of keys
 */
export const zoomQuery = (layer, { min, max } = { min: 0, max: MAX_ZOOM }, level = 2) => (
  { startkey: [layer, min], endkey: [layer, max, {}], group_level: level }
)

/** @typedef {{prefix: any[], x0: number, x1: number}} Span of columns. prefix: what keys have before the column */

/**
 * @template {Span} S
 * @param {(queries: object[]) => Promise<any[][]>} askRanges answers the rows of each query
 * @param {S[]} spans
 * @param {{limit: number, most?: number}} limits limit: columns that a query answers at once; most: spans a request
 * @returns {AsyncGenerator<{span: S, x: number, value: any}>} in the order of the spans, ascending
 */
export async function * columnsIn (askRanges, spans, { limit, most = spans.length }) {
  const queryOf = ({ prefix, x0, x1 }) => (
    { startkey: [...prefix, x0], endkey: [...prefix, x1, {}], group_level: prefix.length + 1, limit }
  )
  for (const some of chunks(spans, most)) {
    const answers = await askRanges(some.map(queryOf))
    for (const [index, span] of some.entries()) {
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
