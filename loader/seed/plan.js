// What a seed is about to do: how many tiles, and about how many bytes, before anything is asked.
import { setImmediate as breathe } from 'node:timers/promises'
import { compareIds, tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { zoomsById } from '../../core/order.js'

/**
 * @typedef {object} Plan
 * @property {number} tiles
 * @property {number | null} bytes about; null when the layer has no tiles yet to judge by
 * @property {{z: number, tiles: number, bytes: number | null}[]} zooms
 */

/**
 * The part of an area and of a range of zooms that the upstream of a layer has.
 * @param {Record<string, any>} doc the layer
 * @param {Record<string, any>} settings its upstream
 * @param {{area: import('../../core/area.js').Area, zooms: import('../../core/grid.js').Zooms}} wanted
 */
export function clip (doc, settings, { area, zooms }) {
  const min = Math.max(zooms.min, doc.minzoom ?? 0, settings.minzoom ?? 0)
  const max = Math.min(zooms.max, doc.maxzoom ?? 30, settings.maxzoom ?? 30)
  const inside = [doc.bounds, settings.bounds].filter(Boolean).reduce((rest, bounds) => rest.within(bounds), area)
  if (min > max) throw new TilecouchError('BAD_AREA', { why: `the upstream has no tiles of zoom ${zooms.min} to ${zooms.max}` })
  return { area: inside, zooms: { min, max } }
}

/**
 * @param {{area: import('../../core/area.js').Area, zooms: import('../../core/grid.js').Zooms, signal?: AbortSignal}} what
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
 * @param {import('../store/index.js').Store} store
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

/** Mean bytes of a tile, by zoom. A store without indexes, or without the layer, knows none. */
async function meanSizes (store, layer) {
  try {
    const { zooms } = await store.stats(layer)
    return new Map(zooms.filter(zoom => zoom.tiles).map(zoom => [zoom.z, zoom.currentBytes / zoom.tiles]))
  } catch (error) {
    if (error.code === 'INDEX_MISSING' || error.code === 'LAYER_NOT_FOUND') return new Map()
    throw error
  }
}

/** A zoom nobody has seen yet is about like the one nearest to it; of two as near, the deeper. */
function nearest (means, z) {
  const [best] = [...means.keys()].sort((a, b) => Math.abs(a - z) - Math.abs(b - z) || b - a)
  return means.get(best)
}

// The tiles of a seed, in the order of their ids, bunched as the upstream gives them: a metatile is fetched once, when its
// first tile is due. Nothing is held but the bunches of the moment.

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
