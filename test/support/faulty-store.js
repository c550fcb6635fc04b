// A store whose bulk answers have errors for some documents, or omit them, as a cluster answers while a shard is
// unavailable.
import { startRelay } from './relay.js'

/**
 * @typedef {(row: {path: string, id: string, time: number}) => 'error' | 'missing' | undefined} Fault of a row; time:
 *   number of requests for it so far
 */

const BULK =
  /\/(_bulk_get|_all_docs|_all_docs\/queries|_bulk_docs|_revs_diff|_design\/[^/]+\/_view\/[^/]+\/queries)(\?|$)/
const TROUBLE = { error: 'internal_server_error', reason: 'No DB shards could be opened.' }

/**
 * Starts a server in front of a database. It spoils a row if `fault` returns a fault for it.
 * @param {string} target URL of the database, may hold a name and password
 */
export async function startFaulty (target) {
  const state = {
    fault: undefined,
    faults: 0
  }
  const times = new Map()
  const faultOf = (path, id) => {
    const time = (times.get(`${path} ${id}`) ?? 0) + 1
    times.set(`${path} ${id}`, time)
    const fault = state.fault?.({ path, id, time })
    if (fault) state.faults++
    return fault
  }
  /** Returns the rows; some are replaced by an error, and some are omitted. */
  const spoil = (path, rows, idOf, toErrorRow) => rows.flatMap(row => {
    const fault = faultOf(path, idOf(row))
    if (fault === 'missing') return []
    return fault === 'error' ? [toErrorRow(row)] : [row]
  })
  const keyed = row => ({ key: row.key, ...TROUBLE })

  /** @param {string} path @param {any} answer @param {any} body */
  function spoilAnswer (path, answer, body) {
    if (path === '_bulk_get') {
      return { ...answer, results: spoil(path, answer.results, ({ id }) => id,
        ({ id }) => ({ id, docs: [{ error: { id, rev: 'undefined', ...TROUBLE } }] })) }
    }
    if (path === '_bulk_docs') {
      return body.new_edits === false ? answer : spoil(path, answer, ({ id }) => id, ({ id }) => ({ id, ...TROUBLE }))
    }
    if (path === '_revs_diff') {
      return Object.fromEntries(
        Object.entries(answer).map(([id, difference]) => [id, faultOf(path, id) === 'error' ? TROUBLE : difference])
      )
    }
    if (path === '_all_docs' && body?.keys) {
      return { ...answer, rows: spoil(path, answer.rows, ({ key }) => key, keyed) }
    }
    if (!path.endsWith('/queries') || !Array.isArray(answer.results)) return answer
    return {
      results: answer.results.map((result, index) => {
        const { keys, startkey } = body.queries[index]
        if (path === '_all_docs/queries' && keys?.length > 1) {
          return { ...result, rows: spoil(path, result.rows, ({ key }) => key, keyed) }
        }
        // a range has either all its rows or an error
        return faultOf(path, JSON.stringify(keys ?? startkey)) ? TROUBLE : result
      })
    }
  }

  const bulkPathOf = url => BULK.exec(url)?.[1]
  return Object.assign(state, await startRelay(target, {
    onRequest ({ url, headers }) {
      if (bulkPathOf(url)) headers.accept = 'application/json' // it is easier to change
    },
    onAnswer (answer, { url, body }) {
      const path = bulkPathOf(url)
      if (!path || !state.fault || answer.status >= 300) return
      const question = body.length ? JSON.parse(body.toString()) : undefined
      answer.body = JSON.stringify(spoilAnswer(path, JSON.parse(answer.body.toString()), question))
    }
  }))
}

/**
 * Spoils each row the first time it is requested: by turns with an error, and by omitting it. A load that gets an
 * answer to a write without one of the rows takes it for no answer at all, and stops.
 * @param {{written?: 'error' | 'missing'}} [how] written: the fault of writes
 * @returns {Fault}
 */
export function wrongOnce ({ written = 'error' } = {}) {
  let turn = 0
  return ({ path, time }) => {
    if (time > 1) return undefined
    if (path === '_bulk_docs') return written
    return turn++ % 2 ? 'error' : 'missing'
  }
}
