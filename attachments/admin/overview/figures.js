// Reads the figures of the overview: layers from views, sizes, indexes and running tasks. No request waits for an
// index: a view answers from its present state, and starts an update if that is short.
import { ignoreMissing } from '../../../core/promises.js'
import { fromMilliseconds } from '../../../core/times.js'

const DESIGN = '_design/versions'
const VIEW = `${DESIGN}/_view`

export const figureDefaults = {
  soon: 10_000, // pending changes up to which a request starts the update of an index: some seconds
  counted: 1000, // rows to count one by one, if the store does not return offsets
  days: [1, 7] // spans from now on, for which expiring tiles are counted
}

const DAY = 86_400_000 // milliseconds

/**
 * @typedef {import('../couch.js').Couch} Couch
 * @typedef {{tiles: number, currentBytes: number, versions: number, bytes: number}} LayerFigures tiles: heads;
 *   versions, bytes: of all times
 * @typedef {{layers: Map<string, LayerFigures>, total: LayerFigures, conflicts: number}} Figures
 * @typedef {{tiles: number, isMore: boolean}} Count isMore: there are more
 */

/** Reads the state of the database, of its index and, for server admins, the tasks of the server. */
export async function readState (couch, user, signal) {
  const [info, index, tasks] = await Promise.all([
    couch.ask('', { signal }),
    orMissing(couch.ask(`${DESIGN}/_info`, { signal })),
    user.isServerAdmin ? couch.ask('/_active_tasks', { signal }) : null
  ])
  return { info, index: index?.view_index ?? null, tasks: tasks && tasks.filter(task => isOf(task, info.db_name)) }
}

/** The number of changes that an index has not read yet. */
export const pendingOf = index => index?.updates_pending?.total ?? 0

/** @param {Couch} couch @param {any} index @returns {Promise<Figures | null>} null without the index */
export async function readFigures (couch, index, signal) {
  if (!index) return null
  const pending = pendingOf(index)
  const update = pending > 0 && pending <= figureDefaults.soon ? 'lazy' : 'false'
  const view = (name, query) => orMissing(couch.ask(`${VIEW}/${name}`, { query: { update, ...query }, signal }))
  const [byTime, byArea, conflicts] = await Promise.all([
    view('by_time', { group_level: 1 }), view('by_area', { group_level: 1 }), view('conflicts', {})
  ])
  if (!byTime || !byArea) return null
  const layers = new Map()
  const figuresOf = layer => {
    if (!layers.has(layer)) layers.set(layer, { tiles: 0, currentBytes: 0, versions: 0, bytes: 0 })
    return layers.get(layer)
  }
  for (const { key: [layer], value } of byTime.rows) {
    Object.assign(figuresOf(layer), { versions: value.count, bytes: value.sum })
  }
  for (const { key: [layer], value } of byArea.rows) {
    Object.assign(figuresOf(layer), { tiles: value.count, currentBytes: value.sum })
  }
  const sum = field => [...layers.values()].reduce((total, figures) => total + figures[field], 0)
  const total = {
    tiles: sum('tiles'), currentBytes: sum('currentBytes'), versions: sum('versions'), bytes: sum('bytes')
  }
  return { layers, total, conflicts: conflicts?.rows[0]?.value ?? 0 }
}

/**
 * Counts the tiles that have expired or will in the next days, by their own time or the ttl of their layer.
 * @param {Couch} couch @param {any[]} layers documents @param {number} now milliseconds
 * @returns {Promise<{expired: Count, next: {days: number, count: Count}[]} | null>} null without the index
 */
export async function readExpiring (couch, layers, now, signal) {
  const expiringLayers = layers.filter(({ ttl }) => ttl > 0)
  const spans = [[-Infinity, now], ...figureDefaults.days.map(days => [now, now + days * DAY])]
  const ranges = spans.map(([from, to]) =>
    ({ startkey: from > 0 ? [timeOf(from), {}] : null, endkey: [timeOf(to), {}] }))
  const byTtl = spans.map(([from, to]) => expiringLayers.map(({ layer, ttl }) => ({
    startkey: from > 0 ? [layer, timeOf(from - ttl * 1000), {}] : [layer],
    endkey: [layer, timeOf(to - ttl * 1000), {}]
  })))
  const [expiring, stored] = await Promise.all([
    countRanges(couch, `${VIEW}/expiring`, ranges, signal), countRanges(couch, `${VIEW}/stored`, byTtl.flat(), signal)
  ])
  if (!expiring || !stored) return null
  const counts = spans.map((_, index) => add([
    expiring[index], ...stored.slice(index * expiringLayers.length, (index + 1) * expiringLayers.length)
  ]))
  return { expired: counts[0], next: figureDefaults.days.map((days, index) => ({ days, count: counts[index + 1] })) }
}

/** @param {Count[]} counts @returns {Count} */
const add = counts =>
  ({ tiles: counts.reduce((sum, { tiles }) => sum + tiles, 0), isMore: counts.some(({ isMore }) => isMore) })

/**
 * Counts rows of a view without reading them: CouchDB returns how many rows lie before a key. The embedded store does
 * not; its rows are counted up to a limit.
 * @returns {Promise<Count[] | null>}
 */
async function countRanges (couch, view, ranges, signal) {
  if (!ranges.length) return []
  const ask = async queries => (await orMissing(couch.ask(`${view}/queries`, {
    body: { queries: queries.map(query => ({ ...query, update: false })) }, signal
  })))?.results
  const ends = await ask(ranges.flatMap(({ startkey, endkey }) => [startkey, endkey])
    .map(startkey => ({ startkey, limit: 0 })))
  if (!ends) return null
  if (ends.every(({ offset }) => Number.isInteger(offset))) {
    return ranges.map((_, index) =>
      ({ tiles: Math.max(0, ends[2 * index + 1].offset - ends[2 * index].offset), isMore: false }))
  }
  const maxRows = Math.max(20, Math.ceil(figureDefaults.counted / ranges.length))
  const rows = await ask(ranges.map(range => ({ ...range, limit: maxRows + 1 })))
  return rows?.map(({ rows: { length } }) => ({ tiles: Math.min(length, maxRows), isMore: length > maxRows })) ?? null
}

const timeOf = ms => fromMilliseconds(Math.max(0, ms))

/** The answer, or null if the index or view is not deployed. */
const orMissing = async answer => await answer.catch(ignoreMissing) ?? null

/** Tasks name the shards of a database: `shards/80000000-ffffffff/tiles.1700000000`. */
const isOf = ({ database = '' }, name) =>
  database === name || database.replace(/^shards\/[^/]+\//, '').replace(/\.\d+$/, '') === name
