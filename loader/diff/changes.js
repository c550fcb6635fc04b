// The tiles of two sides, in the order of ids, and whether their versions differ. Another version may hold the same bytes: where
// sizes are equal the digests decide, which are read in batches, a few at once.
import { pMapIterable } from 'p-map'
import { asOf, compareIds } from '../../core/index.js'
import { digestsOf } from '../store/digests.js'

export const compareDefaults = {
  batch: 500, // tiles whose digests are asked for together
  pairs: 5000, // tiles in a batch at most, those that need no digest included
  concurrency: 3 // batches in flight
}

/**
 * @typedef {'added' | 'removed' | 'changed' | 'same' | 'missing'} Kind missing: one of its versions was listed, and then nowhere
 * @typedef {Pair & {change: Kind}} Change
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {AsyncIterable<Pair>} pairs
 * @param {{signal?: AbortSignal}} options
 * @returns {AsyncGenerator<Change>} in the order of the pairs
 */
export async function * changesOf (store, pairs, { signal }) {
  const { concurrency } = compareDefaults
  for await (const compared of pMapIterable(batches(pairs), batch => compare(store, batch, signal), { concurrency })) yield * compared
}

async function * batches (pairs) {
  let batch = []
  let open = 0
  for await (const pair of pairs) {
    batch.push(pair)
    if (!verdict(pair)) open++
    if (open < compareDefaults.batch && batch.length < compareDefaults.pairs) continue
    yield batch
    batch = []
    open = 0
  }
  if (batch.length) yield batch
}

/** What is known without digests. */
function verdict ({ from, to }) {
  if (!from) return 'added'
  if (!to) return 'removed'
  if (from === to || (from.id !== undefined && from.id === to.id && from.time === to.time)) return 'same'
  return from.size === to.size ? undefined : 'changed'
}

async function compare (store, pairs, signal) {
  const open = pairs.filter(pair => !verdict(pair))
  const digests = await digestsOf(store, open.flatMap(({ from, to }) => [from, to]), signal)
  return pairs.map(pair => ({ ...pair, change: verdict(pair) ?? judge(digests.get(pair.from), digests.get(pair.to)) }))
}

const judge = (before, after) => before === undefined || after === undefined ? 'missing' : before === after ? 'same' : 'changed'

/**
 * A tile that exists on one side at least.
 * @typedef {object} Pair
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {import('./sides.js').Entry} [from] nothing where the tile does not exist
 * @property {import('./sides.js').Entry} [to]
 * @property {import('../store/list.js').Listed[]} [versions] all of it, where both sides are of one layer
 * @property {string} [since] when it went, where the later side knows
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {import('./sides.js').Side} from
 * @param {import('./sides.js').Side} to
 * @param {import('./sides.js').Wanted} wanted
 * @returns {AsyncGenerator<Pair>}
 */
export const pairsOf = (store, from, to, wanted) =>
  from.layer !== undefined && from.layer === to.layer ? withinLayer(store.listTiles(from.layer, wanted), from, to) : sideBySide(from.entries(), to.entries())

/**
 * @param {AsyncIterable<import('../store/list.js').ListedTile>} tiles
 * @param {import('./sides.js').Side} from
 * @param {import('./sides.js').Side} to
 * @returns {AsyncGenerator<Pair>}
 */
export async function * withinLayer (tiles, from, to) {
  for await (const { z, x, y, versions } of tiles) {
    const [before, after] = [shown(versions, from.time), shown(versions, to.time)]
    if (exists(before) || exists(after)) yield { z, x, y, versions, from: exists(before), to: exists(after), ...(after?.gone && { since: after.time }) }
  }
}

const shown = (versions, time) => time === undefined ? versions.at(-1) : asOf(versions, time)

const exists = version => version?.gone ? undefined : version

/**
 * @param {AsyncIterable<import('./sides.js').Entry>} from
 * @param {AsyncIterable<import('./sides.js').Entry>} to
 * @returns {AsyncGenerator<Pair>}
 */
async function * sideBySide (from, to) {
  const walks = [from, to].map(entries => entries[Symbol.asyncIterator]())
  const next = async index => (await walks[index].next()).value
  try {
    let [before, after] = await Promise.all([next(0), next(1)])
    while (before || after) {
      const order = !before ? 1 : !after ? -1 : compareIds(placeOf(before), placeOf(after))
      const { z, x, y } = order > 0 ? after : before
      yield { z, x, y, from: order > 0 ? undefined : before, to: order < 0 ? undefined : after }
      ;[before, after] = await Promise.all([order > 0 ? before : next(0), order < 0 ? after : next(1)])
    }
  } finally {
    await Promise.all(walks.map(walk => walk.return?.()))
  }
}

// ids without their layer: they sort as the ids do
const placeOf = ({ z, x, y }) => `${z}:${x}:${y}`
