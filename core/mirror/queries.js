// Many ranges of a view, or of ids, in few requests.
import { TilecouchError } from '../errors.js'

/**
 * @param {{request: (request: any) => Promise<any>}} couch
 * @param {string} path of the view, or `_all_docs`
 * @param {any[]} queries
 * @param {{most: number, signal?: AbortSignal, isDivisible?: boolean, onBytes?: (bytes: number) => void}} options most: queries a request; the others are the couch's
 * @returns {Promise<any[][]>} the rows of each
 */
export async function askQueries (couch, path, queries, { most, ...options }) {
  const answers = []
  for (let at = 0; at < queries.length; at += most) {
    const some = queries.slice(at, at + most)
    const { results } = await couch.request({ method: 'POST', path: `${path}/queries`, body: { queries: some }, ...options })
    const broken = results?.find?.(result => result?.error)
    if (broken) throw new TilecouchError('COUCHDB_ERROR', { url: path, status: 500, reason: broken.reason ?? broken.error })
    if (results?.length !== some.length || !results.every(({ rows }) => Array.isArray(rows))) throw new TilecouchError('BAD_ANSWER', { url: `${path}/queries`, why: 'rows are missing' })
    answers.push(...results.map(({ rows }) => rows))
  }
  return answers
}
