// What it costs to know the past of a view of the map: the query of the time index, whole answer read and parsed,
// beside the other ways to ask, on stores of different sizes.
import { tileBounds } from '../../core/index.js'
import { VersionIndex } from '../../client/engine/version-index.js'
import { CouchSource } from '../../client/source/couch-source.js'
import { BY_TILE } from '../../loader/store/reader.js'
import { interleaveLatencies } from '../measure.js'
import { DEEP, LAYER, VIEW, blocksOf, viewsOf } from './data.js'

/** @typedef {{layer: string, z: number, x: number, y: number}} View its corner in the north-west */

/** @param {View} view */
export const columnsOf = ({ z, x, y }) => Array.from({ length: VIEW.columns },
  (_, index) => ({ z, x: x + index, y0: y, y1: y + VIEW.rows - 1 }))

/** @param {View} view @returns {import('../../core/grid.js').Bbox} */
export function bboxOf ({ z, x, y }) {
  const [west, , , north] = tileBounds(z, x, y)
  const [, south, east] = tileBounds(z, x + VIEW.columns - 1, y + VIEW.rows - 1)
  return [west, south, east, north]
}

const columnQueries = view => columnsOf(view)
  .map(({ z, x, y0, y1 }) => ({ reduce: false, startkey: [view.layer, z, x, y0], endkey: [view.layer, z, x, y1, {}] }))

/** Through plain fetch without a name: how any page asks. */
async function ask (url, { signal, ...init }) {
  const start = performance.now()
  const response = await fetch(url,
    { ...init, headers: { ...(init.body && { 'content-type': 'application/json' }), ...init.headers }, signal })
  const answered = performance.now()
  const text = await response.text()
  const read = performance.now()
  const json = JSON.parse(text)
  const parsed = performance.now()
  if (!response.ok || json.results?.some(result => result.error)) {
    throw new Error(`${response.status} for ${url}: ${text.slice(0, 200)}`)
  }
  return { json, answer: answered - start, read: read - answered, parse: parsed - read, bytes: Buffer.byteLength(text) }
}

const rowsOf = ({ rows, results }) => rows?.length ?? results.reduce((sum, result) => sum + result.rows.length, 0)

/** How a view is asked for: answers its rows, and what it took. @param {string} url of the database */
export function queries (url, queriesOf = columnQueries, headers = {}) {
  return async (view, signal) => {
    const { json, ...figures } = await ask(`${url}/${BY_TILE}/queries`,
      { method: 'POST', body: JSON.stringify({ queries: queriesOf(view) }), headers, signal })
    return { rows: rowsOf(json), ...figures }
  }
}

/** The same query at every size; the budget is its median. */
export const QUERY = 'POST …/by_tile/queries, plain fetch'

/** And beside it, on the smallest store, so that a machine that slows down does not look like a store that does. */
export const SMALL = 'the same, on the smallest store'

/** @param {import('../../loader/store/index.js').Store} store */
function contenders (store) {
  const { url } = store
  const source = new CouchSource(url)
  return {
    [QUERY]: queries(url),
    'the same, store.versionsIn': async (view, signal) => (
      { rows: (await store.versionsIn(view.layer, { bbox: bboxOf(view), z: view.z, signal })).length }
    ),
    'the same, history client into its index': async (view, signal) => {
      const index = new VersionIndex()
      const columns = columnsOf(view)
      const missing = index.missing(columns) // whole blocks of rows: up to 12 of them for 8
      const answers = await source.versions(view.layer, missing, signal)
      missing.forEach((column, at) => index.add(column, answers[at]))
      const rows = index.size
      index.changes(columns)
      return { rows }
    },
    'GET times.json?bbox&z': async (view, signal) => {
      const { json, ...figures } =
        await ask(`${url}/_design/tiles/_rewrite/${view.layer}/times.json?bbox=${bboxOf(view)}&z=${view.z}`, { signal })
      return { times: json.times.length, ...figures }
    }
  }
}

const extent = async (source, signal) => { await source.extent(LAYER, signal) }

/**
 * `warm`: views each contender sees before anything is measured.
 * @param {any} store
 * @param {import('./data.js').Stage} stage
 * @param {any} options
 */
export async function measureViewport (store, stage, { rounds, warm, restart, small, smallStage = stage, signal }) {
  const blocks = blocksOf(stage)
  const views = viewsOf(blocks.filter(({ layer }) => layer === LAYER), rounds + warm, stage.versions)
  const deep = viewsOf(blocks.filter(({ layer }) => layer === DEEP), rounds + warm, stage.versions + 1)
  const first = await firstQueries(store, views.at(-1), { restart, signal })
  const timed = (list, suffix, every) => Object.entries(list.length ? contenders(store) : {}).map(([name, run]) => ({
    name: name + suffix, run: checked(run, list, signal), every: name.includes('times.json') ? 4 : every
  }))
  const all = [
    timed(views, '', 1)[0],
    ...(small ? [{ name: SMALL, run: checked(queries(small.url), viewsOf(blocksOf(smallStage), rounds, 5), signal) }]
      : []),
    ...timed(views, '', 1).slice(1),
    { name: 'layer extent: first and last of by_time', run: () => extent(new CouchSource(store.url), signal) },
    ...timed(deep, ', 100 versions a tile', 4)
  ]
  await interleaveLatencies(all.map(contender => ({ ...contender, every: 1 })), warm, signal)
  return { versions: stage.versions, first, results: await interleaveLatencies(all, rounds, signal) }
}

/** An answer that lacks something would be quick for a bad reason. */
function checked (run, views, signal) {
  const wanted = VIEW.columns * VIEW.rows
  return async round => {
    const view = views[round % views.length]
    const figures = await run(view, signal)
    const expected = wanted * (view.layer === DEEP ? 100 : 10)
    if (figures.rows !== undefined && figures.rows < expected) {
      throw new Error(`${figures.rows} rows instead of ${expected} for ${JSON.stringify(view)}`)
    }
    return figures
  }
}

/** The first questions to a server that has just started: code not loaded, files not open, connections not made. */
async function firstQueries (store, view, { restart, signal }) {
  if (!restart) return null
  await restart()
  const times = []
  for (let turn = 0; turn < 3; turn++) {
    const start = performance.now()
    await queries(store.url)(view, signal)
    times.push(Math.round((performance.now() - start) * 10) / 10)
  }
  return times
}

