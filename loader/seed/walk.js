// The tiles of a seed, in the order of their ids, bunched as the upstream gives them: a metatile is fetched once, when its
// first tile is due. Nothing is held but the bunches of the moment.
import { compareIds, tileId } from '../../core/index.js'
import { zoomsById } from '../../core/order.js'

/** @typedef {{z: number, x: number, y: number}} Address */
/** @typedef {Address[]} Group tiles that one request fetches; the first is what the upstream is asked for */

/**
 * @param {import('../../core/area.js').Area} area
 * @param {import('../../core/grid.js').Zooms} zooms
 * @param {import('../upstream/index.js').Upstream} upstream
 * @returns {Generator<Group>}
 */
export function * groupsOf (area, zooms, upstream) {
  for (const z of zoomsById(zooms)) {
    for (const tile of area.tiles(z)) {
      const { tiles } = upstream.groupOf(tile.z, tile.x, tile.y)
      if (tiles.length === 1) {
        yield [tile]
        continue
      }
      const wanted = tiles.filter(({ x, y }) => area.has(z, x, y)).sort(byId)
      if (wanted[0].x === tile.x && wanted[0].y === tile.y) yield wanted
    }
  }
}

const idOf = ({ z, x, y }) => tileId('', z, x, y)
const byId = (a, b) => compareIds(idOf(a), idOf(b))

/**
 * Tiles of a list, bunched where those of one metatile stand near each other, as they do in a list of failures.
 * @param {AsyncIterable<Address> | Iterable<Address>} tiles
 * @param {import('../upstream/index.js').Upstream} upstream
 * @param {number} size tiles looked at together
 * @returns {AsyncGenerator<Group>}
 */
export async function * groupsOfList (tiles, upstream, size) {
  /** @type {Map<string, Map<string, Address>>} */
  let groups = new Map()
  let held = 0
  const flush = function * () {
    for (const group of groups.values()) yield [...group.values()]
    groups = new Map()
    held = 0
  }
  for await (const tile of tiles) {
    const { key } = upstream.groupOf(tile.z, tile.x, tile.y)
    if (!groups.has(key)) groups.set(key, new Map())
    groups.get(key)?.set(idOf(tile), tile)
    if (++held >= size) yield * flush()
  }
  yield * flush()
}

/**
 * Groups together, until they hold enough tiles to be looked up in one request.
 * @param {AsyncIterable<Group> | Iterable<Group>} groups
 * @param {number} size tiles
 * @param {AbortSignal} [signal] ends it
 * @returns {AsyncGenerator<Group[]>}
 */
export async function * chunks (groups, size, signal) {
  /** @type {Group[]} */
  let chunk = []
  let tiles = 0
  for await (const group of groups) {
    if (signal?.aborted) return
    chunk.push(group)
    tiles += group.length
    if (tiles < size) continue
    yield chunk
    chunk = []
    tiles = 0
  }
  if (chunk.length) yield chunk
}
