// What two sides hold of each tile, in the order of ids. Two times of one layer are one walk over its versions; anything
// else is two walks side by side.
import { asOf, compareIds } from '../../core/index.js'

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
