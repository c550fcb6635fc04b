// Many documents in one request: _bulk_docs, _bulk_get, _revs_diff.
import { HttpError, badRequest } from '../errors.js'
import { isObject } from '../exchange.js'
import { generation, isRev, leavesOf, openRevisions } from '../documents.js'
import { checkDocument, writeDocuments } from '../writer.js'
import { newId, only } from './server.js'

const MOST_DOCUMENTS = 20000 // in one request: each is judged, whoever sends it

const errorOf = (id, rev, { error, reason }) => ({ id, ...(rev && { rev }), error, reason })

export async function bulkDocs (ex) {
  only(ex, 'POST')
  const body = await ex.jsonObject()
  if (body.docs === undefined) throw badRequest('POST body must include `docs` parameter.')
  if (!Array.isArray(body.docs)) throw badRequest('`docs` parameter must be an array.')
  if (body.docs.length > MOST_DOCUMENTS) throw new HttpError(413, 'too_large', `at most ${MOST_DOCUMENTS} documents in one request`)
  const newEdits = body.new_edits !== false
  const docs = body.docs.map(doc => checkDocument(isObject(doc) && doc._id === undefined ? { ...doc, _id: newId() } : doc))
  if (!newEdits && docs.some(doc => !doc._rev && !doc._revisions)) throw badRequest('When `new_edits: false`, the document needs `_rev` or `_revisions` specified')
  const answers = await writeDocuments(ex.db, docs, { userCtx: ex.userCtx, newEdits })
  const shown = answers.map((answer, i) => answer instanceof HttpError ? errorOf(docs[i]._id, newEdits ? undefined : docs[i]._rev, answer) : newEdits ? answer : undefined)
  ex.sendJson(201, shown.filter(Boolean))
}

const failure = (id, rev, error, reason) => ({ id, docs: [{ error: { id, rev: rev ?? 'undefined', error, reason } }] })

async function getOne (database, wanted, options) {
  if (!isObject(wanted) || typeof wanted.id !== 'string') return { id: null, docs: [{ error: { id: null, rev: null, error: 'bad_request', reason: 'document id missed' } }] }
  const { id, rev, atts_since: attsSince } = wanted
  if (rev !== undefined && !isRev(rev)) return failure(id, String(rev), 'bad_request', 'Invalid rev format')
  if (attsSince !== undefined && !(Array.isArray(attsSince) && attsSince.every(isRev))) return failure(id, rev, 'bad_request', 'att_since value must be array of revs.')
  const found = await openRevisions(database, id, rev === undefined ? 'all' : [rev], { ...options, attsSince, attachments: options.attachments || attsSince?.length > 0 })
  if (!found.length) return failure(id, rev, 'not_found', 'missing')
  return { id, docs: found.map(({ ok, missing }) => ok ? { ok } : { error: { id, rev: missing, error: 'not_found', reason: 'missing' } }) }
}

export async function bulkGet (ex) {
  only(ex, 'POST')
  const { docs } = await ex.question()
  if (docs === undefined) throw badRequest("Missing JSON list of 'docs'.")
  if (!Array.isArray(docs)) throw badRequest("'docs' must be a list.")
  const options = { revs: ex.flag('revs'), attachments: ex.flag('attachments'), latest: ex.flag('latest') }
  ex.startStream()
  await ex.write('{"results":[')
  for (let i = 0; i < docs.length; i++) await ex.write(`${i ? ',' : ''}${JSON.stringify(await getOne(ex.db, docs[i], options))}`)
  ex.res.end(']}\n')
}

const isRevLists = body => Object.values(body).every(revs => Array.isArray(revs) && revs.every(isRev))

/** What a replicator asks: which of these revisions are not here, and which leaves could be their ancestors. */
export async function revsDiff (ex) {
  only(ex, 'POST')
  const body = await ex.question()
  if (!isRevLists(body)) throw badRequest('revisions must be lists of revision ids by document id')
  const missing = await ex.db.pouch.revsDiff(body)
  for (const [id, answer] of Object.entries(missing)) {
    const newest = Math.max(...answer.missing.map(generation))
    const ancestors = (await leavesOf(ex.db, id)).map(({ rev }) => rev).filter(rev => generation(rev) < newest)
    if (ancestors.length) answer.possible_ancestors = ancestors
  }
  ex.sendJson(200, missing)
}
