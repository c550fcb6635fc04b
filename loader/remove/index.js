// Removes tiles of a layer, versions of a time, an edition, or the whole layer. Followers of the store see each deletion.
import { batchesOf } from '../../core/batches.js'
import {
  AFTER, checkLayer, editionId, endOf, headId, isTileId, layerId, layerRange, manifestId, startOf, tileId
} from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { readTileLeaves } from '../../core/store/leaves.js'
import { childSignal } from '../store/child-signal.js'
import { BY_TIME } from '../store/reader.js'
import { readLeaves } from '../store/revisions.js'
import { listedOf } from './documents.js'
import { Remover } from './remover.js'

const BATCH = 200 // tiles, or small documents, that are read at once
const PAGE = 2000 // rows of an edition a request

/**
 * Removes a layer whole, from the primary index: also documents that no view has, such as tiles of other programs and a past
 * without its head. Past versions first, then heads, editions, manifests, blocks and removals, the layer's document last.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {import('./remover.js').RemoverOptions} [options]
 * @returns {Promise<Tally & {editions: number, left: number}>} bytes: according to the index; left: documents whose ids begin
 * with the layer's name and that are no tiles
 */
export async function removeLayer (store, layer, options = {}) {
  const remover = new Remover(store, options)
  const { tally, limits, couch } = remover
  const editions = []
  for await (const docs of documentsFrom(couch, editionId(checkLayer(layer), ''), remover.signal)) editions.push(...docs.map(({ _id }) => _id))
  const before = await bytesOf(store, layer)
  const hasDocument = Boolean(await couch.get(layerId(layer)))
  const others = new Set()
  const walk = isHead => documentsOf(couch, layer, { isHead, signal: remover.signal, onOther: id => others.add(id) })
  if (!hasDocument && !editions.length && (await walk(true).next()).done && (await walk(false).next()).done) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  await remover.begin()
  // documents that loads write meanwhile, and losing revisions that appear, are deleted in the next pass
  for (let pass = 0, found = true; found && pass < limits.passes && !tally.refused; pass++) {
    Object.assign(tally, { changed: 0, named: [] })
    found = false
    for (const isHead of [false, true]) {
      for await (const docs of walk(isHead)) {
        found = true
        for (let at = 0; at < docs.length; at += limits.batch) {
          const gone = await remover.end(docs.slice(at, at + limits.batch))
          tally.versions += gone.size
          if (isHead) tally.tiles = tally.heads += gone.size
          options.onProgress?.(tally)
        }
      }
    }
    if (remover.dryRun) found = false
    else if (found && pass + 1 === limits.passes && !tally.changed && !(await walk(true).next()).done) remover.tally.note('changed', layerId(layer), 'a load writes into it')
  }
  tally.bytes = Math.max(0, before - (remover.dryRun ? 0 : await bytesOf(store, layer)))
  const isEmpty = !tally.refused && !tally.changed
  const ended = isEmpty ? await endDocuments(remover, editions) : 0
  if (isEmpty) {
    for (const prefix of statementPrefixes(layer)) {
      for await (const docs of documentsFrom(couch, prefix, remover.signal)) await remover.end(docs)
    }
    await endDocuments(remover, [layerId(layer)])
  }
  await remover.finish()
  return { ...tally, editions: ended, left: others.size }
}

/** How the ids of a layer's statements and removals begin: manifests first, without which blocks count for nothing. @param {string} layer */
export const statementPrefixes = layer => [`manifest:${layer}@`, `block:${layer}:`, `removed:${layer}:`]

/** Documents whose ids begin so, page by page. @returns {AsyncGenerator<{_id: string, _rev: string}[]>} */
export async function * documentsFrom (couch, prefix, signal) {
  for await (const rows of couch.pages({ startkey: prefix, endkey: `${prefix}~` }, { signal })) yield rows.map(named)
}

const named = ({ id, value: { rev } }) => ({ _id: id, _rev: rev })

/** Bytes of all versions according to the index; 0 without it. */
async function bytesOf (store, layer) {
  try {
    return (await store.stats(layer)).bytes
  } catch (error) {
    if (error.code !== 'LAYER_NOT_FOUND' && error.code !== 'INDEX_MISSING') throw error
    return 0
  }
}

/**
 * The heads of a layer, or its past, page by page.
 * @param {import('../store/couch.js').Couch} couch @param {string} layer
 * @param {{isHead: boolean, signal?: AbortSignal, onOther: (id: string) => void}} options
 * @returns {AsyncGenerator<{_id: string, _rev: string}[]>} never an empty page
 */
async function * documentsOf (couch, layer, { isHead, signal, onOther }) {
  for await (const rows of couch.pages(layerRange(layer), { signal })) {
    for (const { id } of rows) if (!isTileId(id)) onOther(id)
    const docs = rows.filter(({ id }) => isTileId(id) && id.includes('@') !== isHead).map(named)
    if (docs.length) yield docs
  }
}

/**
 * @typedef {import('./remover.js').Removed} Tally
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
 * Removes tiles, or their versions of a time. If neither area, zooms nor tiles are given, also the editions of that time.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {Which & import('./remover.js').RemoverOptions} options
 * @returns {Promise<Tally & {editions: number}>}
 */
export async function removeTiles (store, layer, { area, zooms, only, since, until, ...options }) {
  checkLayer(layer)
  const [first, last] = [since === undefined ? '' : startOf(since), until === undefined ? AFTER : endOf(until)]
  const isDoomed = (/** @type {any} */ { time }) => time >= first && time <= last
  const times = { ...(since !== undefined && { since: first }), ...(until !== undefined && { until: last }) }
  const remover = await begin(store, options)
  const { signal, end } = childSignal(options.signal)
  let run = ''
  try {
    if (only) {
      for await (const batch of batchesOf(only, { most: BATCH, bytes: Infinity })) {
        const tiles = [...new Set(batch.map(({ z, x, y }) => tileId(layer, z, x, y)))]
        await remover.state(layer, { ...times, tiles })
        for (const tile of await readListed(store.couch, tiles, signal)) await remover.take(tile, tile.versions.filter(isDoomed))
        await remover.flush()
      }
    } else {
      run = await remover.state(layer, { ...times, area, zooms })
      for await (const tile of store.listTiles(layer, { area, zooms, signal })) await remover.take(tile, tile.versions.filter(isDoomed))
    }
  } finally {
    end()
  }
  const isPart = only || area || zooms || (since === undefined && until === undefined)
  return finish(remover, layer, isPart ? [] : (await store.editions(layer)).filter(isDoomed).map(({ time }) => time), run)
}

/** @param {import('../store/index.js').Store} store @param {import('./remover.js').RemoverOptions} options */
async function begin (store, options) {
  const remover = new Remover(store, { ...options, isStated: true })
  await remover.begin()
  return remover
}

/** Tiles as the primary index has them. @returns {Promise<import('../store/list.js').ListedTile[]>} */
async function readListed (couch, ids, signal) {
  return (await readTileLeaves(couch, ids, signal)).flatMap(({ heads: [head], pasts }) => head || pasts.length ? [tileOf([...pasts, ...head ? [head] : []])] : [])
}

/**
 * Removes an edition: all statements of its time, and its document. Heads fall back to the version before.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} time exact
 * @param {import('./remover.js').RemoverOptions} [options]
 * @returns {Promise<Tally & {editions: number}>}
 */
export async function removeEdition (store, layer, time, options = {}) {
  checkLayer(layer)
  if (startOf(time) !== time) throw new TilecouchError('BAD_TIME', { value: time })
  const remover = await begin(store, options)
  const run = await remover.state(layer, { since: time, until: time })
  // a load that was running may have written more meanwhile
  for (let pass = 0, found = true; found && pass < remover.limits.passes; pass++) {
    found = false
    for await (const ids of documentsAt(store.couch, layer, time, options.signal)) {
      for (const tile of await readListed(store.couch, [...new Set(ids.map(headId))], options.signal)) {
        const doomed = tile.versions.filter(version => version.time === time)
        found ||= doomed.length > 0
        await remover.take(tile, doomed)
      }
    }
    await remover.flush()
    if (remover.dryRun || remover.tally.refused || remover.tally.changed) break
  }
  return finish(remover, layer, [time], run)
}

/** Ids of the documents of a time, page by page. @returns {AsyncGenerator<string[]>} */
async function * documentsAt (couch, layer, time, signal) {
  const range = { startkey: [layer, time], endkey: [layer, time, {}] }
  for await (const rows of couch.viewPages(BY_TIME, range, { page: PAGE, signal })) {
    for (let at = 0; at < rows.length; at += BATCH) yield rows.slice(at, at + BATCH).map(({ id }) => id)
  }
}

/** @param {any[]} docs of one tile, oldest first, the head last; a copy of the head is not another version */
function tileOf (docs) {
  const versions = docs.map(listedOf).filter(({ current, time }, at) => current || at === docs.length - 1 || time !== docs[docs.length - 1].time)
  const { layer, z, x, y } = versions[0] ?? {}
  return { id: tileId(layer, z, x, y), z, x, y, versions }
}

/**
 * Deletes editions and their manifests when all of their versions are gone, but none that was loaded after the removal began.
 * @param {Remover} remover @param {string} layer @param {string[]} times @param {string} run of the removal
 */
async function finish (remover, layer, times, run) {
  await remover.flush()
  const { changed, refused } = remover.tally
  let editions = 0
  if (!changed && !refused) {
    const said = remover.saidOf(layer)
    await said.refresh()
    const manifests = said.manifests.filter(manifest => times.includes(manifest.time) && manifest.run < run)
    // the last part of a manifest first: without it the others count for nothing
    await endDocuments(remover, manifests.map(({ id }) => id))
    await endDocuments(remover, manifests.flatMap(({ time, run: of, parts = [] }) => parts.map((_, part) => manifestId(layer, time, of, part))))
    editions = await endDocuments(remover, times.map(time => editionId(layer, time)), doc => (doc.run ?? '') < run)
  }
  return { ...await remover.finish(), editions }
}

/** @param {Remover} remover @param {string[]} ids of editions, manifests and layers @param {(doc: any) => boolean} [isMeant] @returns {Promise<number>} */
export async function endDocuments (remover, ids, isMeant = () => true) {
  let removed = 0
  for (let at = 0; at < ids.length; at += BATCH) {
    const leaves = await readLeaves(remover.couch, ids.slice(at, at + BATCH), remover.signal)
    removed += (await remover.end([...leaves.values()].flatMap(({ living }) => living).filter(isMeant))).size
  }
  return removed
}

// Removing tiles, editions and layers, so that everybody who follows the store hears of it and nobody who loads loses by it.
export { removeDefaults } from './remover.js'
export { Remover } from './remover.js'
