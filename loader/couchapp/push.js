// Deploys design documents without blocking readers: an index is built under a staging name first, then the document
// is replaced. CouchDB names an index after its functions, so it finds the finished index again.
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { encodeId } from '../../core/couch/client.js'
import { warm } from '../store/indexes.js'
import { signaturesOf } from './compose.js'

/** Suffix of a design document's id while its index is built. */
export const STAGING = '-staging'

/** Design documents of earlier programs. Their views are in one document now, which CouchDB indexes in one pass. */
const RETIRED = ['_design/lifecycle', '_design/sizes']
const SUCCESSOR = '_design/versions'
const ATTEMPTS = 5 // to build an index whose staging document another push removes
const COMMIT = 30_000 // milliseconds to wait until an index is committed; CouchDB commits every 5 seconds

/**
 * @typedef {object} Pushed
 * @property {string} id
 * @property {'new' | 'changed' | 'unchanged' | 'removed'} action
 * @property {string[]} fields that differ
 *
 * index: its index is being built, done of total changes; swap: it is replaced
 * @typedef {{id: string, step: 'swap'} |
 *   {id: string, step: 'index'} & import('../store/indexes.js').IndexProgress} PushEvent
 */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {import('./compose.js').DesignDocument[]} docs
 * @param {object} [options]
 * @param {boolean} [options.dryRun]
 * @param {AbortSignal} [options.signal]
 * @param {(event: PushEvent) => void} [options.onProgress]
 * @returns {Promise<Pushed[]>}
 */
export async function push (couch, docs, { dryRun = false, signal, onProgress } = {}) {
  const pushed = /** @type {Pushed[]} */ ([])
  for (const doc of docs) {
    const fields = differingFields(await readStored(couch, doc), doc)
    pushed.push({ id: doc._id, action: actionOf(fields), fields: fields ?? [] })
    if (!dryRun) await deploy(couch, doc, fields, signal, onProgress)
  }
  for (const id of await findRetired(couch, docs)) {
    pushed.push({ id, action: 'removed', fields: [] })
    if (!dryRun) await couch.update(id, stored => stored && { _deleted: true })
  }
  if (!dryRun && pushed.some(({ action, fields }) => action === 'removed' || fields.includes('views'))) {
    await couch.request({ method: 'POST', path: '_view_cleanup', body: {} })
  }
  return pushed
}

function actionOf (fields) {
  if (!fields) return 'new'
  return fields.length ? 'changed' : 'unchanged'
}

/**
 * @param {import('../store/couch.js').Couch} couch @param {import('./compose.js').DesignDocument} doc
 * @param {string[] | null} fields that differ, as differingFields returns them
 * @param {AbortSignal} [signal] @param {(event: PushEvent) => void} [onProgress]
 */
async function deploy (couch, doc, fields, signal, onProgress) {
  if (fields?.length === 0) {
    if (!doc.views) return
    await removeStaging(couch, doc) // left by a push that was killed after the swap
    await warmViews(couch, doc._id, doc, signal, onProgress) // it may have been killed before its index was built
    return
  }
  // a changed index is built while the old one still serves; a new one has no readers yet
  const isStaged = doc.views && fields?.some(field => field === 'views' || field === 'language')
  if (isStaged) await buildIndex(couch, doc, signal, onProgress)
  onProgress?.({ id: doc._id, step: 'swap' })
  await couch.update(doc._id, stored => differingFields(stored, doc)?.length === 0 ? undefined : doc)
  if (doc.views) await warmViews(couch, doc._id, doc, signal, onProgress)
  if (isStaged) {
    await waitForCommit(couch, doc._id, signal)
    await removeStaging(couch, doc)
  }
}

/** Finds retired documents whose views are all deployed. Another couchapp may have documents of the same names. */
async function findRetired (couch, docs) {
  const views = docs.find(({ _id }) => _id === SUCCESSOR)?.views
  if (!views) return []
  const rows = await Promise.all(RETIRED.map(id => couch.get(id)))
  return rows.filter(doc => doc?.views && Object.keys(doc.views).every(name => Object.hasOwn(views, name)))
    .map(({ _id }) => _id)
}

/**
 * Reads the stored document. couchdb-push writes no signatures of attachments: then the attachments are read as well.
 * @param {import('../store/couch.js').Couch} couch @param {import('./compose.js').DesignDocument} doc
 */
async function readStored (couch, { _id: id, _attachments }) {
  const stored = await couch.get(id)
  if (!stored || !_attachments || stored.couchapp?.signatures) return stored
  const fullDoc = await couch.find({ path: encodeId(id), qs: { attachments: true } })
  return fullDoc && { ...fullDoc, couchapp: { signatures: signaturesOf(fullDoc._attachments) } }
}

/** Fields that differ from the stored document; null if there is no stored document. */
function differingFields (stored, doc) {
  if (!stored) return null
  const names = new Set([...Object.keys(stored), ...Object.keys(doc)])
  names.delete('_rev')
  return [...names].filter(name => !isDeepStrictEqual(comparedPart(name, stored[name]), comparedPart(name, doc[name])))
}

/** The part of a field that is compared: couchapp tools write other details and content types of attachments. */
function comparedPart (name, value) {
  if (name === 'couchapp') return value?.signatures ?? {}
  if (name === '_attachments') return typesOf(value)
  return value
}

const typesOf = (attachments = {}) =>
  Object.fromEntries(Object.entries(attachments).map(([name, { content_type: type }]) => [name, essence(type)]))

/** A content type without its charset. JavaScript has two names. */
const essence = type => type.split(';')[0].trim().replace('application/javascript', 'text/javascript')

async function buildIndex (couch, doc, signal, onProgress) {
  const { views, language, options } = doc
  for (let attempt = 1; ; attempt++) {
    // only views: a staged validation function would already be in force
    await couch.update(doc._id + STAGING, () => ({ language, views, ...(options && { options }) }))
    try {
      return await warmViews(couch, doc._id + STAGING, doc, signal, onProgress)
    } catch (error) {
      // another push removed the staging document; if it deployed the same document, the index is built
      if (error.details?.status !== 404 || attempt >= ATTEMPTS) throw error
      if (differingFields(await couch.get(doc._id), doc)?.length === 0) return
    }
  }
}

const warmViews = (couch, id, doc, signal, onProgress) => warm(couch, id, Object.keys(doc.views)[0], {
  signal, onProgress: onProgress && (progress => onProgress({ id: doc._id, step: 'index', ...progress }))
})

/**
 * CouchDB commits indexes only every few seconds. If the staging document is removed before, CouchDB builds the
 * uncommitted part again while readers wait.
 */
async function waitForCommit (couch, id, signal) {
  for (const end = Date.now() + COMMIT; Date.now() < end; await sleep(100, undefined, { signal }).catch(() => {})) {
    const { view_index: index } = await couch.request({ path: `${encodeId(id)}/_info`, signal })
    if (!index?.waiting_commit) return
  }
}

async function removeStaging (couch, doc) {
  await couch.update(doc._id + STAGING, stored => stored && { _deleted: true })
}
