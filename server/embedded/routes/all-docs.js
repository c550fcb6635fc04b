// The primary index: _all_docs, _design_docs, _local_docs, by range or by keys.
import { notFound } from '../errors.js'
import { findDocument, localDocuments, winner } from '../documents.js'
import { lotSize, lots, sendResults, sendRows, withDocs } from '../rows.js'
import { manyOptions, viewOptions } from '../views/options.js'
import { seqText } from './database.js'
import { only } from './server.js'

const PAGE = 1000 // rows a read

const ranges = { _all_docs: ['', undefined], _design_docs: ['_design/', '_design0'] }

/** Ids of a range, page by page. CouchDB sorts what is not a string before every id. */
export async function * idsInRange (database, group, { startkey, endkey, key, descending = false, inclusive_end: inclusive, skip = 0, limit = Infinity }) {
  const [first, last] = ranges[group]
  const asId = value => typeof value === 'string' ? value : value === undefined ? undefined : ''
  let [start, end] = (descending ? [last, first] : [first, last])
  const one = asId(key)
  const from = one ?? asId(startkey)
  const to = one ?? asId(endkey)
  if (from !== undefined && (!start || (descending ? from < start : from > start))) start = from
  let bounded = false // the end named by the caller, which may be excluded; the group's own never matches an id
  if (to !== undefined && (!end || (descending ? to > end : to < end))) [end, bounded] = [to, true]
  if ((end === '' && bounded && !descending) || (start === '' && from === '' && descending)) return
  let left = limit
  let skipped = skip
  for (let after; left > 0;) {
    const { rows } = await database.pouch.allDocs({ startkey: after ?? (start || undefined), endkey: end || undefined, descending, inclusive_end: bounded ? inclusive : true, limit: Math.min(PAGE, left + skipped + 1) })
    const fresh = after !== undefined && rows[0]?.id === after ? rows.slice(1) : rows
    if (!fresh.length) return
    after = fresh.at(-1).id
    for (const row of fresh) {
      if (skipped > 0) skipped--
      else if (left-- > 0) yield row
    }
  }
}

async function * byKeys (database, { keys, skip = 0, limit = Infinity, descending, include_docs: includeDocs }) {
  const ordered = descending ? [...keys].reverse() : keys
  const wanted = ordered.slice(skip, skip + limit)
  const size = lotSize()
  for (let at = 0; at < wanted.length; at += size) {
    yield * await Promise.all(wanted.slice(at, at + size).map(async key => {
      const doc = typeof key === 'string' && key !== '' ? await findDocument(database, key) ?? await winner(database, key) : null
      if (!doc) return { key, error: 'not_found' }
      if (doc._deleted) return { id: key, key, value: { rev: doc._rev, deleted: true }, ...(includeDocs && { doc: null }) }
      return { id: key, key, value: { rev: doc._rev }, found: doc }
    }))
  }
}

/** Documents for rows found by key: read already, unless attachments or conflicts are wanted too. */
async function * joined (database, rows, options) {
  for await (const { found, ...row } of rows) {
    if (!found || !options.include_docs) yield row
    else yield { ...row, doc: found }
  }
}

async function query (database, group, options) {
  const { doc_count: total, update_seq: seq } = await database.pouch.info()
  const bounded = ['key', 'startkey'].some(name => options[name] !== undefined)
  const head = { total_rows: total, offset: options.keys || bounded ? null : Math.min(options.skip ?? 0, total), ...(options.update_seq && { update_seq: seqText(seq) }) }
  return { head, rows: rowsOf(database, group, options) }
}

function rowsOf (database, group, options) {
  if (!options.keys) {
    const rows = idsInRange(database, group, options)
    return options.include_docs ? withDocs(database, rows, options) : rows
  }
  if (!options.include_docs || (!options.attachments && !options.conflicts)) return joined(database, byKeys(database, options), options)
  return withDocsOfFound(database, byKeys(database, options), options)
}

async function * withDocsOfFound (database, rows, options) {
  const read = { attachments: options.attachments === true, conflicts: options.conflicts === true }
  for await (const lot of lots(rows, lotSize(read))) {
    yield * await Promise.all(lot.map(async ({ found, ...row }) => found ? { ...row, doc: await findDocument(database, row.id, read) } : row))
  }
}

export async function allDocs (ex) {
  only(ex, 'GET', 'HEAD', 'POST')
  const group = ex.segments[1]
  if (ex.segments[2] === 'queries' && ex.method === 'POST') {
    const queries = manyOptions(ex.query, await ex.question())
    return sendResults(ex, (async function * () { for (const options of queries) yield query(ex.db, group, options) })())
  }
  if (ex.segments.length > 2) throw notFound()
  const options = viewOptions(ex.query, ex.method === 'POST' ? await ex.question() : {})
  await sendRows(ex, await query(ex.db, group, options))
}

/** Where replications got to, most often: few, so that they are sorted out here. */
export async function localDocs (ex) {
  only(ex, 'GET', 'HEAD', 'POST')
  const options = viewOptions(ex.query, ex.method === 'POST' ? await ex.question() : {})
  await sendRows(ex, { head: { total_rows: null, offset: null }, rows: localRows(ex.db, options) })
}

async function * localRows (database, { key, keys, startkey = key, endkey = key, descending = false, inclusive_end: inclusive, skip = 0, limit = Infinity, include_docs: includeDocs }) {
  const [first, last] = descending ? [endkey, startkey] : [startkey, endkey]
  const wanted = keys && new Set(keys)
  const isInside = id => (first === undefined || id >= first) && (last === undefined || id <= last) && (inclusive || id !== endkey) && (!wanted || wanted.has(id))
  const docs = []
  for await (const doc of localDocuments(database)) if (isInside(doc._id)) docs.push(doc)
  if (descending) docs.reverse()
  for (const doc of docs.slice(skip, skip + limit)) yield { id: doc._id, key: doc._id, value: { rev: doc._rev }, ...(includeDocs && { doc }) }
}
