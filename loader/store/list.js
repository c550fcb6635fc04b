// Lists the tiles of a layer in the order of their ids, now or as of a time: without bytes and in bounded memory.
import {
  asOf, checkLayer, endOf, isAdministrative, layerRange, parseTileId, tileId, timeline, versionId
} from '../../core/index.js'
import { cached } from '../../core/cache.js'
import { batchesOf } from '../../core/lists.js'
import { heads, versions } from './columns.js'
import { RangeReader, listDefaults } from './ranges.js'
import { BY_TILE } from './reader.js'
import { walk } from './walk.js'

/**
 * Use this time to list the newest version of every tile together with its time. A version with a time is still found
 * after it has moved to the past.
 */
export const LATEST = '9999-12-31T23:59:59Z'

/**
 * A version as the index has it. Without a time, list() reads the index of heads, which does not grow with the past.
 * That index lacks `time`, `rev` and `expires`.
 * @typedef {object} Listed
 * @property {string} id of the document: a head's or a past version's
 * @property {string} layer
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {boolean} current
 * @property {boolean} gone
 * @property {number} size bytes
 * @property {string} [time]
 * @property {string} [rev]
 * @property {string} [expires]
 *
 * @typedef {{id: string, z: number, x: number, y: number, versions: (Listed & {time: string, rev: string})[]}}
 *   ListedTile id of its head; versions: oldest first
 *
 * @typedef {object} ListOptions
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {AbortSignal} [signal]
 */

/**
 * Lists every tile with any version, with all its versions, ascending by id.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {ListOptions} [options]
 * @returns {AsyncGenerator<ListedTile>}
 */
export async function * listTiles (couch, layer, options = {}) {
  for await (const { z, x, y, rows } of walk(couch, versions, layer, options)) {
    const tile = tileIn(layer, z, x, y, rows)
    if (tile) yield tile
  }
}

/** @returns {ListedTile | undefined} */
function tileIn (layer, z, x, y, rows) {
  const described = timeline(rows.filter(hasMatchingId).map(row => describeVersion(layer, row)))
  const tileVersions = /** @type {ListedTile['versions']} */ (described)
  // a head that moved to the past between two answers is listed at its old id
  for (const version of tileVersions.slice(0, -1).filter(({ current }) => current)) {
    Object.assign(version, { current: false, id: versionId(layer, z, x, y, version.time) })
  }
  return tileVersions.length ? { id: tileId(layer, z, x, y), z, x, y, versions: tileVersions } : undefined
}

/**
 * Lists the given tiles with their versions, in the given order. Neighbours in a column are read together.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {Iterable<{z: number, x: number, ys: number[]}>} columns
 * @param {{signal?: AbortSignal}} [options]
 * @returns {AsyncGenerator<ListedTile>}
 */
export async function * listNamed (couch, layer, columns, { signal } = {}) {
  const reader = await new RangeReader(couch, BY_TILE, { settled: true, signal }).open()
  const rangesOf = ({ z, x, ys }) => runsOf(ys).map(([y0, y1]) => ({
    startkey: [layer, z, x, y0],
    endkey: [layer, z, x, y1, {}],
    limit: (y1 - y0 + 1) * listDefaults.depth + listDefaults.slack
  }))
  const sizeOf = ({ ys }) => runsOf(ys).length
  for await (const batch of batchesOf(columns, { most: Infinity, bytes: listDefaults.ranges, sizeOf })) {
    const rows = new Map()
    for (const row of (await reader.read(batch.flatMap(rangesOf))).flat()) {
      cached(rows, row.key.slice(1, 4).join(), () => /** @type {any[]} */ ([])).push(row)
    }
    for (const { z, x, ys } of batch) {
      for (const y of ys) {
        const tile = tileIn(layer, z, x, y, rows.get([z, x, y].join()) ?? [])
        if (tile) yield tile
      }
    }
  }
}

/** @returns {[number, number][]} the first and last number of each run of consecutive numbers */
function runsOf (numbers) {
  /** @type {[number, number][]} */
  const runs = []
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = runs.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else runs.push([number, number])
  }
  return runs
}

/**
 * Whether the id of a document fits its fields. Without validation, any document may have the type of a tile.
 * @param {import('./ranges.js').Row} row
 */
function hasMatchingId ({ id, key }) {
  const [layer, z, x, y, time] = key
  const head = tileId(layer, z, x, y)
  return id === head || id === `${head}@${time}`
}

/**
 * Lists the versions that exist now or as of a time, without gone ones. Ascending by the id of the tile.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {ListOptions & {time?: string}} [options] a partial time is the end of its period
 * @returns {AsyncGenerator<Listed>}
 */
export async function * list (couch, layer, { time, ...options } = {}) {
  if (time === undefined) {
    for await (const { z, x, y, rows } of walk(couch, heads, layer, options)) {
      const head = rows.find(hasMatchingId)
      if (head) yield { id: head.id, layer, z, x, y, current: true, gone: false, size: head.value }
    }
    return
  }
  const exactTime = endOf(time)
  for await (const tile of listTiles(couch, layer, options)) {
    const version = asOf(tile.versions, exactTime)
    if (version && !version.gone) yield version
  }
}

/** @param {string} layer @param {import('./ranges.js').Row} row @returns {ListedTile['versions'][0]} */
function describeVersion (layer, { id, key, value: { rev, bytes, expires, gone } }) {
  const [, z, x, y, time] = key
  return { id, layer, z, x, y, time, current: !id.includes('@'), rev, size: bytes, gone, ...(expires && { expires }) }
}

/**
 * Lists the heads of a layer in the order of their ids, from the primary index, which is never behind.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {{signal?: AbortSignal}} [options]
 * @returns {AsyncGenerator<{id: string, z: number, x: number, y: number}>}
 */
export async function * listHeads (couch, layer, { signal } = {}) {
  for await (const rows of couch.pages(layerRange(checkLayer(layer)), { signal })) {
    for (const { id } of rows) {
      if (id.includes('@') || isAdministrative(id)) continue
      const { z, x, y } = parseTileId(id)
      yield { id, z, x, y }
    }
  }
}
