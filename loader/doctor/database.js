// The database: whether it exists, its shards, its documents, and what of its files is waste.
import { CONFLICTS } from '../check/conflicts.js'
import { Store } from '../store/index.js'
import { bytes, count, plural } from '../text.js'
import { ifIndexed } from './indexes.js'
import { bad, ok, warning } from './inspection.js'
import { adviseShards, compareShards } from './shards.js'

export const databaseConditions = [
  { area: 'database', check: 'database', needs: 'a member', server: true, fixable: true, look: existence },
  { area: 'database', check: 'shards', needs: 'a member', couchOnly: true, look: shards },
  { area: 'database', check: 'documents', needs: 'a member', look: documents },
  { area: 'database', check: 'compaction', needs: 'a member', couchOnly: true, look: compaction },
  {
    area: 'database', check: 'conflicts', needs: 'a member',
    look: async inspection => ifIndexed(inspection, await conflicts(inspection))
  },
  { area: 'database', check: 'revisions', needs: 'a member', look: revisions },
  { area: 'database', check: 'purges', needs: 'a server admin', couchOnly: true, look: purges }
]

/** Finds nothing when the database is there. */
async function existence (inspection) {
  const { url, q, n, closed } = inspection.subject
  try {
    await inspection.info()
  } catch (error) {
    if (error.code !== 'DATABASE_NOT_FOUND') throw error
    const advice = await inspection.advice()
    const size = advice ? ` with q=${advice.q} n=${advice.n}` : ''
    const fix = () => Store.create(url, { public: false, closed, q: q ?? advice?.q, n: n ?? advice?.n })
    return bad(error.message, 'There is no store. A load creates it as well.',
      `tilecouch doctor --fix creates it${size}`, { fix })
  }
}

async function shards (inspection) {
  const { cluster: { q, n } = {}, doc_count: docs, sizes: { active = 0 } = {} } = await inspection.info()
  const found = `q=${q} n=${n}`
  const expected = await inspection.advice()
  if (!docs && !expected) return ok(found)
  const tileBytes = Math.max(1, active / docs)
  const advice = expected ?? adviseShards({ tiles: docs, tileBytes, nodes: await inspection.nodes() })
  const { fits, how } = compareShards(advice, { q, n, db: inspection.couch.db })
  const figures = { q, n }
  if (fits) return ok(found, figures)
  const many = expected ? `${count(expected.tiles)} tiles` : `${count(docs)} documents`
  const why = q < advice.q
    ? 'One process writes, indexes and compacts each shard as a whole.'
    : 'With one copy, shards are lost with their node.'
  return warning(`${found}; ${many} need q=${advice.q} n=${advice.n}`, why, how.join(' '), { figures })
}

async function documents (inspection) {
  const { doc_count: docs, doc_del_count: deleted = 0 } = await inspection.info()
  const { tombstones, fewTombstones } = inspection.limits
  const share = deleted / Math.max(1, docs + deleted)
  const figures = { documents: docs, deleted }
  const found = `${count(docs)}${deleted ? `, and ${plural(deleted, 'tombstone')} (${Math.round(100 * share)} %)` : ''}`
  if (deleted <= fewTombstones || share <= tombstones) return ok(found, figures)
  return warning(found, 'Tombstones are never removed. Every new mirror or follower reads all of them.',
    'Use --purge with prune and remove: it leaves no tombstones. See docs/removing.md.', { figures })
}

async function compaction (inspection) {
  const { sizes: { file = 0, active = 0 } = {}, compact_running: running } = await inspection.info()
  return wasteOf(inspection, { file, active, running, what: 'compact' })
}

/**
 * The waste in a file.
 * @param {import('./inspection.js').Inspection} inspection
 * @param {{file: number, active: number, running: boolean, what: string}} sizes what: path that compacts it
 */
export async function wasteOf (inspection, { file, active, running, what }) {
  const { waste, waits, little } = inspection.limits
  const [slack, ratio] = [file - active, file / Math.max(1, active)]
  const found = `${bytes(file)}, of which ${bytes(active)} are in use${running ? '; being compacted' : ''}`
  const figures = { file, active }
  if (slack < little || (ratio < waste && slack < waits) || running) return ok(found, figures)
  const channels = `smoosh/${what === 'compact' ? 'db' : 'view'}_channels`
  const advice = `POST ${inspection.couch.url}/_${what}; or check ${channels} and the disk.`
  return ratio > 2 * waste && slack > waits
    ? bad(found, 'CouchDB should have compacted this: smoosh does not run, or the disk is full.', advice, { figures })
    : warning(found, 'CouchDB will compact this by itself. Until then it takes space on the disk.', advice, { figures })
}

async function conflicts (inspection) {
  const rows = await inspection.couch.view(CONFLICTS, { group_level: 1 })
  const total = rows.reduce((sum, { value }) => sum + value, 0)
  const figures = { conflicts: total }
  if (!total) return ok('none', figures)
  const named = rows.map(({ key: [layer], value }) => `${layer ?? 'others'} ${count(value)}`).join(', ')
  const why = 'Stores that were loaded independently disagree: which version readers see is chance.'
  return warning(`${plural(total, 'document')} (${named})`, why, 'tilecouch check --only conflicts --fix', { figures })
}

const limitOf = (inspection, path) =>
  inspection.ask({ path, raw: true, parse: text => JSON.parse(text.toString()) })

async function revisions (inspection) {
  const limit = await limitOf(inspection, '_revs_limit')
  const found = `revs_limit ${limit}`
  const advice = `PUT ${inspection.couch.url}/_revs_limit 1000`
  if (limit < 20) return warning(found, 'Mirrors that are further behind see changes as conflicts.', advice)
  if (limit > 5000) return warning(found, 'Heads that change often store that many revisions each.', advice)
  return ok(found)
}

async function purges (inspection) {
  const { purge_seq: purged } = await inspection.info()
  const limit = await limitOf(inspection, '_purged_infos_limit')
  const found = `${count(Number.parseInt(String(purged), 10) || 0)} so far, purged_infos_limit ${limit}`
  if (limit >= 1000) return ok(found)
  return warning(found, 'An index that misses more purges than this is built again from the start.',
    `PUT ${inspection.couch.url}/_purged_infos_limit 1000`)
}
