// Loads a source as one edition of a layer. May be killed at any moment and run again: what is there is skipped.
//
//   1. what is known before is read: the manifests of other editions, and what was written since
//   2. the tiles are written; whatever is later than all that is known takes the quick way (core/store/head-writer.js)
//   3. the manifest is written: from now on it counts
//   4. what others have done meanwhile is looked at, and the tiles that are touched by it are settled. Of two loads at once
//      the one that looks later sees what both have said
import { checkLayer, now, parseArea, selectorOf, startOf } from '../core/index.js'
import { TilecouchError } from './errors.js'
import { newRun } from '../core/runs.js'
import { widen } from '../core/store/extent.js'
import { StatementsByLayer } from '../core/store/statements.js'
import { Comparison } from './load/comparison.js'
import { futureWarnings } from './load/future.js'
import { ManifestWriter } from './load/manifest.js'
import { missingTiles } from './load/missing.js'
import { feedPositionOf } from './load/baseline.js'
import { SourceReader } from './load/source-reader.js'
import { editionDocuments } from './store/layers.js'

/**
 * @typedef {object} LoadOptions
 * @property {string} layer
 * @property {string} [time] when the map looked like this; a partial time is the start of its period; unless given what the source says, else now
 * @property {string} [title] of the edition
 * @property {number} [ttl] seconds until a tile of the layer expires
 * @property {boolean} [complete] the source is the whole layer at that time: what it lacks is gone
 * @property {import('../core/grid.js').Bbox} [bbox] what the source was opened with, for `complete`
 * @property {import('../core/area.js').Area} [area] the same
 * @property {import('../core/grid.js').Zooms} [zooms] the same
 * @property {Record<string, any>} [fields] of the layer document
 * @property {string} [of] which state of the source it is, for whoever loads it again
 * @property {number} [batch]
 * @property {number} [concurrency]
 * @property {boolean} [anySize] tiles may have another number of pixels than those of the layer
 * @property {AbortSignal} [signal]
 * @property {(edition: {layer: string, time: string, warnings: TilecouchError[]}) => void} [onBegin] warnings: what is loaded, or was before, is dated in the future
 * @property {(summary: import('./store/writer.js').WriteSummary, tuner: import('./store/tuner.js').Tuner) => void} [onProgress]
 * @property {(failure: {id: string, code: string, reason: string}) => void} [onFailure]
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {import('./sources/index.js').Source} source
 * @param {LoadOptions} options
 */
export async function load (store, source, {
  layer, time, title, ttl, complete = false, bbox, area = bbox && parseArea({ bbox }), zooms, fields, of, anySize, onBegin, ...writing
}) {
  checkLayer(layer)
  if (complete && source.diff) throw new TilecouchError('BAD_OPTION', { option: '--complete', value: source.name, why: 'it is a diff: what it lacks has not changed' })
  if (!source.diff && await isEmpty(source)) throw new TilecouchError('SOURCE_EMPTY', { value: source.name })
  await refuseOutdated(store)
  const begun = now()
  const when = time ? startOf(time) : source.time ?? begun
  // what the source says of itself fills gaps; what the operator says counts
  const doc = await store.defineLayer(layer, stored => ({ ...source.fields, ...stored, ...fields, ...(ttl !== undefined && { ttl }) }))
  const layers = new StatementsByLayer(store.couch, writing.signal)
  const statements = layers.of(layer)
  const [editions] = await Promise.all([editionDocuments(store.couch, layer), statements.open()])
  const before = editions.find(edition => edition.time === when)
  const run = newRun([statements.lastRun, ...editions.map(edition => edition.run ?? '')].sort().at(-1))
  // a run that was killed has perhaps said everything, and not looked at what others did meanwhile
  const from = before && !before.finished && statements.manifests.some(manifest => manifest.time === when) ? before.from ?? {} : undefined
  const manifest = new ManifestWriter(store.couch, { layer, time: when, run, signal: writing.signal })
  const reader = new SourceReader(store, source, { layer: doc, time: when, complete, again: Boolean(before), anySize, signal: writing.signal, onKnown: tile => manifest.say(tile) })
  const selected = selectorOf(area, zooms)
  try {
    await reader.begin()
    await store.putEdition(layer, when, {
      ...(title && { title }), source: source.name, complete, started: begun, finished: undefined, run, of, from: from ?? await feedPositionOf(store.couch, writing.signal)
    })
    const comparison = await Comparison.begin(store, { layer, time: when, statements, editions, from, signal: writing.signal })
    const warnings = await futureWarnings(store.couch, { layer, time: when, editions, signal: writing.signal })
    onBegin?.({ layer, time: when, warnings })
    const options = {
      ...writing,
      stored: begun,
      run,
      statements: layers,
      ready: () => manifest.ready(),
      areKnown: tiles => comparison.areKnown(tiles),
      onStored (tile, outcome) {
        manifest.say(tile)
        comparison.note(tile, outcome)
      }
    }
    const summary = reader.count(await store.write(reader.versions(), options))
    if (!summary.tiles && !source.diff) throw new TilecouchError('SOURCE_EMPTY', { value: source.name })
    // a source of which nothing can be read is in trouble, not empty
    const isWhole = complete && summary.failed < summary.tiles
    if (isWhole) await remove(store, source, { layer, time: when, selected, absent: await reader.absent, summary, options })
    const { root, run: named, blocks } = await manifest.publish({ complete: isWhole && !summary.failed, area, zooms, known: statements.manifests.filter(comparison.isWhole) })
    const baseline = await comparison.end({ run: named, documents: summary.documents + manifest.writes, isSelected: selected, again: tiles => store.write(reader.versions(tiles), { ...options, areKnown: undefined, mustSettle: true, onStored: () => {} }) })
    await store.defineLayer(layer, stored => widen(stored, reader.extent, summary))
    const { types, failures, documents, ...counts } = summary
    const edition = await store.putEdition(layer, when, editionOf(before, counts, { root, run: named, blocks, baseline, begun }))
    return { ...summary, ...(source.ignored && { ignored: source.ignored }), ...(warnings.length && { warnings }), layer, time: when, edition }
  } catch (error) {
    if (error.summary) reader.count(error.summary)
    throw error
  } finally {
    await reader.close()
  }
}

/** A load that found everything there says nothing new: the edition keeps what the one says that put it there. */
function editionOf (before, counts, { begun, ...published }) {
  const isRepeated = before?.tiles !== undefined && !counts.created && !counts.advanced && !counts.backfilled
  const { started = begun, finished = now() } = isRepeated ? before : {}
  return { ...(!isRepeated && counts), ...published, started, finished, from: undefined }
}

/** A store that was published by an older tilecouch would refuse the manifest, after all tiles. */
async function refuseOutdated ({ couch, url }) {
  const design = await couch.get('_design/tiles')
  const validation = design?.validate_doc_update
  if (typeof validation === 'string' && validation.includes('edition:LAYER@TIME') && !validation.includes('manifest')) throw new TilecouchError('STORE_OUTDATED', { url, what: 'manifests of editions' })
}

/** Whether a source has no tiles at all of what was selected. @param {import('./sources/index.js').Source} source */
export async function isEmpty (source) {
  if (source.total) return false
  for await (const _ of source.tiles()) return false
  return true
}

/** Tiles of the layer that a complete source no longer has become gone. */
async function remove (store, source, { layer, time, selected, absent, summary, options }) {
  const versions = async function * () {
    for await (const tile of missingTiles(store, source, { layer, selected, absent, signal: options.signal })) yield { layer, time, ...tile, gone: true }
  }
  const removed = await store.write(versions(), options)
  for (const field of ['advanced', 'backfilled', 'failed', 'gone', 'documents']) summary[field] += removed[field]
  summary.tiles += removed.tiles - removed.unchanged // what was gone before is no news
  summary.failures.push(...removed.failures)
}
