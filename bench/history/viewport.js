// Measures the past of a view of the map: the query of the time index, with the whole answer read and parsed, and other
// ways to ask, on stores of different sizes.
import { tileBounds } from '../../core/index.js'
import { VersionIndex } from '../../client/engine/version-index.js'
import { CouchSource } from '../../client/source/couch-source.js'
import { BY_TILE } from '../../loader/store/reader.js'
import { interleaveLatencies } from '../measure.js'
import { DEEP, LAYER, VIEW, blocksOf, viewsOf } from './data.js'

/** @typedef {{layer: string, z: number, x: number, y: number}} View the tile in its north-western corner */

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

/** Sends a request with plain fetch and without a name, as any page does. */
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

/**
 * Queries the time index for a view. Returns the number of rows, and the times of the request.
 * @param {string} url of the database
 */
export function queries (url, queriesOf = columnQueries, headers = {}) {
  return async (view, signal) => {
    const { json, ...figures } = await ask(`${url}/${BY_TILE}/queries`,
      { method: 'POST', body: JSON.stringify({ queries: queriesOf(view) }), headers, signal })
    return { rows: rowsOf(json), ...figures }
  }
}

/** The name of the query that runs at every size. The budget is its median. */
export const QUERY = 'POST …/by_tile/queries, plain fetch'

/**
 * The name of the same query on the smallest store in the same rounds. It separates a slow machine from a slow store.
 */
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
      const missing = index.missing(columns) // whole blocks of rows: up to 12 rows for 8
      const answers = await source.versions(view.layer, missing, signal)
      missing.forEach((column, columnIndex) => index.add(column, answers[columnIndex]))
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
 * `warm`: number of views that each contender reads before the measurement.
 * @param {any} store
 * @param {import('./data.js').Stage} stage
 * @param {any} options
 */
export async function measureViewport (store, stage, { rounds, warm, restart, small, smallStage = stage, signal }) {
  const blocks = blocksOf(stage)
  const views = viewsOf(blocks.filter(({ layer }) => layer === LAYER), rounds + warm, stage.versions)
  const deepViews = viewsOf(blocks.filter(({ layer }) => layer === DEEP), rounds + warm, stage.versions + 1)
  const first = await firstQueries(store, views.at(-1), { restart, signal })
  const runsFor = (list, suffix, every) => Object.entries(list.length ? contenders(store) : {}).map(([name, run]) => ({
    name: name + suffix, run: rowChecked(run, list, signal), every: name.includes('times.json') ? 4 : every
  }))
  const contenderList = [
    runsFor(views, '', 1)[0],
    ...(small ? [{ name: SMALL, run: rowChecked(queries(small.url), viewsOf(blocksOf(smallStage), rounds, 5), signal) }]
      : []),
    ...runsFor(views, '', 1).slice(1),
    { name: 'layer extent: first and last of by_time', run: () => extent(new CouchSource(store.url), signal) },
    ...runsFor(deepViews, ', 100 versions a tile', 4)
  ]
  await interleaveLatencies(contenderList.map(contender => ({ ...contender, every: 1 })), warm, signal)
  return { versions: stage.versions, first, results: await interleaveLatencies(contenderList, rounds, signal) }
}

/** Checks the number of rows: an incomplete answer would be quick for a bad reason. */
function rowChecked (run, views, signal) {
  const tileCount = VIEW.columns * VIEW.rows
  return async round => {
    const view = views[round % views.length]
    const figures = await run(view, signal)
    const expected = tileCount * (view.layer === DEEP ? 100 : 10)
    if (figures.rows !== undefined && figures.rows < expected) {
      throw new Error(`${figures.rows} rows instead of ${expected} for ${JSON.stringify(view)}`)
    }
    return figures
  }
}

/**
 * The times of the first queries after a restart: the server has not loaded its code, opened its files or accepted
 * connections.
 */
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

