// _view and its /queries, and what is known about an index.
import { notFound } from '../errors.js'
import { sendResults, sendRows, withDocs } from '../rows.js'
import { signatureOf } from '../views/indexes.js'
import { manyOptions, viewOptions } from '../views/options.js'
import { queryView } from '../views/query.js'
import { only } from './server.js'

export async function viewRows (database, ddocName, viewName, options) {
  const { head, rows } = await queryView(database, ddocName, viewName, options)
  return { head, rows: options.include_docs ? withDocs(database, rows, options) : rows }
}

export async function viewRoute (ex, ddocName) {
  const [viewName, extra, ...rest] = ex.segments.slice(4)
  if (viewName === undefined || rest.length || (extra !== undefined && extra !== 'queries')) throw notFound()
  if (extra === 'queries') {
    only(ex, 'POST')
    const queries = manyOptions(ex.query, await ex.question())
    return sendResults(ex, (async function * () { for (const options of queries) yield viewRows(ex.db, ddocName, viewName, options) })())
  }
  only(ex, 'GET', 'HEAD', 'POST')
  const options = viewOptions(ex.query, ex.method === 'POST' ? await ex.question() : {})
  await sendRows(ex, await viewRows(ex.db, ddocName, viewName, options))
}

export async function infoRoute (ex, ddocName) {
  only(ex, 'GET', 'HEAD')
  const runtime = await ex.db.designs.get(ddocName)
  const index = await ex.db.views.get(runtime)
  const { update_seq: now } = await ex.db.pouch.info()
  const pending = Math.max(0, now - index.meta.seq)
  ex.sendJson(200, {
    name: ddocName,
    view_index: {
      signature: signatureOf(runtime.ddoc),
      language: runtime.ddoc.language ?? 'javascript',
      update_seq: index.meta.seq,
      updater_running: index.updating !== null,
      updates_pending: { minimum: pending, preferred: pending, total: pending },
      sizes: { file: 0, external: 0, active: 0 },
      purge_seq: 0,
      waiting_clients: 0,
      waiting_commit: false,
      compact_running: false,
      collator_versions: [process.versions.icu]
    }
  })
}
