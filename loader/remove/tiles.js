// Which versions go: those of an area, of named tiles, of a time or of an edition.
import { AFTER, TilecouchError, checkLayer, editionId, endOf, headId, now, startOf, tileId } from '../../core/index.js'
import { batchesOf } from '../../core/batches.js'
import { markPruned } from '../prune/mark.js'
import { readLeaves } from '../resolve/leaves.js'
import { BY_TIME } from '../store/reader.js'
import { linked } from '../store/linked.js'
import { pagesOf } from '../store/pages.js'
import { listedOf, readTiles } from './documents.js'
import { Remover } from './remover.js'

const LOT = 200 // tiles named that are read at once
const PAGE = 2000 // rows of an edition a request

/**
 * @typedef {import('./tally.js').Tally} Tally
 * @typedef {{z: number, x: number, y: number}} Tile
 *
 * @typedef {object} Which
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {AsyncIterable<Tile> | Iterable<Tile>} [only] these tiles, whatever area and zooms are
 * @property {string} [since] versions from this time on: the start of the period that is written
 * @property {string} [until] versions up to this time: the end of the period that is written
 */

/**
 * Removes tiles, or the versions of a time of theirs. With neither area, zooms nor tiles named, the editions of that time go, too.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {Which & import('./remover.js').RemoverOptions} options
 * @returns {Promise<Tally & {editions: number}>}
 */
export async function removeTiles (store, layer, { area, zooms, only, since, until, ...options }) {
  checkLayer(layer)
  const [first, last] = [since === undefined ? '' : startOf(since), until === undefined ? AFTER : endOf(until)]
  const isDoomed = ({ time }) => time >= first && time <= last
  const remover = await begin(store, layer, options)
  const { signal, end } = linked(options.signal)
  try {
    for await (const tile of only ? tilesOf(store.couch, layer, only, signal) : store.listTiles(layer, { area, zooms, signal })) {
      await remover.take(tile, tile.versions.filter(isDoomed))
    }
  } finally {
    end()
  }
  const isPart = only || area || zooms || (since === undefined && until === undefined)
  return finish(remover, layer, isPart ? [] : (await store.editions(layer)).filter(isDoomed))
}

/** @param {import('../store/index.js').Store} store @param {string} layer @param {import('./remover.js').RemoverOptions} options */
async function begin (store, layer, options) {
  const remover = new Remover(store, options)
  await remover.begin()
  if (!options.dryRun) await markPruned(store, layer, now)
  return remover
}

/** Tiles that are named, as the primary index has them. @returns {AsyncGenerator<import('../store/list.js').ListedTile>} */
async function * tilesOf (couch, layer, only, signal) {
  for await (const lot of batchesOf(only, { most: LOT, bytes: Infinity })) {
    const ids = [...new Set(lot.map(({ z, x, y }) => tileId(layer, z, x, y)))]
    for (const { head, pasts } of await readTiles(couch, ids, signal)) if (head || pasts.length) yield tileOf([...pasts, ...head ? [head] : []])
  }
}

/**
 * Removes an edition: every version of its time, and its document. Heads fall back to the version before.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} time exact
 * @param {import('./remover.js').RemoverOptions} [options]
 * @returns {Promise<Tally & {editions: number}>}
 */
export async function removeEdition (store, layer, time, options = {}) {
  checkLayer(layer)
  if (startOf(time) !== time) throw new TilecouchError('BAD_TIME', { value: time })
  const { couch } = store
  const remover = await begin(store, layer, options)
  for await (const ids of documentsAt(couch, layer, time, options.signal)) {
    for (const tile of await readEdition(couch, ids, time, options.signal)) await remover.take(tile, tile.versions.filter(version => version.time === time))
  }
  return finish(remover, layer, [{ time }])
}

/** Ids of the documents of a time, page by page. @returns {AsyncGenerator<string[]>} */
async function * documentsAt (couch, layer, time, signal) {
  const range = { startkey: [layer, time], endkey: [layer, time, {}] }
  for await (const rows of pagesOf(couch, BY_TIME, range, { page: PAGE, signal })) {
    for (let at = 0; at < rows.length; at += LOT) yield rows.slice(at, at + LOT).map(({ id }) => id)
  }
}

/**
 * As much of the tiles of an edition as matters: the version, whether there is a head, and what comes before one that goes.
 * @returns {Promise<import('../store/list.js').ListedTile[]>}
 */
async function readEdition (couch, documents, time, signal) {
  const ids = [...new Set(documents.map(id => headId(id)))]
  const heads = new Map((await couch.docs(ids, { signal })).map(({ id, doc }) => [id, doc]))
  const [over, under] = [[], /** @type {string[]} */ ([])]
  for (const id of ids) (heads.get(id) && heads.get(id).time !== time ? over : under).push(id)
  const past = (await couch.docs(over.map(id => `${id}@${time}`), { signal })).flatMap(({ doc }) => doc ? [doc] : [])
  return [
    ...past.map(doc => tileOf([doc, heads.get(headId(doc._id))])),
    ...(await readTiles(couch, under, signal)).map(({ head, pasts }) => tileOf([...pasts, ...head ? [head] : []]))
  ].filter(({ versions }) => versions.length)
}

/** @param {any[]} docs of one tile, oldest first, the head last; a copy of the head is not another version */
function tileOf (docs) {
  const versions = docs.map(listedOf).filter(({ current, time }, at) => current || at === docs.length - 1 || time !== docs[docs.length - 1].time)
  const { layer, z, x, y } = versions[0] ?? {}
  return { id: tileId(layer, z, x, y), z, x, y, versions }
}

/**
 * Documents of editions, when all of their versions are gone.
 * @param {Remover} remover @param {string} layer @param {{time: string}[]} editions
 */
async function finish (remover, layer, editions) {
  await remover.flush()
  const { changed, refused } = remover.tally
  const gone = changed + refused ? 0 : await endPapers(remover, editions.map(({ time }) => editionId(layer, time)))
  return { ...await remover.finish(), editions: gone }
}

/** @param {Remover} remover @param {string[]} ids of editions and layers @returns {Promise<number>} */
export async function endPapers (remover, ids) {
  let removed = 0
  for (let at = 0; at < ids.length; at += LOT) {
    const leaves = await readLeaves(remover.couch, ids.slice(at, at + LOT), remover.signal)
    removed += (await remover.end([...leaves.values()].flatMap(({ living }) => living))).size
  }
  return removed
}
