// Checks the indexes: whether they are deployed and up to date, whether their rows are right, and how much is waste.
import { ownDesigns } from '../../couchapp/compose.js'
import { STAGING, push } from '../../couchapp/push.js'
import { publish } from '../../couchapp/publish.js'
import { Store } from '../../store/index.js'
import { indexStates } from '../../store/indexes.js'
import { BY_TILE } from '../../store/reader.js'
import { bytes, plural } from '../../text.js'
import { bad, ok, unknown, warning } from './inspection.js'

const [DESIGN] = BY_TILE.split('/_view')

export const indexConditions = [
  { area: 'indexes', check: 'deployed', needs: 'a member', fixable: true, look: checkDeployed },
  { area: 'indexes', check: 'up to date', needs: 'a member', look: checkBehind },
  { area: 'indexes', check: 'rows', needs: 'a member', look: checkRows },
  { area: 'indexes', check: 'staging', needs: 'a member', look: checkStaging },
  { area: 'indexes', check: 'compaction', needs: 'a member', couchOnly: true, look: checkSizes }
]

/**
 * The state of every index.
 * @param {import('./inspection.js').Inspection} inspection
 * @returns {ReturnType<typeof indexStates>}
 */
export const indexes = inspection => inspection.once('indexes', () => indexStates(inspection.couch))

/** Returns a finding that was read from the index, or `unknown` if the index is far behind. */
export async function ifIndexed (inspection, finding) {
  const ownIndex = (await indexes(inspection)).find(entry => entry.id === DESIGN)
  if (finding.state !== 'ok' || pendingOf(ownIndex?.index) <= inspection.limits.behind) return finding
  return unknown(`its index (${DESIGN}) is far behind`, 'Look again when it is up to date.')
}

const pendingOf = index => index?.updates_pending?.total ?? 0

/** @param {import('./inspection.js').Inspection} inspection */
async function checkDeployed (inspection) {
  if (await inspection.isNew()) return ok('not yet: the first load deploys them')
  const { couch, subject: { url, docs, q, n } } = inspection
  const pushed = await push(couch, docs ?? await ownDesigns(), { dryRun: true })
  const changed = pushed.filter(({ action }) => action !== 'unchanged')
  if (!changed.length) return ok('deployed')
  return warning(changed.map(({ id, action }) => `${id} ${action}`).join(', '),
    'The timeline, addresses with a time, sizes and lists need the design documents of this tilecouch.',
    'tilecouch push', { fix: async () => publish(await Store.create(url, { q, n }), { docs }) })
}

async function checkBehind (inspection) {
  const { behind: behindLimit, far: farBehindLimit } = inspection.limits
  const entries = (await indexes(inspection)).filter(({ id }) => !id.endsWith(STAGING)).map(({ id, index }) =>
    ({ id, pending: pendingOf(index), waiting: index.waiting_clients ?? 0, running: index.updater_running }))
  const lateEntries = entries.filter(({ pending }) => pending > behindLimit)
  const pending = Math.max(0, ...entries.map(entry => entry.pending))
  const figures = { pending, waiting: entries.reduce((sum, { waiting }) => sum + waiting, 0) }
  if (!entries.length) return ok('there are none', figures)
  if (!lateEntries.length) return ok(entries.length === 1 ? '1 index' : `${entries.length} indexes`, figures)
  const lagOf = entry => `${entry.id} lacks ${plural(entry.pending, 'change')}${entry.running ? ', being built' : ''}` +
    (entry.waiting ? `, ${plural(entry.waiting, 'client')} wait` : '')
  return (pending > farBehindLimit ? bad : warning)(
    lateEntries.map(lagOf).join('; '),
    'The next reader waits until it is up to date: CouchDB indexes some thousand changes a second.',
    lateEntries.every(({ running }) => running)
      ? 'Wait: it is being built.'
      : 'tilecouch push builds it. CouchDB (ken) does it by itself, unless ken.ignore names the database.',
    { figures })
}

/**
 * CouchDB 3.5.0 loses purges in its indexes when it compacts before they are up to date. There is one row per version,
 * and more documents than versions: an index with more rows than documents has rows of purged tiles.
 */
async function checkRows (inspection) {
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

async function checkStaging (inspection) {
  const stagedIndexes = (await indexes(inspection)).filter(({ id }) => id.endsWith(STAGING))
  if (!stagedIndexes.length) return ok('none left')
  const names = stagedIndexes.map(({ id }) => id).join(', ')
  if (stagedIndexes.every(({ index }) => index.updater_running)) return ok(`${names}: being built`)
  return warning(`${names} ${stagedIndexes.length === 1 ? 'is' : 'are'} left by a push that was stopped`,
    'Every write updates an index that nobody reads.', 'tilecouch push removes it')
}

async function checkSizes (inspection) {
  const allIndexes = await indexes(inspection)
  if (!allIndexes.length) return ok('there are none')
  const states = await Promise.all(allIndexes.map(async ({ id, index }) => {
    const path = `compact/${id.slice('_design/'.length)}`
    const waste = await wasteOf(inspection, { ...index.sizes, running: index.compact_running, what: path })
    return { ...waste, found: `${id}: ${waste.found}` }
  }))
  const wasteful = states.filter(({ state }) => state !== 'ok')
  if (wasteful.length) return wasteful
  const sum = kind => allIndexes.reduce((total, { index }) => total + index.sizes[kind], 0)
  const figures = { file: sum('file'), active: sum('active') }
  const { found: waste } = await wasteOf(inspection, { ...figures, running: false, what: 'compact' })
  return ok(waste, figures)
}

/**
 * Judges the waste in a file.
 * @param {import('./inspection.js').Inspection} inspection
 * @param {{file: number, active: number, running: boolean, what: string}} sizes what: the path that compacts it
 */
export async function wasteOf (inspection, { file, active, running, what: path }) {
  const { waste, waits, little } = inspection.limits
  const [slack, ratio] = [file - active, file / Math.max(1, active)]
  const finding = `${bytes(file)}, of which ${bytes(active)} are in use${running ? '; being compacted' : ''}`
  const figures = { file, active }
  if (slack < little || (ratio < waste && slack < waits) || running) return ok(finding, figures)
  const channels = `smoosh/${path === 'compact' ? 'db' : 'view'}_channels`
  const advice = `POST ${inspection.couch.url}/_${path}; or check ${channels} and the disk.`
  if (ratio > 2 * waste && slack > waits) {
    const why = 'CouchDB should have compacted this: smoosh does not run, or the disk is full.'
    return bad(finding, why, advice, { figures })
  }
  const why = 'CouchDB will compact this by itself. Until then it takes space on the disk.'
  return warning(finding, why, advice, { figures })
}
