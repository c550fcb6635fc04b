// Compares the tiles of two sides, in the order of ids. Two versions may have the same bytes: if their sizes are equal,
// their digests are read, in batches of tiles.
import { pMapIterable } from 'p-map'
import { batchesOf } from '../../../core/lists.js'
import { asOf, compareIds } from '../../../core/index.js'
import { digestsOf } from '../../store/fetch.js'

export const compareDefaults = {
  batch: 500, // tiles whose digests are read together
  pairs: 5000, // tiles in a batch at most, including tiles that need no digest
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
  const compared = pMapIterable(batches, batchPairs => compareBatch(store, batchPairs, signal), { concurrency })
  for await (const changes of compared) yield * changes
}

/** The change, or undefined if digests must be compared. @param {{from?: any, to?: any}} pair */
function changeBySize ({ from, to }) {
  if (!from) return 'added'
  if (!to) return 'removed'
  if (from === to || (from.id === to.id && from.time === to.time)) return 'same'
  return from.size === to.size ? undefined : 'changed'
}

async function compareBatch (store, pairs, signal) {
  const undecided = pairs.filter(pair => !changeBySize(pair))
  const digests = await digestsOf(store, undecided.flatMap(({ from, to }) => [from, to]), signal)
  const changeByDigest = ({ from, to }) => {
    const [before, after] = [digests.get(from), digests.get(to)]
    if (before === undefined || after === undefined) return 'missing'
    return before === after ? 'same' : 'changed'
  }
  return pairs.map(pair => ({ ...pair, change: changeBySize(pair) ?? changeByDigest(pair) }))
}

/**
 * A tile that exists on at least one side.
 * @typedef {object} Pair
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {import('../../store/list.js').Listed} [from] undefined if the tile does not exist
 * @property {import('../../store/list.js').Listed} [to]
 * @property {import('../../store/list.js').Listed[]} [versions] all versions of the tile, if both sides are one layer
 * @property {string} [since] the time at which it became gone, if the later side has it
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {import('./index.js').Side} from
 * @param {import('./index.js').Side} to
 * @param {import('../../store/list.js').ListOptions} selection
 * @returns {AsyncGenerator<Pair>}
 */
export const pairsOf = (store, from, to, selection) =>
  from.layer === to.layer
    ? withinLayer(store.listTiles(from.layer, selection), from, to)
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

/** The order of two tiles: 1 if the second one comes first. */
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

// ids without the layer sort like the ids
const placeOf = ({ z, x, y }) => `${z}:${x}:${y}`
