// One load of a source as an edition. It may be killed at any moment and run again: it skips stored tiles.
//
//   1. read the manifests of other editions, and the tiles that were written since
//   2. write the tiles; a version that is newer than all known ones takes the quick way (core/store/head-writer.js)
//   3. write the manifest, which counts from then on
//   4. settle the tiles that others have changed meanwhile. Of two loads at once, the one that ends later sees the
//      manifests of both
import { chunks } from '../../core/lists.js'
import { gridOf, layerId, now, parseArea, removedId, selectorOf, startOf } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { newRun } from '../../core/runs.js'
import { widen } from '../../core/store/extent.js'
import { StatementsByLayer } from '../../core/store/statements.js'
import { Comparison } from './comparison.js'
import { feedPositionOf, futureWarnings } from './baseline.js'
import { Georeference } from './georeference.js'
import { ManifestWriter } from './manifest.js'
import { missingTiles } from './missing.js'
import { SameTiles, checkSame } from './same.js'
import { emptySource } from './source-checks.js'
import { SourceLayers } from './source-layers.js'
import { SourceReader } from './source-reader.js'
import { dropEmptyLayer } from './undo.js'
import { editionDocuments } from '../store/layers.js'
import { counters, recordFailure } from '../store/writer.js'

const WITHDRAWN = 5000 // tiles in one document

/** @typedef {import('./index.js').LoadOptions} LoadOptions */

export class EditionLoad {
  #run = '' // the name of this run
  #layerBefore = /** @type {any} */ (undefined) // the layer document before the load
  #editionBefore = /** @type {any} */ (undefined)
  #editions = /** @type {any[]} */ ([])
  #resumedFrom = /** @type {any} */ (undefined) // where an earlier run began that was killed after its manifest
  #statements = /** @type {import('../../core/store/statements.js').LayerStatements} */ (/** @type {unknown} */ (null))
  #area = /** @type {import('../../core/area.js').Area | undefined} */ (undefined)
  #isSelected = /** @type {ReturnType<typeof selectorOf>} */ (() => true) // whether the load covers a tile
  #manifest = /** @type {ManifestWriter} */ (/** @type {unknown} */ (null))
  #georeference = /** @type {Georeference} */ (/** @type {unknown} */ (null))
  #sameTiles = /** @type {SameTiles | undefined} */ (undefined)
  #sourceLayers = /** @type {SourceLayers | undefined} */ (undefined)
  #reader = /** @type {SourceReader} */ (/** @type {unknown} */ (null))
  #comparison = /** @type {Comparison | undefined} */ (undefined)
  #warnings = /** @type {TilecouchError[]} */ ([])

  /**
   * @param {import('../store/index.js').Store} store
   * @param {import('./sources/index.js').Source} source
   * @param {LoadOptions} options
   */
  constructor (store, source, {
    layer, time, title, ttl, complete = false, bbox, area = bbox && parseArea({ bbox }), zooms, fields, of, same,
    anySize, onBegin, onFirstTiles, ...writing
  }) {
    this.store = store
    this.source = source
    this.layer = layer
    this.complete = complete
    this.areaOption = area
    this.zooms = zooms
    this.anySize = anySize
    this.onBegin = onBegin
    this.onFirstTiles = onFirstTiles
    this.writing = writing
    this.statementsByLayer = new StatementsByLayer(store.couch, writing.signal)
    this.sameSetting = same === undefined ? {} : { same: checkSame(same) }
    this.optionFields = /** @type {Record<string, any>} */ ({ ...fields, ...(ttl !== undefined && { ttl }) })
    this.startTime = now()
    this.time = time ? startOf(time) : source.time ?? this.startTime
    this.timeFrom = timeOrigin(time, source)
    this.editionFields = { ...(title && { title }), source: source.name, complete, of }
  }

  async run () {
    await this.#open()
    try {
      await this.#begin()
      const options = this.#writeOptions()
      const summary = this.#reader.count(await this.store.write(this.#reader.versions(), options))
      if (!summary.tiles && !this.source.diff) throw emptySource(this.source)
      const published = await this.#publish(summary, options)
      const baseline = await this.#settle(summary, options, published)
      return await this.#finish(summary, { ...published, baseline })
    } catch (error) {
      if (error.summary) this.#reader.count(error.summary)
      // the first error is the one to report
      if (!this.#layerBefore) await dropEmptyLayer(this.store, this.layer, this.#run).catch(() => {})
      throw error
    } finally {
      this.#comparison?.close()
      await this.#reader.close()
    }
  }

  /** Reads what the store has of the layer, and prepares the parts of the load. */
  async #open () {
    const { store, source, layer, time, complete, anySize, writing: { signal } } = this
    this.#layerBefore = await store.couch.get(layerId(layer))
    const layerDoc = await this.#describeLayer()
    this.#statements = this.statementsByLayer.ofLayer(layer)
    const [editions] = await Promise.all([editionDocuments(store.couch, layer), this.#statements.open()])
    this.#editions = editions
    this.#editionBefore = editions.find(edition => edition.time === time)
    this.#run = newRun([this.#statements.lastRun, ...editions.map(edition => edition.run ?? '')].sort().at(-1))
    // an earlier run may have been killed after its manifest, before it settled the tiles of others
    const isPublished = this.#statements.manifests.some(manifest => manifest.time === time)
    const isInterrupted = this.#editionBefore && !this.#editionBefore.finished && isPublished
    this.#resumedFrom = isInterrupted ? this.#editionBefore.from ?? {} : undefined
    this.#manifest = new ManifestWriter(store.couch, { layer, time, run: this.#run, signal })
    const hasOthers = editions.some(edition => edition.time !== time && edition.finished)
    const grid = gridOf(layerDoc)
    this.#area = this.areaOption?.in(grid)
    this.#isSelected = selectorOf(this.#area, this.zooms)
    const layerBounds = hasOthers ? this.#layerBefore?.bounds : undefined
    this.#georeference = new Georeference(source, { grid, layerBounds })
    this.#sameTiles = await this.#openSameTiles(layerDoc)
    const describedLayers = this.optionFields.vector_layers ?? source.fields?.vector_layers
    const isDescribed = describedLayers?.length && layerDoc.vector_layers?.length
    this.#sourceLayers = isDescribed ? undefined : new SourceLayers()
    this.#reader = new SourceReader(store, source, {
      same: this.#sameTiles,
      sourceLayers: this.#sourceLayers,
      layer: layerDoc,
      time,
      complete,
      again: Boolean(this.#editionBefore),
      anySize,
      signal,
      georeference: this.#georeference,
      onKnown: tile => this.#manifest.add(tile)
    })
  }

  #describeLayer () {
    const { source, optionFields } = this
    return this.store.defineLayer(this.layer, stored => withFields(stored, source.fields, optionFields))
  }

  async #openSameTiles (layerDoc) {
    const { same } = { ...layerDoc, ...this.sameSetting }
    const { store, layer, time, writing: { signal } } = this
    const isKnown = tile => this.#comparison?.trusted && this.#comparison.isKnown(tile)
    return same ? SameTiles.open(store, { layer, same, time, signal, isKnown }) : undefined
  }

  /** Writes the edition document, and prepares the comparison with what the store has. */
  async #begin () {
    const { store, layer, time, writing: { signal } } = this
    const editions = this.#editions
    await this.#reader.begin()
    if (this.sameSetting.same !== undefined) await store.defineLayer(layer, this.sameSetting)
    const from = this.#resumedFrom ?? await feedPositionOf(store.couch, signal)
    await store.putEdition(layer, time, {
      ...this.editionFields, started: this.startTime, finished: undefined, run: this.#run, from
    })
    // another load that stored nothing may have removed the layer before it saw this edition (undo.js)
    if (!await store.couch.get(layerId(layer))) await this.#describeLayer()
    const comparing = { layer, time, statements: this.#statements, editions, from: this.#resumedFrom, signal }
    this.#comparison = await Comparison.begin(store, comparing)
    this.#warnings = await futureWarnings(store.couch, { layer, time, editions, signal })
    this.onBegin?.({ layer, time, timeFrom: this.timeFrom, warnings: this.#warnings })
  }

  #writeOptions () {
    const { layer, time, writing, onFirstTiles } = this
    const comparison = /** @type {Comparison} */ (this.#comparison)
    const georeference = this.#georeference
    const reportWhere = where =>
      onFirstTiles?.({ layer, time, where, warnings: georeference.warnings({ layer, time }) })
    const reportFirst = onFirstTiles && firstTilesReporter(georeference, reportWhere)
    return {
      ...writing,
      onProgress: (summary, tuner) => {
        reportFirst?.(summary)
        writing.onProgress?.(summary, tuner)
      },
      stored: this.startTime,
      run: this.#run,
      isFirst: !this.#editions.length,
      statements: this.statementsByLayer,
      ready: () => this.#manifest.ready(),
      ...(comparison.trusted && { isKnown: tile => comparison.isKnown(tile) }),
      onWritten: (id, rev) => comparison.noteRevision(id, rev),
      onStored: (tile, outcome) => {
        this.#manifest.add(tile)
        comparison.note(tile, outcome)
      }
    }
  }

  /** Writes gone versions for a complete edition, and then the manifest. */
  async #publish (summary, options) {
    const { store, source, layer, time, zooms } = this
    const comparison = /** @type {Comparison} */ (this.#comparison)
    // a source whose tiles all fail is broken, not empty
    const removes = this.complete && summary.failed < summary.tiles
    if (removes) {
      const { absent } = this.#reader
      const isSelected = this.#isSelected
      await writeGone(store, source, { layer, time, isSelected, absent: await absent, summary, options })
    }
    const manifests = this.#statements.manifests.filter(comparison.isWhole)
    const complete = removes && !summary.failed
    return this.#manifest.publish({ complete, area: this.#area, zooms, known: manifests })
  }

  /** Settles what others wrote during the load. Returns the baseline of the next load, if there can be one. */
  async #settle (summary, options, { run }) {
    const { store, time } = this
    const comparison = /** @type {Comparison} */ (this.#comparison)
    const withdrawTiles = tiles => withdraw(this.#statements, { time, run, tiles })
    const { onFailure } = this.writing
    // these tiles were counted when they were written first
    const onFailedAgain = failure =>
      countFailed({ outcome: comparison.outcomeOf(failure.id) }, failure, { summary, onFailure })
    const settling = {
      ...options, isKnown: undefined, mustSettle: true, onStored: () => {}, onFailure: onFailedAgain
    }
    const { baseline, taken } = await comparison.end({
      run,
      documents: summary.documents,
      isSelected: this.#isSelected,
      withdraw: withdrawTiles,
      again: async (only, tiles) => {
        if (!this.#sameTiles) return store.write(this.#reader.versions(only), settling)
        const laterRun = await withdrawTiles(tiles)
        return store.write(this.#reader.versions(only), { ...settling, run: laterRun, onStored: undefined })
      }
    })
    for (const tile of taken) refuse(tile, { time, summary, onFailure })
    return baseline
  }

  /** Completes the documents of the layer and of the edition, and returns the result of the load. */
  async #finish (summary, published) {
    const { store, source: { ignored }, layer, time } = this
    const { types, failures, documents, ...counts } = summary
    const widenLayer = stored => {
      const widened = widen(stored, this.#georeference.extent, summary)
      return this.#sourceLayers?.complete(widened) ?? widened
    }
    await store.defineLayer(layer, widenLayer, { isThere: true })
    const fields = editionOf(this.#editionBefore, counts, this.startTime, published)
    const edition = await store.putEdition(layer, time, fields)
    if (!await store.couch.get(layerId(layer))) throw new TilecouchError('LAYER_GONE', { layer })
    if (!this.#layerBefore && summary.failed === summary.tiles) await dropEmptyLayer(store, layer, this.#run)
    const where = this.#georeference.describe(types)
    const warnings = [...this.#warnings, ...this.#georeference.warnings({ layer, time, types })]
    return {
      ...summary,
      ...(ignored && { ignored }),
      ...(this.#sameTiles && { reencoded: this.#sameTiles.count }),
      ...(where && { where }),
      ...(warnings.length && { warnings }),
      layer,
      time,
      timeFrom: this.timeFrom,
      edition
    }
  }
}

/** @returns {import('./index.js').TimeFrom} */
function timeOrigin (time, source) {
  if (time) return 'option'
  return source.time ? 'source' : 'clock'
}

/**
 * A layer document with the fields of a source and of the options. Fields of the source fill gaps; those of the options
 * take precedence. The grid of the source replaces that of the layer: defineLayer refuses that for a layer with tiles.
 */
export function withFields (stored, sourceFields = {}, optionFields) {
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
function refuse (tile, { time, summary, onFailure }) {
  const { id } = tile
  const { code, message: reason } = new TilecouchError('VERSION_TAKEN', { id, time })
  countFailed(tile, { id, code, reason }, { summary, onFailure })
}

/** Counts a tile as failed that was counted by its outcome before. */
function countFailed ({ outcome, isGone = false }, failure, { summary, onFailure }) {
  summary[counters[outcome]]--
  if (isGone && outcome !== 'unchanged') summary.gone--
  recordFailure(summary, failure, onFailure)
}

/**
 * An edition that was loaded again without any change keeps its counts and times, but tiles that could be read this
 * time do not count as failed any more.
 */
function editionOf (before, counts, startTime, published) {
  const isRepeated = before?.tiles !== undefined && !counts.created && !counts.advanced && !counts.backfilled
  const { started = startTime, finished = now() } = isRepeated ? before : {}
  const newCounts = isRepeated ? { failed: Math.min(before.failed ?? 0, counts.failed) } : counts
  return { ...newCounts, ...published, started, finished, from: undefined }
}

/** Writes a gone version for each tile of the layer that a complete source lacks. */
async function writeGone (store, source, { layer, time, isSelected, absent, summary, options }) {
  const versions = async function * () {
    const heads = store.heads(layer, { signal: options.signal })
    const missing = missingTiles(heads, source, { layer, isSelected, absent })
    for await (const tile of missing) yield { layer, time, ...tile, gone: true }
  }
  try {
    addRemoved(summary, await store.write(versions(), options))
  } catch (error) {
    if (!error.summary) throw error
    addRemoved(summary, error.summary)
    throw Object.assign(error, { summary })
  }
}

function addRemoved (summary, removed) {
  for (const field of ['advanced', 'backfilled', 'failed', 'gone', 'documents']) summary[field] += removed[field]
  summary.tiles += removed.tiles - removed.unchanged // tiles that were gone before do not count
  summary.failures.push(...removed.failures)
}
