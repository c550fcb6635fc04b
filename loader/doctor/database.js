// The database: how it is cut, what it holds, what of that is waste.
import { adviseShards, compareShards } from '../advice.js'
import { CONFLICTS } from '../check/conflicts.js'
import { bytes, count, plural } from '../cli/output.js'
import { asFarAs } from './views.js'

/** @param {import('./visit.js').Visit} visit */
export async function lookAtDatabase (visit) {
  await Promise.all([
    !visit.embedded && visit.look('database', 'shards', 'a member', () => shards(visit)),
    visit.look('database', 'documents', 'a member', () => documents(visit)),
    !visit.embedded && visit.look('database', 'compaction', 'a member', () => compaction(visit)),
    visit.look('database', 'conflicts', 'a member', async () => asFarAs(visit, '_design/lifecycle', await conflicts(visit))),
    visit.look('database', 'revisions', 'a member', () => revisions(visit)),
    !visit.embedded && visit.look('database', 'purges', 'a server admin', () => purges(visit))
  ])
}

/** @returns {Promise<import('./visit.js').Found>} */
async function shards (visit) {
  const { cluster: { q, n } = {}, doc_count: docs, sizes: { active = 0 } = {} } = await visit.info()
  const found = `q=${q} n=${n}`
  if (!docs) return { state: 'ok', found }
  const nodes = await visit.membership().then(answer => answer.cluster_nodes.length, () => 1)
  const advice = adviseShards({ tiles: docs, tileBytes: Math.max(1, active / docs), nodes })
  const { fits, how } = compareShards(advice, { q, n, db: visit.couch.db })
  const figures = { q, n }
  if (fits) return { state: 'ok', found, figures }
  return { state: 'warning', found: `${found}, for ${count(docs)} documents rather q=${advice.q} n=${advice.n}`, why: q < advice.q ? 'Shards are written, indexed and compacted by one process each, as a whole.' : 'With one copy a node takes its shards along.', advice: how[0], figures }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function documents (visit) {
  const { doc_count: docs, doc_del_count: deleted = 0 } = await visit.info()
  const { tombstones, fewTombstones } = visit.limits
  const share = deleted / Math.max(1, docs + deleted)
  const figures = { documents: docs, deleted }
  const found = `${count(docs)}${deleted ? `, and ${plural(deleted, 'tombstone')} (${Math.round(100 * share)} %)` : ''}`
  if (deleted <= fewTombstones || share <= tombstones) return { state: 'ok', found, figures }
  return { state: 'warning', found, why: 'Tombstones stay for ever. Whoever follows or mirrors the store from the start reads all of them.', advice: 'Prune and remove with --purge: that leaves none. See docs/removing.md.', figures }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function compaction (visit) {
  const { sizes: { file = 0, active = 0 } = {}, compact_running: running } = await visit.info()
  return wasteOf(visit, { file, active, running, what: 'compact' })
}

/**
 * How much of a file is waste.
 * @param {import('./visit.js').Visit} visit
 * @param {{file: number, active: number, running: boolean, what: string}} sizes what: the request that compacts it
 * @returns {Promise<import('./visit.js').Found>}
 */
export async function wasteOf (visit, { file, active, running, what }) {
  const { waste, waits, little } = visit.limits
  const [slack, ratio] = [file - active, file / Math.max(1, active)]
  const found = `${bytes(file)}, of which ${bytes(active)} are in use${running ? '; being compacted' : ''}`
  const figures = { file, active }
  if (slack < little || (ratio < waste && slack < waits) || running) return { state: 'ok', found, figures }
  return {
    state: ratio > 2 * waste && slack > waits ? 'bad' : 'warning', found, figures,
    why: ratio > 2 * waste ? 'CouchDB should have compacted this long ago: smoosh does not run, or cannot for want of room.' : 'CouchDB compacts this by itself when it comes to it; until then it takes room on disk and in backups.',
    advice: `POST ${visit.couch.url}/_${what}; or look at smoosh/${what === 'compact' ? 'db' : 'view'}_channels, and at the disk.`
  }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function conflicts (visit) {
  const rows = await visit.couch.view(CONFLICTS, { group_level: 1 })
  const total = rows.reduce((sum, { value }) => sum + value, 0)
  const figures = { conflicts: total }
  if (!total) return { state: 'ok', found: 'none', figures }
  const named = rows.map(({ key: [layer], value }) => `${layer ?? 'others'} ${count(value)}`).join(', ')
  return { state: 'warning', found: `${plural(total, 'document')} (${named})`, why: 'Masters that were loaded apart disagree: what a reader sees is chosen by chance.', advice: 'tilecouch check --only conflicts --fix', figures }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function revisions (visit) {
  const limit = await visit.ask({ path: '_revs_limit', raw: true, parse: text => JSON.parse(text.toString()) })
  if (limit < 20) return { state: 'warning', found: `revs_limit ${limit}`, why: 'Replicas that were apart for longer than that take each other\'s changes for conflicts.', advice: `PUT ${visit.couch.url}/_revs_limit 1000` }
  if (limit > 5000) return { state: 'warning', found: `revs_limit ${limit}`, why: 'Heads that change every hour carry that many revisions each.', advice: `PUT ${visit.couch.url}/_revs_limit 1000` }
  return { state: 'ok', found: `revs_limit ${limit}` }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function purges (visit) {
  const { purge_seq: purged } = await visit.info()
  const limit = await visit.ask({ path: '_purged_infos_limit', raw: true, parse: text => JSON.parse(text.toString()) })
  const found = `${count(Number.parseInt(String(purged), 10) || 0)} so far, purged_infos_limit ${limit}`
  if (limit >= 1000) return { state: 'ok', found }
  return { state: 'warning', found, why: 'An index that is further behind than that is built anew, from the first document on.', advice: `PUT ${visit.couch.url}/_purged_infos_limit 1000` }
}
