// The indexes: whether they are those of this tilecouch, how far behind they are, and what other indexes remain.
import { ownDesigns } from '../couchapp/compose.js'
import { STAGING, push } from '../couchapp/push.js'
import { publish } from '../publish.js'
import { encodeId } from '../../core/couch/client.js'
import { Store } from '../store/index.js'
import { BY_TILE } from '../store/reader.js'
import { plural } from '../text.js'
import { wasteOf } from './database.js'

/** @typedef {import('./inspection.js').Inspection} Inspection @typedef {import('./inspection.js').Found} Found */

/** @type {import('./inspection.js').Condition[]} */
export const indexConditions = [
  { area: 'indexes', check: 'deployed', needs: 'a member', fixable: true, look: deployed },
  { area: 'indexes', check: 'up to date', needs: 'a member', look: behind },
  { area: 'indexes', check: 'rows', needs: 'a member', look: ghosts },
  { area: 'indexes', check: 'staging', needs: 'a member', look: staging },
  { area: 'indexes', check: 'compaction', needs: 'a member', couchOnly: true, look: sizes }
]

/** The design documents with views, and what CouchDB says about their indexes. @param {Inspection} inspection @returns {Promise<{id: string, index: any}[]>} */
export const indexes = inspection => inspection.once('indexes', async () => {
  const range = { startkey: '_design/', endkey: '_design0', include_docs: true, limit: inspection.limits.layers }
  const rows = await inspection.couch.page(range)
  const docs = rows.map(({ doc }) => doc).filter(doc => doc?.views && Object.keys(doc.views).length)
  return Promise.all(docs.map(async ({ _id: id }) => ({ id, index: (await inspection.ask({ path: `${encodeId(id)}/_info` })).view_index })))
})

/**
 * A finding that was read from an index; unknown where the index is far behind.
 * @param {Inspection} inspection @param {string} id of the design document
 * @param {Found} found
 * @returns {Promise<Found>}
 */
export async function ifIndexed (inspection, id, found) {
  const own = (await indexes(inspection)).find(one => one.id === id)
  if (found.state !== 'ok' || (own?.index.updates_pending?.total ?? 0) <= inspection.limits.behind) return found
  return { state: 'unknown', found: `its index (${id}) is far behind`, advice: 'Look again when it is up to date.' }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function deployed ({ couch, subject: { url, docs, q, n } }) {
  const changed = (await push(couch, docs ?? await ownDesigns(), { dryRun: true })).filter(({ action }) => action !== 'unchanged')
  if (!changed.length) return { state: 'ok', found: 'deployed' }
  return {
    state: 'warning',
    found: changed.map(({ id, action }) => `${id} ${action}`).join(', '),
    why: 'The timeline, addresses with a time, sizes and lists need the design documents of this tilecouch.',
    advice: 'tilecouch push',
    fix: async () => publish(await Store.create(url, { q, n }), { docs })
  }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function behind (inspection) {
  const all = (await indexes(inspection)).filter(({ id }) => !id.endsWith(STAGING))
  const { behind: much, far } = inspection.limits
  const late = all.map(({ id, index }) => ({ id, pending: index.updates_pending?.total ?? 0, waiting: index.waiting_clients ?? 0, running: index.updater_running })).filter(({ pending }) => pending > much)
  const figures = { pending: Math.max(0, ...all.map(({ index }) => index.updates_pending?.total ?? 0)), waiting: all.reduce((sum, { index }) => sum + (index.waiting_clients ?? 0), 0) }
  if (!all.length) return { state: 'ok', found: 'there are none', figures }
  if (!late.length) return { state: 'ok', found: `${plural(all.length, 'index')}`.replace(/indexs$/, 'indexes'), figures }
  const worst = late.reduce((one, other) => other.pending > one.pending ? other : one)
  return {
    state: worst.pending > far ? 'bad' : 'warning',
    found: late.map(({ id, pending, waiting, running }) => `${id} lacks ${plural(pending, 'change')}${running ? ', being built' : ''}${waiting ? `, ${plural(waiting, 'client')} wait` : ''}`).join('; '),
    why: 'The next reader waits until it is up to date: CouchDB indexes some thousand changes a second.',
    advice: late.every(({ running }) => running) ? 'Wait: it is being built.' : 'tilecouch push builds it. CouchDB (ken) does it by itself, unless ken.ignore names the database.',
    figures
  }
}

/**
 * CouchDB 3.5.0 loses purges in its indexes when it compacts before they are up to date. There is one row per tile, and more
 * documents than tiles: an index with more rows than documents has rows of tiles that are gone.
 * @returns {Promise<Found | void>}
 */
async function ghosts (inspection) {
  if (!(await indexes(inspection)).some(({ id }) => BY_TILE.startsWith(`${id}/`))) return
  const { results: [{ total_rows: rows = 0 }] } = await inspection.ask({ method: 'POST', path: `${BY_TILE}/queries`, body: { queries: [{ limit: 0, reduce: false, update: false }] } })
  const { doc_count: documents } = await inspection.ask({ path: '' })
  const { view_index: { updates_pending: pending } } = await inspection.ask({ path: `${BY_TILE.split('/_view')[0]}/_info` })
  const figures = { rows, documents }
  if (rows <= documents || pending?.total) return { state: 'ok', found: 'no more than documents', figures }
  return {
    state: 'bad', found: `_design/versions has ${plural(rows, 'row')}, the store ${plural(documents, 'document')}`, figures,
    why: 'It lists tiles that were purged: lists, sizes and the timeline are wrong. CouchDB loses purges when it compacts indexes that are behind.',
    advice: 'Rebuild it: delete its design document, POST _view_cleanup, tilecouch push; then tilecouch check.'
  }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function staging (inspection) {
  const left = (await indexes(inspection)).filter(({ id }) => id.endsWith(STAGING))
  const running = left.filter(({ index }) => index.updater_running)
  if (!left.length) return { state: 'ok', found: 'none left' }
  const names = left.map(({ id }) => id).join(', ')
  if (running.length === left.length) return { state: 'ok', found: `${names}: being built` }
  return { state: 'warning', found: `${names} ${left.length === 1 ? 'is' : 'are'} left by a push that was stopped`, why: 'Every write updates an index that nobody reads.', advice: 'tilecouch push removes it' }
}

/** @returns {Promise<Found | Found[]>} */
async function sizes (inspection) {
  const all = await indexes(inspection)
  if (!all.length) return { state: 'ok', found: 'there are none' }
  const found = await Promise.all(all.map(async ({ id, index }) => ({ id, ...await wasteOf(inspection, { ...index.sizes, running: index.compact_running, what: `compact/${id.slice('_design/'.length)}` }) })))
  const ill = found.filter(({ state }) => state !== 'ok')
  if (ill.length) return ill.map(({ id, ...one }) => ({ ...one, found: `${id}: ${one.found}` }))
  const figures = { file: all.reduce((sum, { index }) => sum + index.sizes.file, 0), active: all.reduce((sum, { index }) => sum + index.sizes.active, 0) }
  return { ...await wasteOf(inspection, { ...figures, running: false, what: 'compact' }), state: 'ok', figures }
}
