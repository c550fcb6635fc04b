// validate_doc_update: every function sees a whole batch in one call, so that a bulk load pays for the way to its thread once
// and not for each document.
import { validationError } from './design/runtime.js'

/** What CouchDB shows a validation function: attachments as stubs, and the revisions a document continues. */
function shown (doc) {
  const copy = { ...doc }
  if (doc._rev && !doc._revisions) {
    const [start, id] = [Number.parseInt(doc._rev, 10), doc._rev.slice(doc._rev.indexOf('-') + 1)]
    copy._revisions = { start, ids: [id] }
  }
  if (doc._attachments) {
    copy._attachments = Object.fromEntries(Object.entries(doc._attachments).map(([name, attachment]) => [name, stubOf(attachment)]))
  }
  return copy
}

function stubOf ({ data, ...attachment }) {
  if (data === undefined) return attachment
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return { ...attachment, revpos: 0, length: data.length / 4 * 3 - padding, stub: true }
}

/**
 * Fills in answers[i] with an error for each refused document. Design and local documents are not validated.
 * @param {import('./design/runtime.js').DesignRuntime[]} validators
 * @param {any[]} docs @param {any[]} olds
 * @param {{userCtx: any, database: import('./databases.js').Database, answers: any[]}} context
 */
export async function validate (validators, docs, olds, { userCtx, database, answers }) {
  const user = { db: database.name, name: userCtx.name, roles: userCtx.roles }
  for (const runtime of validators) {
    const places = docs.map((doc, i) => i).filter(i => !answers[i] && !/^_(design|local)\//.test(docs[i]._id))
    if (!places.length) return
    const jobs = places.map(i => ({ newDoc: shown(docs[i]), oldDoc: olds[i] && !olds[i]._deleted ? olds[i] : null }))
    const source = runtime.ddoc.validate_doc_update
    const errors = await runtime.callEach('validate', { source, userCtx: user, secObj: database.security }, jobs)
    errors.forEach((error, n) => { if (error) answers[places[n]] = validationError(error) })
  }
}
