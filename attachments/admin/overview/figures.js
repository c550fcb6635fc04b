// What the overview reads of the store: figures of its layers from views, sizes, indexes and running tasks. No request
// waits for an index: a view answers what it has, and begins to read the rest if that is soon done.

const DESIGN = '_design/versions'
const VIEW = `${DESIGN}/_view`

export const figureDefaults = {
  soon: 10_000, // changes that an index reads in some seconds: a look at the page begins that
  counted: 1000, // rows that are counted one by one, where the store does not say how many there are
  days: [1, 7] // from now on, in which tiles expire
}

const DAY = 86_400_000 // milliseconds

/**
 * @typedef {import('../couch.js').Couch} Couch
 * @typedef {{tiles: number, currentBytes: number, versions: number, bytes: number}} LayerFigures tiles: of now;
 *   versions, bytes: of all times
 * @typedef {{layers: Map<string, LayerFigures>, total: LayerFigures, conflicts: number}} Figures
 * @typedef {{tiles: number, isMore: boolean}} Count isMore: there are more
 */

/** The database, its index and, for those who may see them, the tasks of its server. */
export async function readState (couch, user, signal) {
  const [info, index, tasks] = await Promise.all([
    couch.ask('', { signal }),
    orMissing(couch.ask(`${DESIGN}/_info`, { signal })),
    user.isServerAdmin ? couch.ask('/_active_tasks', { signal }) : null
  ])
  return { info, index: index?.view_index ?? null, tasks: tasks && tasks.filter(task => isOf(task, info.db_name)) }
}

/** Changes that an index has not read yet. */
export const pendingOf = index => index?.updates_pending?.total ?? 0

/** @param {Couch} couch @param {any} index @returns {Promise<Figures | null>} null without the index */
export async function readFigures (couch, index, signal) {
  if (!index) return null
  const pending = pendingOf(index)
  const update = pending > 0 && pending <= figureDefaults.soon ? 'lazy' : 'false'
  const view = (name, query) => orMissing(couch.ask(`${VIEW}/${name}`, { query: { update, ...query }, signal }))
  const [all, now, conflicts] = await Promise.all([
    view('by_time', { group_level: 1 }), view('by_area', { group_level: 1 }), view('conflicts', {})
  ])
  if (!all || !now) return null
  const layers = new Map()
  const of = layer => {
    if (!layers.has(layer)) layers.set(layer, { tiles: 0, currentBytes: 0, versions: 0, bytes: 0 })
    return layers.get(layer)
  }
  for (const { key: [layer], value } of all.rows) Object.assign(of(layer), { versions: value.count, bytes: value.sum })
  for (const { key: [layer], value } of now.rows) {
    Object.assign(of(layer), { tiles: value.count, currentBytes: value.sum })
  }
  const sum = field => [...layers.values()].reduce((total, each) => total + each[field], 0)
  const total = {
    tiles: sum('tiles'), currentBytes: sum('currentBytes'), versions: sum('versions'), bytes: sum('bytes')
  }
  return { layers, total, conflicts: conflicts?.rows[0]?.value ?? 0 }
}

/**
 * Tiles that have expired, and those that will in the next days, by their own time or the ttl of their layer.
 * @param {Couch} couch @param {any[]} layers documents @param {number} now milliseconds
 * @returns {Promise<{expired: Count, next: {days: number, count: Count}[]} | null>} null without the index
 */
export async function readExpiring (couch, layers, now, signal) {
  const limits = layers.filter(({ ttl }) => ttl > 0)
  const spans = [[-Infinity, now], ...figureDefaults.days.map(days => [now, now + days * DAY])]
  const own = spans.map(([from, to]) => ({ startkey: from > 0 ? [timeOf(from), {}] : null, endkey: [timeOf(to), {}] }))
  const byTtl = spans.map(([from, to]) => limits.map(({ layer, ttl }) => ({
    startkey: from > 0 ? [layer, timeOf(from - ttl * 1000), {}] : [layer],
    endkey: [layer, timeOf(to - ttl * 1000), {}]
  })))
  const [expiring, stored] = await Promise.all([
    countRanges(couch, `${VIEW}/expiring`, own, signal), countRanges(couch, `${VIEW}/stored`, byTtl.flat(), signal)
  ])
  if (!expiring || !stored) return null
  const counts = spans.map((_, at) => add([
    expiring[at], ...stored.slice(at * limits.length, (at + 1) * limits.length)
  ]))
  return { expired: counts[0], next: figureDefaults.days.map((days, at) => ({ days, count: counts[at + 1] })) }
}

/** @param {Count[]} counts @returns {Count} */
const add = counts =>
  ({ tiles: counts.reduce((sum, { tiles }) => sum + tiles, 0), isMore: counts.some(({ isMore }) => isMore) })

/**
 * Counts rows of a view without reading them: CouchDB says how many lie before a key. The embedded store does not;
 * there they are counted, up to a limit.
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
    return ranges.map((_, at) => ({ tiles: Math.max(0, ends[2 * at + 1].offset - ends[2 * at].offset), isMore: false }))
  }
  const most = Math.max(20, Math.ceil(figureDefaults.counted / ranges.length))
  const rows = await ask(ranges.map(range => ({ ...range, limit: most + 1 })))
  return rows?.map(({ rows: { length } }) => ({ tiles: Math.min(length, most), isMore: length > most })) ?? null
}

const timeOf = ms => new Date(Math.max(0, ms)).toISOString().slice(0, 19) + 'Z'

/** What is asked for may not be deployed. */
const orMissing = answer => answer.catch(error => {
  if (error.status !== 404) throw error
  return null
})

/** Tasks name the shards of a database: `shards/80000000-ffffffff/tiles.1700000000`. */
const isOf = ({ database = '' }, name) =>
  database === name || database.replace(/^shards\/[^/]+\//, '').replace(/\.\d+$/, '') === name
