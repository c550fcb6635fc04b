// Removes tiles of a layer, versions of a time, an edition, or the whole layer. Followers of the store see each
// deletion.
import { batchesOf, chunks } from '../../../core/lists.js'
import {
  AFTER, checkLayer, editionId, endOf, headId, isAdministrative, isTileId, layerId, layerRange, limitsId, manifestId,
  startOf, styleId, tileId
} from '../../../core/index.js'
import { ignoring } from '../../../core/promises.js'
import { TilecouchError } from '../../errors.js'
import { readTileLeaves } from '../../../core/store/documents.js'
import { childSignal } from '../../child-signal.js'
import { BY_TIME } from '../../store/reader.js'
import { readLeavesByState } from '../../store/revisions.js'
import { listedOf } from './documents.js'
import { Remover } from './remover.js'

const BATCH = 200 // tiles or small documents per request
const PAGE = 2000 // rows of an edition per request

/**
 * Removes a whole layer. It reads the primary index and therefore finds documents that are in no view, such as tiles of
 * other programs and a past without its head. Order: past versions, heads, editions, manifests, blocks, removals and
 * styles, limits, layer document.
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {import('./remover.js').RemoverOptions} [options]
 * @returns {Promise<Tally & {editions: number, left: number}>} bytes: from the index; left: documents whose ids
 * begin with the name of the layer but that are no tiles
 */
export async function removeLayer (store, layer, options = {}) {
  const remover = new Remover(store, options)
  const { tally, couch, signal } = remover
  const editions = []
  for await (const page of revisionsFrom(couch, editionId(checkLayer(layer), ''), signal)) editions.push(...page)
  const bytesBefore = await bytesOf(store, layer)
  const otherIds = new Set()
  const pagesOf = isHead => revisionsIn(couch, layerRange(layer), signal, id => {
    if (!isTileId(id) && !isAdministrative(id)) otherIds.add(id)
    return isTileId(id) && id.includes('@') !== isHead
  })
  await remover.begin()
  const isDescribed = (await couch.docs(singleIds(layer))).some(({ doc }) => doc)
  const exists = isDescribed || editions.length || await hasPage(pagesOf(true)) || await hasPage(pagesOf(false))
  if (!exists && !tally.unpurged) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  await endTiles(remover, layer, pagesOf)
  tally.bytes = Math.max(0, bytesBefore - (remover.dryRun ? 0 : await bytesOf(store, layer)))
  const isEmpty = !tally.refused && !tally.changed
  const editionCount = isEmpty ? await endRecords(remover, layer, editions.map(({ id }) => id)) : 0
  await remover.finish()
  return { ...tally, editions: editionCount, left: otherIds.size }
}

const hasPage = async pages => !(await pages.next()).done

/**
 * Deletes past versions, then heads, until none is left.
 * @param {Remover} remover @param {string} layer
 * @param {(isHead: boolean) => AsyncGenerator<import('./documents.js').Revision[]>} pagesOf
 */
async function endTiles (remover, layer, pagesOf) {
  const { tally, limits } = remover
  // the next pass deletes new documents of loads, and losing revisions that have become winners
  for (let pass = 1; pass <= limits.passes && !tally.refused; pass++) {
    Object.assign(tally, { changed: 0, named: [] })
    const hadPast = await endPages(remover, pagesOf(false), false)
    const hadHeads = await endPages(remover, pagesOf(true), true)
    if (remover.dryRun || !(hadPast || hadHeads)) return
    const isLast = pass === limits.passes
    if (isLast && !tally.changed && await hasPage(pagesOf(true))) {
      tally.note('changed', layerId(layer), 'a load writes into it')
    }
  }
}

/** Deletes past versions or heads, and counts them. @returns {Promise<boolean>} whether there were any */
async function endPages (remover, pages, isHead) {
  const { tally, limits } = remover
  let isEmpty = true
  for await (const revisions of pages) {
    isEmpty = false
    for (const chunk of chunks(revisions, limits.batch)) {
      const { size } = await remover.end(chunk)
      tally.versions += size
      if (isHead) tally.tiles = tally.heads += size
      remover.onProgress?.(tally)
    }
  }
  return !isEmpty
}

/** Deletes editions, statements and styles, limits, and the layer document. @returns number of editions */
async function endRecords (remover, layer, editionIds) {
  const editionCount = await endDocuments(remover, editionIds)
  for (const prefix of statementPrefixes(layer)) {
    for await (const revisions of revisionsFrom(remover.couch, prefix, remover.signal)) {
      await endDocuments(remover, revisions.map(({ id }) => id))
    }
  }
  await endDocuments(remover, singleIds(layer))
  return editionCount
}

/**
 * Id prefixes of a layer's statements, removals and styles. Manifests come first, because blocks without a manifest are
 * ignored.
 */
const statementPrefixes = layer =>
  [`manifest:${layer}@`, `block:${layer}:`, `removed:${layer}:`, styleId(layer)]

/** Like statementPrefixes, and editions. */
export const recordPrefixes = layer => [editionId(layer, ''), ...statementPrefixes(layer)]

/** Ids of the limits and the document of a layer. */
export const singleIds = layer => [limitsId(layer), layerId(layer)]

/** Documents with an id prefix, page by page. @returns {AsyncGenerator<import('./documents.js').Revision[]>} */
export const revisionsFrom = (couch, prefix, signal) =>
  revisionsIn(couch, { startkey: prefix, endkey: `${prefix}~` }, signal)

/** @returns {AsyncGenerator<import('./documents.js').Revision[]>} never an empty page */
async function * revisionsIn (couch, range, signal, isSelected = id => Boolean(id)) {
  for await (const rows of couch.pages(range, { signal })) {
    const revisions = rows.filter(({ id }) => isSelected(id)).map(({ id, value: { rev } }) => ({ id, rev }))
    if (revisions.length) yield revisions
  }
}

/** Bytes of all versions, from the index; 0 without it. */
const bytesOf = async (store, layer) =>
  (await store.stats(layer).catch(ignoring('LAYER_NOT_FOUND', 'INDEX_MISSING')))?.bytes ?? 0

/**
 * @typedef {import('./remover.js').Removed} Tally
 * @typedef {{z: number, x: number, y: number}} Tile
 *
 * @typedef {object} Which
 * @property {import('../../../core/area.js').Area} [area]
 * @property {import('../../../core/grid.js').Zooms} [zooms]
 * @property {AsyncIterable<Tile> | Iterable<Tile>} [only] these tiles; area and zooms are ignored
 * @property {string} [since] versions from this time on; a period counts from its start
 * @property {string} [until] versions up to this time; a period counts to its end
 */

/**
 * Removes tiles, or their versions of a time. Without area, zooms and tiles it also removes the editions of that time.
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {Which & import('./remover.js').RemoverOptions} options
 * @returns {Promise<Tally & {editions: number}>}
 */
export async function removeTiles (store, layer, { area: requestedArea, zooms, only, since, until, ...options }) {
  checkLayer(layer)
  const area = await store.areaIn(layer, requestedArea)
  const [firstTime, lastTime] = [since === undefined ? '' : startOf(since), until === undefined ? AFTER : endOf(until)]
  const isInPeriod = (/** @type {any} */ { time }) => time >= firstTime && time <= lastTime
  const times = { ...(since !== undefined && { since: firstTime }), ...(until !== undefined && { until: lastTime }) }
  const remover = new Remover(store, { ...options, isStated: true })
  const take = tile => remover.take(tile, tile.versions.filter(isInPeriod))
  const { signal, end } = childSignal(options.signal)
  let run = ''
  try {
    if (only) {
      for await (const batch of batchesOf(only, { most: BATCH, bytes: Infinity })) {
        const tiles = [...new Set(batch.map(({ z, x, y }) => tileId(layer, z, x, y)))]
        await remover.state(layer, { ...times, tiles })
        for (const tile of await listTilesById(store.couch, tiles, signal)) await take(tile)
        await remover.flush()
      }
    } else {
      run = await remover.state(layer, { ...times, area, zooms })
      for await (const tile of store.listTiles(layer, { area, zooms, signal })) await take(tile)
    }
  } finally {
    end()
  }
  const isPart = only || area || zooms || (since === undefined && until === undefined)
  const editions = isPart ? [] : (await store.editions(layer)).filter(isInPeriod)
  return finishRemoval(remover, layer, editions.map(({ time }) => time), run)
}

/** Reads tiles from the primary index. @returns {Promise<import('../../store/list.js').ListedTile[]>} */
async function listTilesById (couch, ids, signal) {
  const tiles = await readTileLeaves(couch, ids, signal)
  return tiles.map(({ heads, pasts }) => [...pasts, ...heads.slice(0, 1)]).filter(docs => docs.length).map(tileOf)
}

/**
 * Removes an edition: all statements of its time, and its document. Then heads show the version before.
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {string} time exact
 * @param {import('./remover.js').RemoverOptions} [options]
 * @returns {Promise<Tally & {editions: number}>}
 */
export async function removeEdition (store, layer, time, options = {}) {
  checkLayer(layer)
  if (startOf(time) !== time) throw new TilecouchError('BAD_TIME', { value: time })
  const remover = new Remover(store, { ...options, isStated: true })
  const run = await remover.state(layer, { since: time, until: time })
  // a running load may have written more
  for (let pass = 0, hasVersions = true; hasVersions && pass < remover.limits.passes; pass++) {
    hasVersions = false
    for await (const ids of documentsAt(store.couch, layer, time, options.signal)) {
      for (const tile of await listTilesById(store.couch, [...new Set(ids.map(headId))], options.signal)) {
        const versions = tile.versions.filter(version => version.time === time)
        hasVersions ||= versions.length > 0
        await remover.take(tile, versions)
      }
    }
    await remover.flush()
    if (remover.dryRun || remover.tally.refused || remover.tally.changed) break
  }
  return finishRemoval(remover, layer, [time], run)
}

/**
 * Removes a style with its sprite and glyphs. Maps of later times then show the style before it.
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {string} time exact
 * @param {import('./remover.js').RemoverOptions} [options]
 * @returns {Promise<Tally & {styles: number}>}
 */
export async function removeStyle (store, layer, time, options = {}) {
  const remover = new Remover(store, options)
  const styles = await endDocuments(remover, [styleId(checkLayer(layer), time)])
  return { ...await remover.finish(), styles }
}

/** Ids of the documents of a time, in pages. @returns {AsyncGenerator<string[]>} */
async function * documentsAt (couch, layer, time, signal) {
  const range = { startkey: [layer, time], endkey: [layer, time, {}] }
  for await (const rows of couch.viewPages(BY_TIME, range, { page: PAGE, signal })) {
    for (const chunk of chunks(rows, BATCH)) yield chunk.map(({ id }) => id)
  }
}

/** @param {any[]} docs of one tile, oldest first, the head last; a copy of the head is left out */
function tileOf (docs) {
  const head = docs[docs.length - 1]
  const versions = docs.filter(doc => doc === head || doc.time !== head.time || !doc._id.includes('@')).map(listedOf)
  const { layer, z, x, y } = versions[0] ?? {}
  return { id: tileId(layer, z, x, y), z, x, y, versions }
}

/**
 * Deletes editions and their manifests if all of their versions are deleted. Editions that were loaded after the
 * removal began stay.
 * @param {Remover} remover @param {string} layer @param {string[]} times @param {string} run of the removal
 */
async function finishRemoval (remover, layer, times, run) {
  await remover.flush()
  const { changed, refused } = remover.tally
  let editions = 0
  if (!changed && !refused) {
    const statements = remover.statements.ofLayer(layer)
    await statements.refresh()
    const manifests = statements.manifests.filter(manifest => times.includes(manifest.time) && manifest.run < run)
    const partIds = manifest =>
      (manifest.parts ?? []).map((_, part) => manifestId(layer, manifest.time, manifest.run, part))
    // the last part of a manifest first, because the other parts are ignored without it
    await endDocuments(remover, manifests.map(({ id }) => id))
    await endDocuments(remover, manifests.flatMap(partIds))
    editions = await endDocuments(remover, times.map(time => editionId(layer, time)), doc => (doc.run ?? '') < run)
  }
  return { ...await remover.finish(), editions }
}

/**
 * Deletes editions, statements, styles and layers with all their leaves.
 * @param {Remover} remover @param {string[]} ids
 */
async function endDocuments (remover, ids, isSelected = () => true) {
  let removed = 0
  for (const chunk of chunks(ids, BATCH)) {
    const leaves = await readLeavesByState(remover.couch, chunk, remover.signal)
    const docs = [...leaves.values()].flatMap(({ living }) => living).filter(isSelected)
    removed += (await remover.end(docs.map(({ _id: id, _rev: rev }) => ({ id, rev })))).size
  }
  return removed
}
