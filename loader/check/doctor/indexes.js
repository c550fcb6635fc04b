// The indexes: whether they are those of this tilecouch, how far behind they are, and what other indexes remain.
import { ownDesigns } from '../../couchapp/compose.js'
import { STAGING, push } from '../../couchapp/push.js'
import { publish } from '../../couchapp/publish.js'
import { encodeId } from '../../../core/couch/client.js'
import { Store } from '../../store/index.js'
import { BY_TILE } from '../../store/reader.js'
import { bytes, plural } from '../../text.js'
import { bad, ok, unknown, warning } from './inspection.js'

const [DESIGN] = BY_TILE.split('/_view')

export const indexConditions = [
  { area: 'indexes', check: 'deployed', needs: 'a member', fixable: true, look: deployed },
  { area: 'indexes', check: 'up to date', needs: 'a member', look: behind },
  { area: 'indexes', check: 'rows', needs: 'a member', look: ghosts },
  { area: 'indexes', check: 'staging', needs: 'a member', look: staging },
  { area: 'indexes', check: 'compaction', needs: 'a member', couchOnly: true, look: sizes }
]

/**
 * The design documents with views, and what CouchDB says about their indexes.
 * @param {import('./inspection.js').Inspection} inspection
 * @returns {Promise<{id: string, index: any}[]>}
 */
export const indexes = inspection => inspection.once('indexes', async () => {
  const range = { startkey: '_design/', endkey: '_design0', include_docs: true, limit: inspection.limits.layers }
  const rows = await inspection.couch.page(range)
  const docs = rows.map(({ doc }) => doc).filter(doc => doc?.views && Object.keys(doc.views).length)
  return Promise.all(docs.map(async ({ _id: id }) => {
    const { view_index: index } = await inspection.couch.request({ path: `${encodeId(id)}/_info` })
    return { id, index }
  }))
})

/** A finding that was read from the index; unknown if the index is far behind. */
export async function ifIndexed (inspection, found) {
  const ownIndex = (await indexes(inspection)).find(one => one.id === DESIGN)
  if (found.state !== 'ok' || pendingOf(ownIndex?.index) <= inspection.limits.behind) return found
  return unknown(`its index (${DESIGN}) is far behind`, 'Look again when it is up to date.')
}

const pendingOf = index => index?.updates_pending?.total ?? 0

/** @param {import('./inspection.js').Inspection} inspection */
async function deployed (inspection) {
  if (await inspection.isNew()) return ok('not yet: the first load deploys them')
  const { couch, subject: { url, docs, q, n } } = inspection
  const pushed = await push(couch, docs ?? await ownDesigns(), { dryRun: true })
  const changed = pushed.filter(({ action }) => action !== 'unchanged')
  if (!changed.length) return ok('deployed')
  return warning(changed.map(({ id, action }) => `${id} ${action}`).join(', '),
    'The timeline, addresses with a time, sizes and lists need the design documents of this tilecouch.',
    'tilecouch push', { fix: async () => publish(await Store.create(url, { q, n }), { docs }) })
}

async function behind (inspection) {
  const { behind: much, far } = inspection.limits
  const all = (await indexes(inspection)).filter(({ id }) => !id.endsWith(STAGING)).map(({ id, index }) =>
    ({ id, pending: pendingOf(index), waiting: index.waiting_clients ?? 0, running: index.updater_running }))
  const late = all.filter(({ pending }) => pending > much)
  const pending = Math.max(0, ...all.map(one => one.pending))
  const figures = { pending, waiting: all.reduce((sum, { waiting }) => sum + waiting, 0) }
  if (!all.length) return ok('there are none', figures)
  if (!late.length) return ok(all.length === 1 ? '1 index' : `${all.length} indexes`, figures)
  const lacks = one => `${one.id} lacks ${plural(one.pending, 'change')}${one.running ? ', being built' : ''}` +
    (one.waiting ? `, ${plural(one.waiting, 'client')} wait` : '')
  return (pending > far ? bad : warning)(
    late.map(lacks).join('; '),
    'The next reader waits until it is up to date: CouchDB indexes some thousand changes a second.',
    late.every(({ running }) => running)
      ? 'Wait: it is being built.'
      : 'tilecouch push builds it. CouchDB (ken) does it by itself, unless ken.ignore names the database.',
    { figures })
}

/**
 * CouchDB 3.5.0 loses purges in its indexes when it compacts before they are up to date. There is one row per version,
 * and more documents than versions: an index with more rows than documents has rows of tiles that are gone.
 */
async function ghosts (inspection) {
  if (!(await indexes(inspection)).some(({ id }) => id === DESIGN)) return
  const query = { path: `${BY_TILE}/queries`, body: { queries: [{ limit: 0, reduce: false, update: false }] } }
  const { couch } = inspection
  const { results: [{ total_rows: rows = 0 }] } = await couch.request({ method: 'POST', ...query })
  const { doc_count: documents } = await couch.info()
  const { view_index: index } = await couch.request({ path: `${DESIGN}/_info` })
  const figures = { rows, documents }
  if (rows <= documents || pendingOf(index)) return ok('no more than documents', figures)
  return bad(`${DESIGN} has ${plural(rows, 'row')}, the store ${plural(documents, 'document')}`,
    'It lists tiles that were purged: lists, sizes and the timeline are wrong. ' +
      'CouchDB loses purges when it compacts indexes that are behind.',
    'Rebuild it: delete its design document, POST _view_cleanup, tilecouch push; then tilecouch check.', { figures })
}

async function staging (inspection) {
  const left = (await indexes(inspection)).filter(({ id }) => id.endsWith(STAGING))
  if (!left.length) return ok('none left')
  const names = left.map(({ id }) => id).join(', ')
  if (left.every(({ index }) => index.updater_running)) return ok(`${names}: being built`)
  return warning(`${names} ${left.length === 1 ? 'is' : 'are'} left by a push that was stopped`,
    'Every write updates an index that nobody reads.', 'tilecouch push removes it')
}

async function sizes (inspection) {
  const all = await indexes(inspection)
  if (!all.length) return ok('there are none')
  const states = await Promise.all(all.map(async ({ id, index }) => {
    const what = `compact/${id.slice('_design/'.length)}`
    const waste = await wasteOf(inspection, { ...index.sizes, running: index.compact_running, what })
    return { ...waste, found: `${id}: ${waste.found}` }
  }))
  const wrong = states.filter(({ state }) => state !== 'ok')
  if (wrong.length) return wrong
  const sum = kind => all.reduce((total, { index }) => total + index.sizes[kind], 0)
  const figures = { file: sum('file'), active: sum('active') }
  const { found: waste } = await wasteOf(inspection, { ...figures, running: false, what: 'compact' })
  return ok(waste, figures)
}

/**
 * The waste in a file.
 * @param {import('./inspection.js').Inspection} inspection
 * @param {{file: number, active: number, running: boolean, what: string}} sizes what: path that compacts it
 */
export async function wasteOf (inspection, { file, active, running, what }) {
  const { waste, waits, little } = inspection.limits
  const [slack, ratio] = [file - active, file / Math.max(1, active)]
  const finding = `${bytes(file)}, of which ${bytes(active)} are in use${running ? '; being compacted' : ''}`
  const figures = { file, active }
  if (slack < little || (ratio < waste && slack < waits) || running) return ok(finding, figures)
  const channels = `smoosh/${what === 'compact' ? 'db' : 'view'}_channels`
  const advice = `POST ${inspection.couch.url}/_${what}; or check ${channels} and the disk.`
  if (ratio > 2 * waste && slack > waits) {
    const why = 'CouchDB should have compacted this: smoosh does not run, or the disk is full.'
    return bad(finding, why, advice, { figures })
  }
  const why = 'CouchDB will compact this by itself. Until then it takes space on the disk.'
  return warning(finding, why, advice, { figures })
}
