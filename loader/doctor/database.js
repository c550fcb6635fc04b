// The database: whether it exists, its shards, its documents, and what of its files is waste.
import { CONFLICTS } from '../check/conflicts.js'
import { Store } from '../store/index.js'
import { bytes, count, plural } from '../text.js'
import { ifIndexed } from './indexes.js'
import { adviseShards, compareShards } from './shards.js'

/** @typedef {import('./inspection.js').Inspection} Inspection @typedef {import('./inspection.js').Found} Found */

/** @type {import('./inspection.js').Condition[]} */
export const databaseConditions = [
  { area: 'database', check: 'database', needs: 'a member', server: true, fixable: true, look: existence },
  { area: 'database', check: 'shards', needs: 'a member', couchOnly: true, look: shards },
  { area: 'database', check: 'documents', needs: 'a member', look: documents },
  { area: 'database', check: 'compaction', needs: 'a member', couchOnly: true, look: compaction },
  { area: 'database', check: 'conflicts', needs: 'a member', look: async inspection => ifIndexed(inspection, '_design/lifecycle', await conflicts(inspection)) },
  { area: 'database', check: 'revisions', needs: 'a member', look: revisions },
  { area: 'database', check: 'purges', needs: 'a server admin', couchOnly: true, look: purges }
]

/** @param {Inspection} inspection @returns {Promise<Found | void>} nothing when it is there */
async function existence (inspection) {
  const { url, q, n } = inspection.subject
  try {
    await inspection.info()
  } catch (error) {
    if (error.code !== 'DATABASE_NOT_FOUND') throw error
    const advice = await inspection.advice()
    const size = advice ? ` with q=${advice.q} n=${advice.n}` : ''
    return {
      state: 'bad', found: error.message, why: 'There is no store. A load creates it as well.', advice: `tilecouch doctor --fix creates it${size}`,
      fix: () => Store.create(url, { public: false, q: q ?? advice?.q, n: n ?? advice?.n })
    }
  }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function shards (inspection) {
  const { cluster: { q, n } = {}, doc_count: docs, sizes: { active = 0 } = {} } = await inspection.info()
  const found = `q=${q} n=${n}`
  const expected = await inspection.advice()
  if (!docs && !expected) return { state: 'ok', found }
  const advice = expected ?? adviseShards({ tiles: docs, tileBytes: Math.max(1, active / docs), nodes: await inspection.nodes() })
  const { fits, how } = compareShards(advice, { q, n, db: inspection.couch.db })
  const figures = { q, n }
  if (fits) return { state: 'ok', found, figures }
  return {
    state: 'warning', figures,
    found: `${found}; ${count(expected ? expected.tiles : docs)} ${expected ? 'tiles' : 'documents'} need q=${advice.q} n=${advice.n}`,
    why: q < advice.q ? 'One process writes, indexes and compacts each shard as a whole.' : 'With one copy, shards are lost with their node.',
    advice: how.join(' ')
  }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function documents (inspection) {
  const { doc_count: docs, doc_del_count: deleted = 0 } = await inspection.info()
  const { tombstones, fewTombstones } = inspection.limits
  const share = deleted / Math.max(1, docs + deleted)
  const figures = { documents: docs, deleted }
  const found = `${count(docs)}${deleted ? `, and ${plural(deleted, 'tombstone')} (${Math.round(100 * share)} %)` : ''}`
  if (deleted <= fewTombstones || share <= tombstones) return { state: 'ok', found, figures }
  const why = 'Tombstones are never removed. Every new mirror or follower reads all of them.'
  return { state: 'warning', found, why, advice: 'Use --purge with prune and remove: it leaves no tombstones. See docs/removing.md.', figures }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function compaction (inspection) {
  const { sizes: { file = 0, active = 0 } = {}, compact_running: running } = await inspection.info()
  return wasteOf(inspection, { file, active, running, what: 'compact' })
}

/**
 * The waste in a file.
 * @param {Inspection} inspection
 * @param {{file: number, active: number, running: boolean, what: string}} sizes what: path of the request that compacts it
 * @returns {Promise<Found>}
 */
export async function wasteOf (inspection, { file, active, running, what }) {
  const { waste, waits, little } = inspection.limits
  const [slack, ratio] = [file - active, file / Math.max(1, active)]
  const found = `${bytes(file)}, of which ${bytes(active)} are in use${running ? '; being compacted' : ''}`
  const figures = { file, active }
  if (slack < little || (ratio < waste && slack < waits) || running) return { state: 'ok', found, figures }
  return {
    state: ratio > 2 * waste && slack > waits ? 'bad' : 'warning', found, figures,
    why: ratio > 2 * waste ? 'CouchDB should have compacted this long ago: smoosh does not run, or the disk is too full.' : 'CouchDB will compact this by itself; until then it takes space on the disk and in backups.',
    advice: `POST ${inspection.couch.url}/_${what}; or check smoosh/${what === 'compact' ? 'db' : 'view'}_channels and the disk.`
  }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function conflicts (inspection) {
  const rows = await inspection.couch.view(CONFLICTS, { group_level: 1 })
  const total = rows.reduce((sum, { value }) => sum + value, 0)
  const figures = { conflicts: total }
  if (!total) return { state: 'ok', found: 'none', figures }
  const named = rows.map(({ key: [layer], value }) => `${layer ?? 'others'} ${count(value)}`).join(', ')
  const why = 'Stores that were loaded independently disagree: which version readers see is chance.'
  return { state: 'warning', found: `${plural(total, 'document')} (${named})`, why, advice: 'tilecouch check --only conflicts --fix', figures }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function revisions (inspection) {
  const limit = await inspection.ask({ path: '_revs_limit', raw: true, parse: text => JSON.parse(text.toString()) })
  const advice = `PUT ${inspection.couch.url}/_revs_limit 1000`
  if (limit < 20) return { state: 'warning', found: `revs_limit ${limit}`, why: 'Mirrors that are further behind see changes as conflicts.', advice }
  if (limit > 5000) return { state: 'warning', found: `revs_limit ${limit}`, why: 'Heads that change often store that many revisions each.', advice }
  return { state: 'ok', found: `revs_limit ${limit}` }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function purges (inspection) {
  const { purge_seq: purged } = await inspection.info()
  const limit = await inspection.ask({ path: '_purged_infos_limit', raw: true, parse: text => JSON.parse(text.toString()) })
  const found = `${count(Number.parseInt(String(purged), 10) || 0)} so far, purged_infos_limit ${limit}`
  if (limit >= 1000) return { state: 'ok', found }
  return { state: 'warning', found, why: 'An index that misses more purges than this is built again from the start.', advice: `PUT ${inspection.couch.url}/_purged_infos_limit 1000` }
}
