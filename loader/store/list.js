// What a layer holds in the order of its ids, now or as of a time, without its bytes and in bounded memory.
import { asOf, endOf, tileId, timeline, versionId } from '../../core/index.js'
import { heads, versions } from './columns.js'
import { walk } from './walk.js'

/** As of then a layer is as it is now. So listed its versions know their times, and are found when they move to the past. */
export const LATEST = '9999-12-31T23:59:59Z'

/**
 * A version as the index knows it. Of what list() finds without a time, `time`, `rev` and `expires` are not known: the
 * index it is read from knows the present only, and is not made longer by a long past.
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
 * @typedef {{id: string, z: number, x: number, y: number, versions: (Listed & {time: string, rev: string})[]}} ListedTile id of its head; versions: oldest first
 *
 * @typedef {object} ListOptions
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {AbortSignal} [signal]
 */

/**
 * Every tile that has or had anything, with its versions, ascending by id.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {ListOptions} [options]
 * @returns {AsyncGenerator<ListedTile>}
 */
export async function * listTiles (couch, layer, options = {}) {
  for await (const { z, x, y, rows } of walk(couch, versions, layer, options)) {
    const id = tileId(layer, z, x, y)
    const all = timeline(rows.filter(isOwn).map(row => describeVersion(layer, row)))
    // a head that went to the past between two answers stands there as well
    for (const version of all.slice(0, -1)) if (version.current) Object.assign(version, { current: false, id: versionId(layer, z, x, y, version.time) })
    if (all.length) yield { id, z, x, y, versions: all }
  }
}

/**
 * Whether a document is called as its fields say. Where nobody validates, anything may say that it is a tile.
 * @param {import('./ranges.js').Row} row
 */
function isOwn ({ id, key }) {
  const [layer, z, x, y, time] = key
  const head = tileId(layer, z, x, y)
  return id === head || id === `${head}@${time}`
}

/**
 * What exists as of a time, or now; never what is gone. Ascending by the id of the tile.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {ListOptions & {time?: string}} [options] a partial time is the end of its period
 * @returns {AsyncGenerator<Listed>}
 */
export async function * list (couch, layer, { time, ...options } = {}) {
  if (time === undefined) {
    for await (const { z, x, y, rows } of walk(couch, heads, layer, options)) {
      const head = rows.find(isOwn)
      if (head) yield { id: head.id, layer, z, x, y, current: true, gone: false, size: head.value }
    }
    return
  }
  const when = endOf(time)
  for await (const tile of listTiles(couch, layer, options)) {
    const version = asOf(tile.versions, when)
    if (version && !version.gone) yield version
  }
}

/** @param {string} layer @param {import('./ranges.js').Row} row @returns {ListedTile['versions'][0]} */
function describeVersion (layer, { id, key, value: { rev, bytes, expires, gone } }) {
  const [, z, x, y, time] = key
  return { id, layer, z, x, y, time, current: !id.includes('@'), rev, size: bytes, gone, ...(expires && { expires }) }
}
