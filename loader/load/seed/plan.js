// Plans a seed: how many tiles and about how many bytes it will fetch, and which tiles one request fetches.
import { setImmediate as breathe } from 'node:timers/promises'
import { compareIds, tileId } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { cached } from '../../../core/cache.js'
import { batchesOf } from '../../../core/lists.js'
import { zoomsById } from '../../../core/order.js'
import { ignoring } from '../../../core/promises.js'

/**
 * @typedef {object} Plan
 * @property {number} tiles
 * @property {number | null} bytes estimated; null if the layer has no tiles yet
 * @property {{z: number, tiles: number, bytes: number | null}[]} zooms
 */

/**
 * The part of an area and of a range of zooms that the upstream of a layer has.
 * @param {Record<string, any>} doc the layer
 * @param {Record<string, any>} settings its upstream
 * @param {{area: import('../../../core/area.js').Area, zooms: import('../../../core/grid.js').Zooms}} part
 */
export function clip (doc, settings, { area, zooms }) {
  const min = Math.max(zooms.min, doc.minzoom ?? 0, settings.minzoom ?? 0)
  const max = Math.min(zooms.max, doc.maxzoom ?? 30, settings.maxzoom ?? 30)
  const inside = [doc.bounds, settings.bounds].filter(Boolean).reduce((part, bounds) => part.within(bounds), area)
  if (min > max) {
    throw new TilecouchError('BAD_AREA', { why: `the upstream has no tiles of zoom ${zooms.min} to ${zooms.max}` })
  }
  return { area: inside, zooms: { min, max } }
}

/**
 * @typedef {import('../../../core/area.js').Area} Area
 * @typedef {import('../../../core/grid.js').Zooms} Zooms
 * @param {{area: Area, zooms: Zooms, signal?: AbortSignal}} part
 * @returns {Promise<Map<number, number>>} tiles by zoom
 */
export async function countByZoom ({ area, zooms, signal }) {
  const counts = new Map()
  for (let z = zooms.min; z <= zooms.max; z++) {
    await breathe() // a deep zoom takes a while to count: let Ctrl-C through
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    counts.set(z, area.count({ min: z, max: z }))
  }
  return counts
}

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {Map<number, number>} counts tiles by zoom
 * @returns {Promise<Plan>}
 */
export async function estimate (store, layer, counts) {
  const means = await meanSizes(store, layer)
  const zooms = [...counts].sort(([a], [b]) => a - b).map(([z, tiles]) => {
    const mean = nearest(means, z)
    return { z, tiles, bytes: mean === undefined ? null : Math.round(tiles * mean) }
  })
  const tiles = zooms.reduce((sum, zoom) => sum + zoom.tiles, 0)
  return { tiles, bytes: means.size ? zooms.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) : null, zooms }
}

/** Mean bytes of a tile, by zoom; none without indexes or tiles. */
async function meanSizes (store, layer) {
  const stats = await store.stats(layer).catch(ignoring('INDEX_MISSING', 'LAYER_NOT_FOUND'))
  const zooms = (stats?.zooms ?? []).filter(({ tiles }) => tiles)
  return new Map(zooms.map(({ z, tiles, currentBytes }) => [z, currentBytes / tiles]))
}

/** The mean of the nearest zoom with tiles; of two, the deeper. */
function nearest (means, z) {
  const [best] = [...means.keys()].sort((a, b) => Math.abs(a - z) - Math.abs(b - z) || b - a)
  return means.get(best)
}

/** @typedef {{z: number, x: number, y: number}} Address */
/** @typedef {Address[]} Group tiles that one request fetches; the first one is requested */

/**
 * The tiles of an area, in the order of their ids, grouped by metatile, without keeping them in memory: a metatile is
 * fetched once, with its first tile.
 * @param {import('../../../core/area.js').Area} area
 * @param {import('../../../core/grid.js').Zooms} zooms
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
      const tilesInside = tiles.filter(({ x, y }) => area.has(z, x, y)).sort(byId)
      if (tilesInside[0].x === tile.x && tilesInside[0].y === tile.y) yield tilesInside
    }
  }
}

const idOf = ({ z, x, y }) => tileId('', z, x, y)
const byId = (a, b) => compareIds(idOf(a), idOf(b))

/**
 * Tiles of a list, grouped by metatile if they are near each other, as in a list of failures.
 * @param {AsyncIterable<Address> | Iterable<Address>} tiles
 * @param {import('../upstream/index.js').Upstream} upstream
 * @param {number} size tiles grouped together
 * @returns {AsyncGenerator<Group>}
 */
export async function * groupsOfList (tiles, upstream, size) {
  for await (const batch of batchesOf(tiles, { most: size, bytes: Infinity })) {
    /** @type {Map<string, Map<string, Address>>} */
    const groups = new Map()
    for (const tile of batch) {
      const { key } = upstream.groupOf(tile.z, tile.x, tile.y)
      cached(groups, key, () => new Map()).set(idOf(tile), tile)
    }
    for (const group of groups.values()) yield [...group.values()]
  }
}

/**
 * Puts groups together, to look them up in one request.
 * @param {AsyncIterable<Group> | Iterable<Group>} groups
 * @param {number} size tiles at most
 * @param {AbortSignal} [signal] ends it
 * @returns {AsyncGenerator<Group[]>}
 */
export async function * batchesOfGroups (groups, size, signal) {
  for await (const chunk of batchesOf(groups, { most: Infinity, bytes: size, sizeOf: group => group.length })) {
    if (signal?.aborted) return
    yield chunk
  }
}
