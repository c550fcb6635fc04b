// The documents of the benchmark of bulk writes, of 256 bytes and tiles, and their ids.
import { tileDocument } from '../../core/store/documents.js'
import { tileId } from '../../core/index.js'
import { prepareTile } from '../../loader/store/tile.js'
import { BYTES, LAYER, NEW, placesOf, shuffled } from '../block.js'
import { plain } from '../raw.js'
import { noiseTile, random } from '../tiles.js'

export const SMALL = 256 // bytes of a document as JSON, without its id
export const TINY = 40 // bytes of the pixels of an almost empty tile, without the rest of its PNG
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const POOL = 65536 // letters that document texts are cut from

export const RANDOM = 'random ids'
export const DIGITS = 'ids of 10 digits, in order'
export const TILES = 'tile ids, in order'
export const SHUFFLED = 'tile ids, shuffled'
export const SERVER = 'ids that CouchDB gives'

/**
 * Name -> count -> the ids, one by one, or undefined where the server chooses one.
 * @type {Record<string, (count: number, seed?: number) => Iterable<string | undefined>>}
 */
export const IDS = {
  [RANDOM]: function * (count, seed = 1) {
    const next = random(seed)
    for (let index = 0; index < count; index++) {
      yield Array.from({ length: 4 }, () => Math.floor(next() * 2 ** 32).toString(16).padStart(8, '0')).join('')
    }
  },
  [DIGITS]: function * (count) {
    for (let index = 0; index < count; index++) yield String(index + 1).padStart(10, '0')
  },
  [TILES]: count => idsOf(placesOf(count)),
  [SHUFFLED]: (count, seed = 1) => idsOf(shuffled(placesOf(count), seed)),
  [SERVER]: function * (count) {
    for (let index = 0; index < count; index++) yield undefined
  }
}

function * idsOf (places) {
  for (const { z, x, y } of places) yield tileId(LAYER, z, x, y)
}

/** Documents without ids, the same on every machine. @returns {(index: number) => any} */
export function smallDocuments (seed = 1) {
  const next = random(seed)
  const pool = Array.from({ length: POOL }, () => LETTERS[Math.floor(next() * LETTERS.length)]).join('')
  return index => {
    const doc = { number: index, text: '' }
    const length = SMALL - JSON.stringify(doc).length
    const start = index * 7919 % (POOL - length)
    return { ...doc, text: pool.slice(start, start + length) }
  }
}

/** Versions of tiles in the order of their ids, as `Store.write` takes them. @param {number} [size] bytes of a tile */
export const tilesOf = (count, size = BYTES) => placesOf(count)
  .map(({ z, x, y, index }) => ({ layer: LAYER, z, x, y, time: NEW, bytes: noiseTile(index, size) }))

/** The same tiles as documents without ids. @returns {Promise<(index: number) => any>} */
export async function tileDocuments (tiles) {
  const prepared = await Promise.all(tiles.map(prepareTile))
  return index => {
    const { _id, ...doc } = plain(tileDocument(prepared[index], { current: true, stored: NEW }))
    return doc
  }
}

export function * documentsOf (make, ids) {
  let index = 0
  for (const id of ids) yield { ...(id !== undefined && { _id: id }), ...make(index++) }
}
