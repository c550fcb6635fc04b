// Loads a source as one edition of a layer. A load may be killed at any moment and run again: it skips stored tiles.
//
//   1. read the manifests of other editions, and the tiles that were written since
//   2. write the tiles; a version that is newer than all known ones takes the quick way (core/store/head-writer.js)
//   3. write the manifest, which counts from then on
//   4. settle the tiles that others have changed meanwhile. Of two loads at once, the one that ends later sees the
//      manifests of both
import { chunks } from '../../core/lists.js'
import { checkLayer, gridOf, layerId, now, parseArea, removedId, selectorOf, startOf } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { newRun } from '../../core/runs.js'
import { widen } from '../../core/store/extent.js'
import { StatementsByLayer } from '../../core/store/statements.js'
import { Comparison } from './comparison.js'
import { feedPositionOf, futureWarnings } from './baseline.js'
import { Georeference, whyEmpty } from './georeference.js'
import { ManifestWriter } from './manifest.js'
import { missingTiles } from './missing.js'
import { SameTiles, checkSame } from './same.js'
import { SourceLayers } from './source-layers.js'
import { SourceReader } from './source-reader.js'
import { dropEmptyLayer } from './undo.js'
import { editionDocuments } from '../store/layers.js'
import { counters, writeDefaults } from '../store/writer.js'

const WITHDRAWN = 5000 // tiles in one document

/**
 * @typedef {object} LoadOptions
 * @property {string} layer
 * @property {string} [time] when the map looked like this; a partial time is the start of its period; default: the time
 *   of the source, else now
 * @property {string} [title] of the edition
 * @property {number} [ttl] seconds until a tile of the layer expires
 * @property {boolean} [complete] the source is the whole layer at that time: tiles that it lacks become gone
 * @property {import('../../core/grid.js').Bbox} [bbox] with which the source was opened, for `complete`
 * @property {import('../../core/area.js').Area} [area] the same
 * @property {import('../../core/grid.js').Zooms} [zooms] the same
 * @property {Record<string, any>} [fields] of the layer document
 * @property {string} [of] the state of the source, to recognise it in the next load
 * @property {number} [batch]
 * @property {number} [concurrency]
 * @property {string} [same] which tiles with other bytes are unchanged: those with the same pixels, pixels:N (channels
 *   may differ by N) or features; kept in the layer document until it is set to bytes
 * @property {boolean} [anySize] tiles may have another number of pixels than those of the layer
 * @property {AbortSignal} [signal]
 * @property {(edition: {layer: string, time: string, timeFrom: TimeFrom, warnings: TilecouchError[]}) => void}
 *   [onBegin] warnings: this edition or an earlier one is dated in the future
 * @property {(first: {layer: string, time: string, where: import('./georeference.js').Where,
 *   warnings: TilecouchError[]}) => void} [onFirstTiles] where the first tiles lie, and what looks wrong with them
 * @property {(summary: import('../store/writer.js').WriteSummary, tuner: import('../store/tuner.js').Tuner) => void}
 *   [onProgress]
 * @property {(failure: {id: string, code: string, reason: string}) => void} [onFailure]
 *
 * @typedef {'option' | 'source' | 'clock'} TimeFrom where the time comes from: the caller, the source, or neither
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {import('./sources/index.js').Source} source
 * @param {LoadOptions} options
 */
export async function load (store, source, {
  layer, time, title, ttl, complete = false, bbox, area: areaOption = bbox && parseArea({ bbox }), zooms, fields, of,
  same, anySize, onBegin, onFirstTiles, ...writing
}) {
  checkLayer(layer)
  const sameSetting = same === undefined ? {} : { same: checkSame(same) }
  checkComplete(source, complete)
  if (!source.diff && await isEmpty(source)) throw emptySource(source)
  await refuseOutdated(store)
  const startTime = now()
  const editionTime = time ? startOf(time) : source.time ?? startTime
  const timeFrom = timeOrigin(time, source)
  const optionFields = /** @type {Record<string, any>} */ ({ ...fields, ...(ttl !== undefined && { ttl }) })
  const layerBefore = await store.couch.get(layerId(layer))
  const describeLayer = stored => withFields(stored, source.fields, optionFields)
  const layerDoc = await store.defineLayer(layer, describeLayer)
  const { signal, onProgress } = writing
  const layers = new StatementsByLayer(store.couch, signal)
  const statements = layers.of(layer)
  const [editions] = await Promise.all([editionDocuments(store.couch, layer), statements.open()])
  const editionBefore = editions.find(edition => edition.time === editionTime)
  const run = newRun([statements.lastRun, ...editions.map(edition => edition.run ?? '')].sort().at(-1))
  // an earlier run may have been killed after its manifest, before it settled the tiles of others
  const isPublished = statements.manifests.some(manifest => manifest.time === editionTime)
  const isInterrupted = editionBefore && !editionBefore.finished && isPublished
  const resumedFrom = isInterrupted ? editionBefore.from ?? {} : undefined
  const manifest = new ManifestWriter(store.couch, { layer, time: editionTime, run, signal })
  const hasOthers = editions.some(edition => edition.time !== editionTime && edition.finished)
  const grid = gridOf(layerDoc)
  const area = areaOption?.in(grid)
  const georeference = new Georeference(source, { grid, layerBounds: hasOthers ? layerBefore?.bounds : undefined })
  const { same: sameAs } = { ...layerDoc, ...sameSetting }
  const isKnown = tile => comparison?.trusted && comparison.isKnown(tile)
  const sameTiles = sameAs
    ? await SameTiles.open(store, { layer, same: sameAs, time: editionTime, signal, isKnown })
    : undefined
  const describedLayers = optionFields.vector_layers ?? source.fields?.vector_layers
  const isDescribed = describedLayers?.length && layerDoc.vector_layers?.length
  const sourceLayers = isDescribed ? undefined : new SourceLayers()
  const reader = new SourceReader(store, source, {
    same: sameTiles,
    sourceLayers,
    layer: layerDoc,
    time: editionTime,
    complete,
    again: Boolean(editionBefore),
    anySize,
    signal,
    georeference,
    onKnown: tile => manifest.add(tile)
  })
  const isSelected = selectorOf(area, zooms)
  let comparison = /** @type {any} */ (undefined)
  try {
    await reader.begin()
    if (same !== undefined) await store.defineLayer(layer, sameSetting)
    const from = resumedFrom ?? await feedPositionOf(store.couch, signal)
    await store.putEdition(layer, editionTime, {
      ...(title && { title }), source: source.name, complete, started: startTime, finished: undefined, run, of, from
    })
    // another load that stored nothing may have removed the layer before it saw this edition (undo.js)
    if (!await store.couch.get(layerId(layer))) await store.defineLayer(layer, describeLayer)
    const comparing = { layer, time: editionTime, statements, editions, from: resumedFrom, signal }
    comparison = await Comparison.begin(store, comparing)
    const warnings = await futureWarnings(store.couch, { layer, time: editionTime, editions, signal })
    onBegin?.({ layer, time: editionTime, timeFrom, warnings })
    const reportWhere = where =>
      onFirstTiles?.({ layer, time: editionTime, where, warnings: georeference.warnings({ layer, time: editionTime }) })
    const reportFirst = onFirstTiles && firstTilesReporter(georeference, reportWhere)
    const options = {
      ...writing,
      onProgress (summary, tuner) {
        reportFirst?.(summary)
        onProgress?.(summary, tuner)
      },
      stored: startTime,
      run,
      isFirst: !editions.length,
      statements: layers,
      ready: () => manifest.ready(),
      ...(comparison.trusted && { isKnown: tile => comparison.isKnown(tile) }),
      onWritten: (id, rev) => comparison.noteRevision(id, rev),
      onStored (tile, outcome) {
        manifest.add(tile)
        comparison.note(tile, outcome)
      }
    }
    const summary = reader.count(await store.write(reader.versions(), options))
    if (!summary.tiles && !source.diff) throw emptySource(source)
    // a source whose tiles all fail is broken, not empty
    const removes = complete && summary.failed < summary.tiles
    if (removes) {
      const { absent } = reader
      await remove(store, source, { layer, time: editionTime, isSelected, absent: await absent, summary, options })
    }
    const manifests = statements.manifests.filter(comparison.isWhole)
    const published = await manifest.publish({ complete: removes && !summary.failed, area, zooms, known: manifests })
    const withdrawTiles = tiles => withdraw(statements, { time: editionTime, run: published.run, tiles })
    const settling = { ...options, isKnown: undefined, mustSettle: true, onStored: () => {} }
    const { baseline, taken } = await comparison.end({
      run: published.run,
      documents: summary.documents,
      isSelected,
      withdraw: withdrawTiles,
      again: async (only, tiles) => {
        if (!sameTiles) return store.write(reader.versions(only), settling)
        const laterRun = await withdrawTiles(tiles)
        return store.write(reader.versions(only), { ...settling, run: laterRun, onStored: undefined })
      }
    })
    for (const tile of taken) refuse(tile, { time: editionTime, summary, onFailure: writing.onFailure })
    const { types, failures, documents, ...counts } = summary
    const widenLayer = stored => {
      const widened = widen(stored, georeference.extent, summary)
      return sourceLayers?.complete(widened) ?? widened
    }
    await store.defineLayer(layer, widenLayer, { isThere: true })
    const editionFields = editionOf(editionBefore, counts, startTime, { ...published, baseline })
    const edition = await store.putEdition(layer, editionTime, editionFields)
    if (!await store.couch.get(layerId(layer))) throw new TilecouchError('LAYER_GONE', { layer })
    if (!layerBefore && summary.failed === summary.tiles) await dropEmptyLayer(store, layer, run)
    const { ignored } = source
    const where = georeference.describe(types)
    warnings.push(...georeference.warnings({ layer, time: editionTime, types }))
    return {
      ...summary,
      ...(ignored && { ignored }),
      ...(sameTiles && { reencoded: sameTiles.count }),
      ...(where && { where }),
      ...(warnings.length && { warnings }),
      layer,
      time: editionTime,
      timeFrom,
      edition
    }
  } catch (error) {
    if (error.summary) reader.count(error.summary)
    // the first error is the one to report
    if (!layerBefore) await dropEmptyLayer(store, layer, run).catch(() => {})
    throw error
  } finally {
    comparison?.close()
    await reader.close()
  }
}

/** @returns {TimeFrom} */
function timeOrigin (time, source) {
  if (time) return 'option'
  return source.time ? 'source' : 'clock'
}

/**
 * A layer document with the fields of a source and of the options. Fields of the source fill gaps; those of the options
 * take precedence. The grid of the source replaces that of the layer: defineLayer refuses that for a layer with tiles.
 */
function withFields (stored, sourceFields = {}, optionFields) {
  const { grid } = sourceFields
  return { ...sourceFields, ...stored, ...(grid !== undefined && { grid }), ...optionFields }
}

/** Reports once where the first written tiles lie. @returns {(summary: any) => void} */
function firstTilesReporter (georeference, report) {
  let isReported = false
  return ({ tiles, failed, types }) => {
    const where = !isReported && tiles > failed ? georeference.describe(types) : undefined
    if (!where) return
    isReported = true
    report(where)
  }
}

/**
 * Withdraws the statements of this load about tiles. They named bytes of versions that were removed meanwhile, and the
 * source has other bytes that count as the same.
 * @param {import('../../core/store/statements.js').LayerStatements} statements
 * @param {{time: string, run: string, tiles: string[]}} statement
 * @returns {Promise<string>} a later run, for new statements about the tiles
 */
async function withdraw (statements, { time, run, tiles }) {
  const { couch, layer } = statements
  for (const chunk of chunks(tiles, WITHDRAWN)) {
    const removalRun = newRun(statements.lastRun)
    const withdrawal = { runs: [run], since: time, until: time, tiles: chunk, finished: now() }
    await couch.update(removedId(layer, removalRun), () => ({ type: 'removed', layer, run: removalRun, ...withdrawal }))
    await statements.refresh()
  }
  return newRun(statements.lastRun)
}

/** Counts a tile as failed, since another load at the same time has another image for it. */
function refuse ({ id, outcome, isGone }, { time, summary, onFailure }) {
  const { code, message: reason } = new TilecouchError('VERSION_TAKEN', { id, time })
  summary[counters[outcome]]--
  if (isGone && outcome !== 'unchanged') summary.gone--
  summary.failed++
  if (summary.failures.length < writeDefaults.maxFailures) summary.failures.push({ id, code, reason })
  onFailure?.({ id, code, reason })
}

/** An edition that was loaded again without any change keeps its counts and times. */
function editionOf (before, counts, startTime, published) {
  const isRepeated = before?.tiles !== undefined && !counts.created && !counts.advanced && !counts.backfilled
  const { started = startTime, finished = now() } = isRepeated ? before : {}
  return { ...(!isRepeated && counts), ...published, started, finished, from: undefined }
}

/** Refuses a store that an older tilecouch has published: it would refuse the manifest, after all tiles. */
async function refuseOutdated ({ couch, url }) {
  const design = await couch.get('_design/tiles')
  const validation = String(design?.validate_doc_update)
  if (validation.includes('edition:LAYER@TIME') && !validation.includes('manifest')) {
    throw new TilecouchError('STORE_OUTDATED', { url, what: 'manifests of editions' })
  }
}

/** The error for a source without tiles. @param {import('./sources/index.js').Source} source */
export function emptySource (source) {
  const { why, advice } = whyEmpty(source) ?? {}
  const error = new TilecouchError('SOURCE_EMPTY', { value: source.name, ...(why && { why }) })
  return advice ? Object.assign(error, { advice }) : error
}

/** Refuses a diff as a complete source. @param {{name: string, diff?: boolean}} source @param {boolean} complete */
export function checkComplete ({ name, diff }, complete) {
  if (!complete || !diff) return
  const why = 'it is a diff: what it lacks has not changed'
  throw new TilecouchError('BAD_OPTION', { option: '--complete', value: name, why })
}

/** Whether a source has no selected tiles. @param {import('./sources/index.js').Source} source */
export async function isEmpty (source) {
  if (source.total) return false
  for await (const _ of source.tiles()) return false
  return true
}

/** Writes a gone version for each tile of the layer that a complete source lacks. */
async function remove (store, source, { layer, time, isSelected, absent, summary, options }) {
  const versions = async function * () {
    const heads = store.heads(layer, { signal: options.signal })
    const missing = missingTiles(heads, source, { layer, isSelected, absent })
    for await (const tile of missing) yield { layer, time, ...tile, gone: true }
  }
  const removed = await store.write(versions(), options)
  for (const field of ['advanced', 'backfilled', 'failed', 'gone', 'documents']) summary[field] += removed[field]
  summary.tiles += removed.tiles - removed.unchanged // tiles that were gone before do not count
  summary.failures.push(...removed.failures)
}
