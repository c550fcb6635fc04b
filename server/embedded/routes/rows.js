// Rows of the primary index (_all_docs, _local_docs) and of views (_view, /queries, _info).
import { batchesOf, chunks } from '../../../core/lists.js'
import { sizeOfFolder } from '../../../loader/formats/system.js'
import { findDocument, localDocuments, winner } from '../documents.js'
import { notFound } from '../../http/errors.js'
import { toHttpError } from '../errors.js'
import { signatureOf } from '../views/index.js'
import { headOf, manyOptions, queryView, slice, viewOptions } from '../views/query.js'

const PAGE = 1000 // rows a read

/** Reads the ids of a range, page by page. CouchDB sorts anything but strings before every id. */
async function * idsInRange (database, options) {
  const { startkey, endkey, key, descending = false, inclusive_end: inclusive, skip = 0, limit = Infinity } = options
  const asId = value => typeof value === 'string' || value === undefined ? value : ''
  const [start, end] = key === undefined ? [asId(startkey), asId(endkey)] : [asId(key), asId(key)]
  if (descending ? start === '' : end === '') return
  let rowsLeft = limit
  for (let lastId; rowsLeft > 0;) {
    const { rows } = await database.pouch.allDocs({
      startkey: lastId ?? (start || undefined),
      endkey: end || undefined,
      descending,
      inclusive_end: end === undefined || inclusive,
      skip: lastId === undefined ? skip : 0,
      limit: Math.min(PAGE, rowsLeft + 1) // a page begins with the last row of the previous page
    })
    const newRows = lastId !== undefined && rows[0]?.id === lastId ? rows.slice(1) : rows
    if (!newRows.length) return
    const page = newRows.slice(0, rowsLeft)
    yield * page
    lastId = newRows.at(-1).id
    rowsLeft -= page.length
  }
}

async function * byKeys (database, options) {
  const { keys, skip = 0, limit = Infinity, descending, include_docs: includeDocs } = options
  const read = /** @type {any} */ (includeDocs ? readOptions(options) : {})
  const orderedKeys = descending ? [...keys].reverse() : keys
  for (const chunk of chunks(orderedKeys.slice(skip, skip + limit), batchSize(read))) {
    yield * await Promise.all(chunk.map(async key => {
      const isId = typeof key === 'string' && key !== ''
      const doc = isId ? await findDocument(database, key, read) ?? await winner(database, key) : null
      if (!doc) return { key, error: 'not_found' }
      const { _rev: rev, _deleted: deleted } = doc
      const row = { id: key, key, value: { rev, ...(deleted && { deleted }) } }
      return includeDocs ? { ...row, doc: deleted ? null : doc } : row
    }))
  }
}

async function query (database, options) {
  const { doc_count: total } = await database.pouch.info()
  const head = headOf(options, total)
  const rows = options.keys ? byKeys(database, options) : withDocs(database, idsInRange(database, options), options)
  return { head, rows }
}

export async function allDocs (ex) {
  ex.only('GET', 'HEAD', 'POST')
  const [, , extra] = ex.segments
  const isMany = extra === 'queries' && ex.method === 'POST'
  if (!isMany && extra !== undefined) throw notFound()
  await answer(ex, isMany, options => query(ex.db, options))
}

/** Answers one query, or all queries of a POST to `queries`. */
async function answer (ex, isMany, run) {
  const body = ex.method === 'POST' ? await ex.question() : {}
  if (isMany) return sendResults(ex, manyOptions(ex.query, body), run)
  const { head, rows } = await run(viewOptions(ex.query, body))
  await writeResult(ex, head, rows)
  ex.res.end('\n')
}

/** Lists local documents. Most are checkpoints of replications, so there are few. */
export async function localDocs (ex) {
  ex.only('GET', 'HEAD', 'POST')
  const head = { total_rows: null, offset: null }
  await answer(ex, false, options => ({ head, rows: slice(localRows(ex.db, options), { limit: options.limit }) }))
}

async function * localRows (database, { startkey, endkey, include_docs: includeDocs }) {
  for await (const doc of localDocuments(database)) {
    const id = doc._id
    const isInside = (startkey === undefined || id >= startkey) && (endkey === undefined || id <= endkey)
    if (isInside) yield { id, key: id, value: { rev: doc._rev }, ...(includeDocs && { doc }) }
  }
}

export async function viewRows (database, ddocName, viewName, options) {
  const { head, rows } = await queryView(database, ddocName, viewName, options)
  return { head, rows: withDocs(database, rows, options) }
}

export async function viewRoute (ex, ddocName) {
  const [viewName, extra, ...rest] = ex.segments.slice(4)
  if (viewName === undefined || rest.length || (extra !== undefined && extra !== 'queries')) throw notFound()
  const isMany = extra === 'queries'
  ex.only(...(isMany ? ['POST'] : ['GET', 'HEAD', 'POST']))
  await answer(ex, isMany, options => viewRows(ex.db, ddocName, viewName, options))
}

export async function infoRoute (ex, ddocName) {
  ex.only('GET', 'HEAD')
  const runtime = await ex.db.designs.get(ddocName)
  const index = await ex.db.views.get(runtime)
  const { update_seq: now } = await ex.db.pouch.info()
  const pending = Math.max(0, now - index.meta.seq)
  const bytes = await sizeOfFolder(index.path)
  ex.sendJson(200, {
    name: ddocName,
    view_index: {
      signature: signatureOf(runtime.ddoc),
      language: runtime.ddoc.language ?? 'javascript',
      update_seq: index.meta.seq,
      updater_running: index.updating !== null,
      updates_pending: { minimum: pending, preferred: pending, total: pending },
      sizes: { file: bytes, external: bytes, active: bytes },
      compact_running: false,
      collator_versions: [process.versions.icu]
    }
  })
}

// Rows are sent as CouchDB does, one a line, and are not collected: a view of a million rows needs no more memory than
// one of ten. Documents are joined in small batches.

const PIECE = 65536 // characters that are written together

/** Documents that are read together: with their images, hundreds would be as many MB. */
const batchSize = ({ attachments }) => attachments ? 4 : 100

const readOptions = ({ attachments, conflicts }) => ({ attachments, conflicts })

/** With include_docs, adds its document to each row. @param {import('../databases.js').Database} database */
const withDocs = (database, rows, options) => options.include_docs ? joinDocs(database, rows, options) : rows

async function * joinDocs (database, rows, options) {
  const read = readOptions(options)
  for await (const batch of batchesOf(rows, { most: batchSize(read), bytes: Infinity })) {
    const docs = await Promise.all(batch.map(({ id }) => findDocument(database, id, read)))
    yield * batch.map((row, index) => ({ ...row, doc: docs[index] }))
  }
}

/** One result: {"total_rows":…,"rows":[…]}. */
async function writeResult (ex, head, rows) {
  const opening = JSON.stringify(head).slice(0, -1)
  let text = `${opening}${opening === '{' ? '' : ','}"rows":[\n`
  let between = ''
  for await (const row of rows) {
    text += between + JSON.stringify(row)
    between = ',\n'
    if (text.length < PIECE) continue
    await ex.write(text)
    text = ''
  }
  await ex.write(`${text}\n]}`)
}

async function sendResults (ex, queries, run) {
  const firstResult = queries.length ? await run(queries[0]) : undefined // an error here becomes the answer
  await ex.write('{"results":[\n')
  try {
    for (const [index, options] of queries.entries()) {
      if (index > 0) await ex.write(',\n')
      const { head, rows } = index > 0 ? await run(options) : firstResult
      await writeResult(ex, head, rows)
    }
  } catch (error) {
    if (ex.signal.aborted) throw error
    const { error: name, reason } = toHttpError(error)
    await ex.write(JSON.stringify({ error: name, reason })) // the headers are sent: CouchDB does the same
  }
  ex.res.end('\n]}\n')
}
