// Compares the tiles of two sides, in the order of ids. Another version may have the same bytes: if sizes are equal the
// digests decide, which are read in batches, a few at once.
import { pMapIterable } from 'p-map'
import { batchesOf } from '../../../core/lists.js'
import { asOf, compareIds } from '../../../core/index.js'
import { digestsOf } from '../../store/fetch.js'

export const compareDefaults = {
  batch: 500, // tiles whose digests are read together
  pairs: 5000, // tiles in a batch at most, including those that need no digest
  concurrency: 3 // batches in flight
}

/**
 * @typedef {Pair & {change: 'added' | 'removed' | 'changed' | 'same' | 'missing'}} Change missing: a version was
 * listed, and then deleted
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {AsyncIterable<Pair>} pairs
 * @param {{signal?: AbortSignal}} options
 * @returns {AsyncGenerator<Change>} in the order of the pairs
 */
export async function * changesOf (store, pairs, { signal }) {
  const { concurrency, pairs: most, batch } = compareDefaults
  const batches = batchesOf(pairs, { most, bytes: batch, sizeOf: pair => changeBySize(pair) ? 0 : 1 })
  const compared = pMapIterable(batches, some => compare(store, some, signal), { concurrency })
  for await (const changes of compared) yield * changes
}

/** What is known without digests. @param {{from?: any, to?: any}} pair */
function changeBySize ({ from, to }) {
  if (!from) return 'added'
  if (!to) return 'removed'
  if (from === to || (from.id === to.id && from.time === to.time)) return 'same'
  return from.size === to.size ? undefined : 'changed'
}

async function compare (store, pairs, signal) {
  const open = pairs.filter(pair => !changeBySize(pair))
  const digests = await digestsOf(store, open.flatMap(({ from, to }) => [from, to]), signal)
  const changeByDigest = ({ from, to }) => {
    const [before, after] = [digests.get(from), digests.get(to)]
    if (before === undefined || after === undefined) return 'missing'
    return before === after ? 'same' : 'changed'
  }
  return pairs.map(pair => ({ ...pair, change: changeBySize(pair) ?? changeByDigest(pair) }))
}

/**
 * A tile that exists on one side at least.
 * @typedef {object} Pair
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {import('../../store/list.js').Listed} [from] nothing if the tile does not exist
 * @property {import('../../store/list.js').Listed} [to]
 * @property {import('../../store/list.js').Listed[]} [versions] all of the tile, if both sides are of one layer
 * @property {string} [since] when it became gone, if the later side knows
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {import('./index.js').Side} from
 * @param {import('./index.js').Side} to
 * @param {import('../../store/list.js').ListOptions} wanted
 * @returns {AsyncGenerator<Pair>}
 */
export const pairsOf = (store, from, to, wanted) =>
  from.layer === to.layer
    ? withinLayer(store.listTiles(from.layer, wanted), from, to)
    : sideBySide(from.entries(), to.entries())

/**
 * @param {AsyncIterable<import('../../store/list.js').ListedTile>} tiles
 * @param {import('./index.js').Side} from
 * @param {import('./index.js').Side} to
 * @returns {AsyncGenerator<Pair>}
 */
export async function * withinLayer (tiles, from, to) {
  for await (const { z, x, y, versions } of tiles) {
    const [before, after] = [from, to].map(({ time }) => time === undefined ? versions.at(-1) : asOf(versions, time))
    const shown = version => version?.gone ? undefined : version
    const pair = { z, x, y, versions, from: shown(before), to: shown(after), ...(after?.gone && { since: after.time }) }
    if (pair.from || pair.to) yield pair
  }
}

/** Which of two tiles comes first: 1 where it is the second one. */
function compareSides (before, after) {
  if (!before) return 1
  return after ? compareIds(placeOf(before), placeOf(after)) : -1
}

/** @returns {AsyncGenerator<Pair>} */
async function * sideBySide (from, to) {
  const walks = [from, to].map(entries => entries[Symbol.asyncIterator]())
  const next = async index => (await walks[index].next()).value
  try {
    let [before, after] = await Promise.all([next(0), next(1)])
    while (before || after) {
      const order = compareSides(before, after)
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
