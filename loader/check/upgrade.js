// Brings a store that an earlier program wrote to the schema and design documents of this one, and checks the document
// that marks a database as a store. Readers are served meanwhile: documents are changed one at a time, each to a form
// that both programs read, and indexes are built beside the old ones.
import { STORE_ID, formatReference, parseDocumentId } from '../../core/index.js'
import { ownDesigns } from '../couchapp/compose.js'
import { push } from '../couchapp/push.js'
import { SCHEMA, mark, markerFaults, schemaOf } from '../store/marker.js'

export async function checkMark (couch, report) {
  const doc = await couch.find({ path: STORE_ID, qs: { conflicts: true } })
  if (!doc) return report.add('no-mark', STORE_ID)
  if (doc._conflicts?.length) report.add('conflict', STORE_ID, `${doc._rev} and ${doc._conflicts}`)
  for (const why of markerFaults(doc)) report.add('bad-mark', STORE_ID, why)
}

// the only step from one schema of documents to the next
const MARK =
  { name: 'mark', does: 'the database is marked as a store: another program, or replication of a part, has filled it' }

/**
 * @typedef {object} UpgradeSummary
 * @property {number} from schema that was found
 * @property {number} to schema of this program
 * @property {{name: string, does: string, done: boolean}[]} steps that were to be taken
 * @property {import('../couchapp/push.js').Pushed[]} designs
 * @property {string} [skipped] why the design documents were not changed
 * @property {number} [unstated] editions without a manifest: an earlier program or a device made them
 */

/**
 * @typedef {object} UpgradeOptions
 * @property {boolean} [dryRun] lists the steps, and writes nothing
 * @property {AbortSignal} [signal]
 * @property {(event: import('../couchapp/push.js').PushEvent) => void} [onPush] of a design document
 */

/**
 * @param {import('../store/index.js').Store} store that this program may open: a newer schema is refused there
 * @param {UpgradeOptions} [options]
 * @returns {Promise<UpgradeSummary>}
 */
export async function upgrade (store, { dryRun = false, signal, onPush } = {}) {
  const { couch } = store
  const from = schemaOf(await couch.get(STORE_ID))
  const steps = from < SCHEMA ? [{ ...MARK, done: !dryRun }] : []
  if (steps.length && !dryRun) await mark(couch)
  const summary = /** @type {UpgradeSummary} */ ({ from, to: SCHEMA, steps, designs: [] })
  const unstated = await countUnstated(couch, signal)
  if (unstated) summary.unstated = unstated
  const docs = await ownDesigns()
  const storedDesigns = await push(couch, docs, { dryRun: true })
  // a store without design documents is still being filled: a load is twice as fast without them
  if (storedDesigns.every(({ action }) => action === 'new')) {
    return { ...summary, skipped: 'the store was never published' }
  }
  return { ...summary, designs: dryRun ? storedDesigns : await push(couch, docs, { signal, onProgress: onPush }) }
}

/** The number of editions without a manifest. */
async function countUnstated (couch, signal) {
  const ranges = ['edition:', 'manifest:'].map(startkey => ({ startkey, endkey: `${startkey}~` }))
  const [editions, manifests] = (await couch.ranges(ranges, signal)).map(rows => rows.flatMap(({ id }) => {
    const document = parseDocumentId(id)
    return document ? [formatReference(document.layer, document.time)] : []
  }))
  const stated = new Set(manifests)
  return editions.filter(edition => !stated.has(edition)).length
}
