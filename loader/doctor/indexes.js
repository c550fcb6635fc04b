// The indexes: whether they are what this program deploys, how far behind, how large, and what is left of others.
import { designState } from '../setup.js'
import { BY_TILE } from '../store/reader.js'
import { plural } from '../cli/output.js'
import { STAGING } from '../couchapp/push.js'
import { wasteOf } from './database.js'
import { indexes } from './views.js'

/** @param {import('./visit.js').Visit} visit @param {{docs?: import('../couchapp/compose.js').DesignDocument[]}} options docs: what should be deployed */
export async function lookAtIndexes (visit, { docs }) {
  await Promise.all([
    visit.look('indexes', 'deployed', 'a member', () => deployed(visit, docs)),
    visit.look('indexes', 'up to date', 'a member', () => behind(visit)),
    visit.look('indexes', 'rows', 'a member', () => ghosts(visit)),
    visit.look('indexes', 'staging', 'a member', () => staging(visit)),
    !visit.embedded && visit.look('indexes', 'compaction', 'a member', () => sizes(visit))
  ])
}

/** @returns {Promise<import('./visit.js').Found>} */
async function deployed (visit, docs) {
  const { ok, found } = await designState(visit.couch, docs)
  return ok
    ? { state: 'ok', found }
    : { state: 'warning', found, why: 'The timeline, as-of addresses, sizes and listings need the indexes of this version of tilecouch.', advice: 'tilecouch push' }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function behind (visit) {
  const all = (await indexes(visit)).filter(({ id }) => !id.endsWith(STAGING))
  const { behind: much, far } = visit.limits
  const late = all.map(({ id, index }) => ({ id, pending: index.updates_pending?.total ?? 0, waiting: index.waiting_clients ?? 0, running: index.updater_running })).filter(({ pending }) => pending > much)
  const figures = { pending: Math.max(0, ...all.map(({ index }) => index.updates_pending?.total ?? 0)), waiting: all.reduce((sum, { index }) => sum + (index.waiting_clients ?? 0), 0) }
  if (!all.length) return { state: 'ok', found: 'there are none', figures }
  if (!late.length) return { state: 'ok', found: `${plural(all.length, 'index')}`.replace(/indexs$/, 'indexes'), figures }
  const worst = late.reduce((one, other) => other.pending > one.pending ? other : one)
  return {
    state: worst.pending > far ? 'bad' : 'warning',
    found: late.map(({ id, pending, waiting, running }) => `${id} lacks ${plural(pending, 'change')}${running ? ', being built' : ''}${waiting ? `, ${plural(waiting, 'client')} wait` : ''}`).join('; '),
    why: 'Whoever asks it next waits until it is there, some thousand changes a second.',
    advice: late.every(({ running }) => running) ? 'It is being built: let it.' : 'tilecouch push builds it; later ken does by itself, unless ken.ignore names the database.',
    figures
  }
}

/**
 * CouchDB 3.5.0 loses purges in its indexes when it compacts before they are up to date. There is a row a tile, and more
 * documents than tiles: an index with more rows than there are documents holds some of what is gone.
 * @returns {Promise<import('./visit.js').Found | void>}
 */
async function ghosts (visit) {
  if (!(await indexes(visit)).some(({ id }) => BY_TILE.startsWith(`${id}/`))) return
  const { results: [{ total_rows: rows = 0 }] } = await visit.ask({ method: 'POST', path: `${BY_TILE}/queries`, body: { queries: [{ limit: 0, reduce: false, update: false }] } })
  const { doc_count: documents } = await visit.ask({ path: '' })
  const { view_index: { updates_pending: pending } } = await visit.ask({ path: `${BY_TILE.split('/_view')[0]}/_info` })
  const figures = { rows, documents }
  if (rows <= documents || pending?.total) return { state: 'ok', found: 'of documents that are there', figures }
  return {
    state: 'bad', found: `_design/versions has ${plural(rows, 'row')} of ${plural(documents, 'document')}`, figures,
    why: 'It tells of tiles that were purged: listings, sizes and the timeline are wrong. CouchDB loses purges in indexes that are not up to date when it compacts.',
    advice: 'Have it built anew: delete its design document, POST _view_cleanup, tilecouch push; then tilecouch check.'
  }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function staging (visit) {
  const left = (await indexes(visit)).filter(({ id }) => id.endsWith(STAGING))
  const running = left.filter(({ index }) => index.updater_running)
  if (!left.length) return { state: 'ok', found: 'none left' }
  const names = left.map(({ id }) => id).join(', ')
  if (running.length === left.length) return { state: 'ok', found: `${names}: being built` }
  return { state: 'warning', found: `${names} ${left.length === 1 ? 'is' : 'are'} left of a push that was stopped`, why: 'An index that nobody reads is kept up to date with every write.', advice: 'tilecouch push, which takes it away' }
}

/** @returns {Promise<import('./visit.js').Found | import('./visit.js').Found[]>} */
async function sizes (visit) {
  const all = await indexes(visit)
  if (!all.length) return { state: 'ok', found: 'there are none' }
  const found = await Promise.all(all.map(async ({ id, index }) => ({ id, ...await wasteOf(visit, { ...index.sizes, running: index.compact_running, what: `compact/${id.slice('_design/'.length)}` }) })))
  const ill = found.filter(({ state }) => state !== 'ok')
  if (ill.length) return ill.map(({ id, ...one }) => ({ ...one, found: `${id}: ${one.found}` }))
  const figures = { file: all.reduce((sum, { index }) => sum + index.sizes.file, 0), active: all.reduce((sum, { index }) => sum + index.sizes.active, 0) }
  return { ...await wasteOf(visit, { ...figures, running: false, what: 'compact' }), state: 'ok', figures }
}
