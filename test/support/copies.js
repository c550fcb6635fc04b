// Helpers for tests of copies: fills a layer with every kind of content, and reads all its tile documents.
import { png, square } from './tiles.js'

/** @param {number} day */
export const T = day => new Date(Date.UTC(2024, 0, day)).toISOString().slice(0, 19) + 'Z'
/** The time at which the store received the version of a day. @param {number} day */
export const S = day => T(day + 40)

/** @param {import('../../loader/store/index.js').Store} store @param {string} layer @param {number} [side] tiles */
export async function writeVariedLayer (store, layer, side = 4) {
  await store.defineLayer(layer,
    { attribution: 'people', ttl: 999999, format: 'png', retention: {
      daily: 3
    }, upstream: { url: 'http://127.0.0.1:9/{z}/{x}/{y}.png' } })
  for (const day of [1, 3, 5]) {
    await store.write(square({
      layer, time: T(day), side, seed: (x, y) => day === 5 && x === 1 ? null : day * 10 + x + y
    }).filter(({ x }) => day < 5 || x < 2)
      .map(tile => ({ ...tile, expires: T(day + 9), origin: { url: 'http://there/', etag: `${day}` } })),
      { stored: S(day) })
    await store.putEdition(layer, T(day), { title: `day ${day}`, tiles: 16 })
  }
  // fields that other programs write, and a head that moves into the past
  await store.couch.update(`${layer}:5:3:1`, doc => ({ ...doc, note: 'by hand', contested: T(4) }))
  await store.write([{ layer, z: 5, x: 3, y: 1, time: T(6), bytes: png(77) }], { stored: S(6) })
}

/**
 * Reads all tile documents of a layer, without the name of the layer.
 * @param {import('../../loader/store/index.js').Store} store
 * @param {string} layer
 * @returns {Promise<any[]>}
 */
export async function tilesOf ({ couch }, layer) {
  const { rows } =
    await couch.request({ path: '_all_docs', qs: { startkey: `${layer}:`, endkey: `${layer};`, include_docs: true } })
  return rows.map(({ doc: { _id, _rev, layer: name, _attachments, ...fields } }) => {
    const { content_type: type, digest, length } = _attachments?.tile ?? {}
    return { place: _id.slice(layer.length + 1)
      .split('@')[0], past: _id.includes('@'), named: name === layer, type, digest, length, ...fields }
  })
}

/** Past versions without a head. @param {any[]} tiles from tilesOf */
export const pastOfNowhere =
  tiles => tiles.filter(({ past, place }) => past && !tiles.some(tile => tile.place === place && !tile.past))
