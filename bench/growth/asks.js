// What is asked of a store at every size: one tile, now and as of a time, and the history of a view of the map. Every answer is
// compared with the source.
import { tileId } from '../../core/index.js'
import { AS_OF, NEW, OLD } from '../block.js'
import { LAYER, VIEW, blocksOf, viewsOf } from '../history/data.js'
import { queries } from '../history/viewport.js'
import { interleaveLatencies } from '../measure.js'
import { SHARE, bytesOf, changes } from './data.js'
import { readsOf } from './process.js'

const WARM = 8 // rounds before anything counts
export const HEAD = 'newest tile, plain attachment'
export const AT = 'tile as of a time, store.at'
export const REDIRECT = 'tile as of a time, _rewrite and its 302'
export const HISTORY = `history of a view of ${VIEW.columns} x ${VIEW.rows} tiles`
export const SMALL = ', on the smallest store'
const ROWS = VIEW.columns * VIEW.rows * (1 + 1 / SHARE) // versions of any view

/** The tile of a view's first row that has a past. */
const changedIn = view => Array.from({ length: VIEW.columns }, (_, column) => ({ ...view, x: view.x + column })).find(changes)

function check (name, got, expected) {
  if (!got.equals(expected)) throw new Error(`${name}: ${got.length} bytes that are not the ${expected.length} of the source`)
}

async function get (url, signal) {
  const response = await fetch(url, { signal })
  const body = Buffer.from(await response.arrayBuffer())
  if (!response.ok) throw new Error(`${response.status} for ${url}: ${body.toString().slice(0, 200)}`)
  return body
}

/**
 * @param {import('../../loader/store/index.js').Store} store
 * @param {import('./data.js').Stage} stage
 * @param {number} seed of the places
 * @param {AbortSignal} signal
 * @returns {Record<string, (round: number) => Promise<void>>}
 */
export function asksOf (store, stage, seed, signal) {
  const views = viewsOf(blocksOf(stage), 1000, seed)
  const ask = queries(store.url)
  /** @param {(tile: import('./data.js').Tile) => Promise<Buffer>} read @param {string} time */
  const one = (name, time, read) => async round => {
    const tile = /** @type {import('./data.js').Tile} */ (changedIn(views[round % views.length]))
    check(`${name}, ${JSON.stringify(tile)}`, await read(tile), bytesOf(tile, time))
  }
  return {
    [HEAD]: one(HEAD, NEW, ({ layer, z, x, y }) => get(`${store.url}/${tileId(layer, z, x, y)}/tile`, signal)),
    [AT]: one(AT, OLD, async ({ layer, z, x, y }) => (await store.at(layer, z, x, y, AS_OF)).bytes),
    [REDIRECT]: one(REDIRECT, OLD, ({ z, x, y }) => get(`${store.url}/_design/tiles/_rewrite/${LAYER}@${AS_OF}/${z}/${x}/${y}.png`, signal)),
    [HISTORY]: async round => {
      const { rows } = await ask(views[round % views.length], signal)
      if (rows !== ROWS) throw new Error(`${rows} rows instead of ${ROWS} for ${JSON.stringify(views[round % views.length])}`)
    }
  }
}

/**
 * Latencies, those of the smallest store in turns; then, one kind after the other, what CouchDB reads for each.
 * @param {{store: import('../../loader/store/index.js').Store, stage: import('./data.js').Stage, small?: import('../../loader/store/index.js').Store, smallest: import('./data.js').Stage,
 *   rounds: number, counted: number, pid?: number, signal: AbortSignal}} options counted: requests whose reads are counted
 */
export async function askAll ({ store, stage, small, smallest, rounds, counted, pid, signal }) {
  const asks = asksOf(store, stage, stage.tiles, signal)
  const beside = small ? asksOf(small, smallest, 1, signal) : {}
  const contenders = Object.entries(asks).flatMap(([name, run]) => [{ name, run }, ...(small ? [{ name: name + SMALL, run: beside[name] }] : [])])
  await interleaveLatencies(contenders, WARM, signal)
  const results = await interleaveLatencies(contenders, rounds, signal)
  const reads = {}
  for (const [name, run] of Object.entries(asks)) reads[name] = await readsOf(pid, counted, time => run(rounds + time))
  return { results, reads: pid ? reads : null }
}
