// Checks the database: whether it exists, its documents, its conflicts, and how much of its file is waste.
import { CONFLICTS } from '../conflicts.js'
import { Store } from '../../store/index.js'
import { count, plural } from '../../text.js'
import { ifIndexed, wasteOf } from './indexes.js'
import { bad, ok, warning } from './inspection.js'

export const databaseConditions = [
  { area: 'database', check: 'database', needs: 'a member', server: true, fixable: true, look: checkExistence },
  { area: 'database', check: 'documents', needs: 'a member', look: checkDocuments },
  { area: 'database', check: 'compaction', needs: 'a member', couchOnly: true, look: checkCompaction },
  {
    area: 'database', check: 'conflicts', needs: 'a member',
    look: async inspection => ifIndexed(inspection, await checkConflicts(inspection))
  }
]

/** Reports nothing if the database exists. */
async function checkExistence (inspection) {
  const { url, q, n, closed } = inspection.subject
  try {
    await inspection.info()
  } catch (error) {
    if (error.code !== 'DATABASE_NOT_FOUND') throw error
    const fix = () => Store.create(url, { public: false, closed, q, n })
    const why = 'There is no store. A load creates it as well.'
    return bad(error.message, why, 'tilecouch doctor --fix creates it', { fix })
  }
}

async function checkDocuments (inspection) {
  const { doc_count: docs, doc_del_count: deleted = 0 } = await inspection.info()
  const { tombstones, fewTombstones } = inspection.limits
  const share = deleted / Math.max(1, docs + deleted)
  const figures = { documents: docs, deleted }
  const tombstonesText = deleted ? `, and ${plural(deleted, 'tombstone')} (${Math.round(100 * share)} %)` : ''
  const finding = `${count(docs)}${tombstonesText}`
  if (deleted <= fewTombstones || share <= tombstones) return ok(finding, figures)
  return warning(finding, 'Tombstones are never removed. Every new mirror or follower reads all of them.',
    'Use --purge with prune and remove: it leaves no tombstones. See docs/removing.md.', { figures })
}

async function checkCompaction (inspection) {
  const { sizes: { file = 0, active = 0 } = {}, compact_running: running } = await inspection.info()
  return wasteOf(inspection, { file, active, running, what: 'compact' })
}

async function checkConflicts (inspection) {
  const rows = await inspection.couch.view(CONFLICTS, { group_level: 1 })
  const total = rows.reduce((sum, { value }) => sum + value, 0)
  const figures = { conflicts: total }
  if (!total) return ok('none', figures)
  const byLayer = rows.map(({ key: [layer], value }) => `${layer ?? 'others'} ${count(value)}`).join(', ')
  const why = 'Stores that were loaded independently disagree: which version readers see is chance.'
  const finding = `${plural(total, 'document')} (${byLayer})`
  return warning(finding, why, 'tilecouch check --only conflicts --fix', { figures })
}
