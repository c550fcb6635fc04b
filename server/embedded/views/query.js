// Answers one view query from its index: range, order, reduce and groups, documents.
import { HttpError, notFound } from '../errors.js'
import { encodeKey } from './collate.js'
import { reducer } from './reduce.js'

const parseError = reason => new HttpError(400, 'query_parse_error', reason)
const AFTER = Buffer.from([0xff]) // sorts after every document id that may follow a key

function checkOptions (view, options) {
  const reduces = view.reduce !== undefined && options.reduce !== false
  if (!view.reduce && options.reduce === true) throw parseError('Reduce is invalid for map-only views.')
  if (!reduces && (options.group || options.group_level !== undefined)) throw parseError(view.reduce ? 'Invalid use of grouping on a map view.' : 'Invalid use of grouping on a map view.')
  if (reduces && options.include_docs) throw parseError('`include_docs` is invalid for reduce')
  if (reduces && options.keys?.length > 1 && !options.group && !options.group_level) throw parseError('Multi-key fetches for reduce views must use `group=true`')
  return reduces
}

/** The rows from startkey to endkey as a byte range. Descending ranges start at their upper end. */
function rangeOf (options) {
  if (options.key !== undefined) return { from: encodeKey(options.key), to: Buffer.concat([encodeKey(options.key), AFTER]), reverse: options.descending }
  const after = (key, id, inclusive) => {
    const parts = [encodeKey(key)]
    if (id !== undefined && inclusive) parts.push(Buffer.from(id))
    return Buffer.concat(inclusive ? [...parts, AFTER] : parts)
  }
  const at = (key, id) => Buffer.concat([encodeKey(key), Buffer.from(id ?? '')])
  const { startkey, endkey, startkey_docid: startId, endkey_docid: endId, inclusive_end: inclusive, descending } = options
  if (startkey !== undefined && endkey !== undefined && encodeKey(startkey).compare(encodeKey(endkey)) * (descending ? -1 : 1) > 0) {
    throw parseError('No rows can match your key range, reverse your start_key and end_key or set descending=true')
  }
  if (!descending) {
    return { from: startkey === undefined ? undefined : at(startkey, startId), to: endkey === undefined ? undefined : after(endkey, endId, inclusive) }
  }
  return {
    from: endkey === undefined ? undefined : inclusive ? at(endkey, endId) : after(endkey, undefined, true),
    to: startkey === undefined ? undefined : after(startkey, startId, true),
    reverse: true
  }
}

/** The ranges of a query: one, or one for each of its keys. */
const rangesOf = options => options.keys ? options.keys.map(key => rangeOf({ ...options, key })) : [rangeOf(options)]

function groupKeyOf (options) {
  if (options.group && options.group_level === undefined) return key => key
  const level = options.group_level ?? 0
  if (level === 0) return () => null
  return key => Array.isArray(key) ? key.slice(0, level) : key
}

/** @yields {{key: any, value: any}} */
async function * groups (index, name, view, ranges, options) {
  const begin = reducer(view.reduce, index.runtime)
  const groupKey = groupKeyOf(options)
  for (const range of ranges) {
    let group = null
    for await (const row of index.rows(name, range)) {
      const key = groupKey(row.k)
      const id = JSON.stringify(key)
      if (group && group.id !== id) {
        yield { key: group.key, value: await group.state.end() }
        group = null
      }
      group ??= { id, key, state: begin() }
      group.state.step(row)
    }
    if (group) yield { key: group.key, value: await group.state.end() }
  }
}

async function * mapped (index, name, ranges) {
  for (const range of ranges) for await (const { k, i, v } of index.rows(name, range)) yield { id: i, key: k, value: v }
}

async function * slice (rows, skip = 0, limit = Infinity) {
  if (limit <= 0) return
  let seen = 0
  for await (const row of rows) {
    if (seen++ < skip) continue
    yield row
    if (seen >= skip + limit) return
  }
}

/** Where the first row stands: known without counting only when the range starts at the start. */
function offsetOf (options, total) {
  const bounded = ['key', 'keys', 'startkey'].some(name => options[name] !== undefined)
  return bounded ? null : Math.min(options.skip ?? 0, total)
}

/**
 * @param {import('../databases.js').Database} database
 * @param {string} ddocName @param {string} viewName
 * @param {any} options
 * @returns {Promise<{head: Record<string, any>, rows: AsyncIterable<any>}>}
 */
export async function queryView (database, ddocName, viewName, options) {
  const runtime = await database.designs.get(ddocName)
  const { views } = runtime.ddoc
  const view = Object.hasOwn(views ?? {}, viewName) ? views[viewName] : undefined
  if (typeof view?.map !== 'string') throw notFound('missing_named_view')
  const reduces = checkOptions(view, options)
  const ranges = rangesOf(options)
  const index = await database.views.get(runtime)
  if (!stale(options)) await index.update()
  else if (options.stale === 'update_after' || options.update === 'lazy') index.update().catch(() => {})
  if (reduces) return { head: {}, rows: slice(groups(index, viewName, view, ranges, options), options.skip, options.limit) }
  const total = index.total(viewName)
  const head = { total_rows: total, offset: offsetOf(options, total), ...(options.update_seq && { update_seq: `${index.meta.seq}-embedded` }) }
  return { head, rows: slice(mapped(index, viewName, ranges), options.skip, options.limit) }
}

const stale = options => ['ok', 'update_after'].includes(options.stale) || options.update === 'lazy' || options.update === false || options.update === 'false'
