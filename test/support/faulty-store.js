// A store whose bulk answers have errors for some documents, or leave them out, as a cluster answers while a shard is
// away.
import { startServer } from './server.js'

/**
 * @typedef {(asked: {path: string, id: string, time: number}) => 'error' | 'missing' | undefined} Fault of a row; time:
 *   how often it was asked for
 */

const BULK =
  /\/(_bulk_get|_all_docs|_all_docs\/queries|_bulk_docs|_revs_diff|_design\/[^/]+\/_view\/[^/]+\/queries)(\?|$)/
const TROUBLE = { error: 'internal_server_error', reason: 'No DB shards could be opened.' }

/**
 * A server before a database. What it makes wrong is what `fault` says of each row; nothing until that is set.
 * @param {string} target URL of the database, may hold a name and password
 */
export async function startFaulty (target) {
  const { host: behind, pathname, username, password } = new URL(target)
  const state = {
    fault: undefined,
    faults: 0
  }
  const times = new Map()
  const judge = (path, id) => {
    const time = (times.get(`${path} ${id}`) ?? 0) + 1
    times.set(`${path} ${id}`, time)
    const said = state.fault?.({ path, id, time })
    if (said) state.faults++
    return said
  }
  /** Rows as they are, with an error, or not at all. */
  const spoil = (path, rows, idOf, spoilt) => rows.flatMap(row => {
    const said = judge(path, idOf(row))
    return said === 'missing' ? [] : said === 'error' ? [spoilt(row)] : [row]
  })
  const keyed = row => ({ key: row.key, ...TROUBLE })

  /** @param {string} path @param {any} answer @param {any} asked */
  function spoilAnswer (path, answer, asked) {
    if (path === '_bulk_get') {
      return { ...answer, results: spoil(path, answer.results, ({ id }) => id,
        ({ id }) => ({ id, docs: [{ error: { id, rev: 'undefined', ...TROUBLE } }] })) }
    }
    if (path === '_bulk_docs') {
      return asked.new_edits === false ? answer : spoil(path, answer, ({ id }) => id, ({ id }) => ({ id, ...TROUBLE }))
    }
    if (path === '_revs_diff') {
      return Object.fromEntries(
        Object.entries(answer).map(([id, own]) => [id, judge(path, id) === 'error' ? TROUBLE : own])
      )
    }
    if (path === '_all_docs' && asked?.keys) {
      return { ...answer, rows: spoil(path, answer.rows, ({ key }) => key, keyed) }
    }
    if (!path.endsWith('/queries') || !Array.isArray(answer.results)) return answer
    return {
      results: answer.results.map((result, at) => {
        const { keys, startkey } = asked.queries[at]
        if (path === '_all_docs/queries' && keys?.length > 1) {
          return { ...result, rows: spoil(path, result.rows, ({ key }) => key, keyed) }
        }
        // a range has its rows from every shard, or an error
        return judge(path, JSON.stringify(keys ?? startkey)) ? TROUBLE : result
      })
    }
  }

  async function serve (request, response) {
    const parts = []
    for await (const part of request) parts.push(part)
    const body = Buffer.concat(parts)
    const [, bulk] = BULK.exec(request.url) ?? []
    const { host, connection, 'content-length': _, 'transfer-encoding': __, accept, ...headers } = request.headers
    const answer = await fetch(`http://${behind}${request.url}`, {
      method: request.method,
      headers: {
        ...headers,
        accept: bulk ? 'application/json' : accept ?? '*/*' // JSON is easily tampered with
      },
      ...(body.length && { body }),
      redirect: 'manual'
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const spoilt = bulk && state.fault && answer.ok
      ? JSON.stringify(
        spoilAnswer(bulk, JSON.parse(bytes.toString()), body.length ? JSON.parse(body.toString()) : undefined)
      ) : bytes
    const passed = Object.fromEntries([
      ...answer.headers
    ].filter(([name]) => !['content-length', 'content-encoding', 'transfer-encoding', 'connection'].includes(name)))
    response.writeHead(answer.status, passed).end(spoilt)
  }
  const { port, close } = await startServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  const account = username && `${username}:${password}@`
  return Object.assign(state, { url: `http://${account}127.0.0.1:${port}${pathname}`, close })
}

/**
 * Each row is wrong the first time it is asked for: in turn it has an error, and is not there. A load takes the answer
 * to a write
 * that lacks a row for no answer at all, and stops.
 * @param {{written?: 'error' | 'missing'}} [how] what is said of writes
 * @returns {Fault}
 */
export function wrongOnce ({ written = 'error' } = {}) {
  let turn = 0
  return ({ path, time }) => time > 1 ? undefined : path === '_bulk_docs' ? written : turn++ % 2 ? 'error' : 'missing'
}
