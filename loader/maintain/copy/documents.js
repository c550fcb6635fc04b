// Copies the documents of a layer, its editions, manifests, removals and styles. The copy keeps the terms of use.
import { isDeepStrictEqual } from 'node:util'
import {
  MAX_ZOOM, blockId, checkNewLayer, checkSound, editionId, forbiddingHost, gridOf, isSameGrid, layerId, manifestId, now,
  removedId, styleId
} from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { batchesOf } from '../../../core/lists.js'
import { LayerStatements, isPart } from '../../../core/store/statements.js'
import { union } from '../../../core/store/extent.js'
import { blockDocument } from '../../load/manifest.js'
import { revisionsFrom } from '../remove/index.js'
import { pruneMarks } from '../prune/mark.js'
import { fieldsOf } from '../../store/revisions.js'

const BLOCKS = 50 // blocks per request

/**
 * Makes the layer document of the copy.
 * @param {Record<string, any>} sourceLayer the document of the copied layer
 * @param {Record<string, any> | undefined} targetLayer the document of the target, if it exists
 * @param {object} options
 * @param {string} options.to
 * @param {string} [options.time] of a copy that is not updated
 * @param {import('../../../core/area.js').Area} [options.area]
 * @param {import('../../../core/grid.js').Zooms} [options.zooms]
 * @param {string} [options.renaming] name of the layer that is moved
 * @param {boolean} [options.permission]
 * @param {boolean} [options.isNew] the target has no tiles
 */
export function layerOf (sourceLayer, targetLayer, { to, time, area, zooms, renaming, permission, isNew }) {
  const fields = fieldsOf(sourceLayer)
  const identity = { type: 'layer', layer: to }
  if (targetLayer && !isSameGrid(fields, targetLayer)) {
    const [grid, otherGrid] = [fields, targetLayer].map(layer => gridOf(layer).id)
    throw new TilecouchError('OTHER_GRID', { what: sourceLayer.layer, grid, other: to, otherGrid })
  }
  if (renaming) return { ...fields, ...identity, renaming }
  const host = permission ? undefined : forbiddingHost(fields)
  if (targetLayer) {
    if (host && forbiddingHost(targetLayer) !== host) {
      throw new TilecouchError('EXPORT_FORBIDDEN', { layer: sourceLayer.layer, host })
    }
    const { offline, format } = fields
    // without tiles and an upstream, the target limits nothing: what it does not state is that of the source
    const reachingTarget = isNew && !targetLayer.upstream ? { ...fields, ...targetLayer } : targetLayer
    return {
      ...targetLayer,
      ...reachOf(fields, reachingTarget),
      ...pruneMarks(fields, targetLayer),
      ...(offline === false && { offline }),
      ...(!targetLayer.format && format && { format })
    }
  }
  const { renaming: _, ttl, upstream, ...otherFields } = fields
  return {
    ...otherFields,
    ...(time === undefined && { ttl, upstream }),
    ...(host && { upstream }), // kept, because the host sets the terms of use
    ...partOf(fields, area, zooms),
    ...identity
  }
}

/** The zooms and bounds of two layers together. A layer without zooms or without bounds has no limits. */
function reachOf (a, b) {
  const reach = {
    minzoom: Math.min(a.minzoom ?? 0, b.minzoom ?? 0),
    maxzoom: Math.max(a.maxzoom ?? MAX_ZOOM, b.maxzoom ?? MAX_ZOOM),
    bounds: a.bounds && b.bounds ? union(a.bounds, b.bounds) : undefined
  }
  const isStated = ([field, value]) => value !== null && (field in a || field in b)
  return Object.fromEntries(Object.entries(reach).filter(isStated))
}

/** The zooms and bounds of the copied part. */
function partOf (/** @type {Record<string, any>} */ { bounds, minzoom = 0, maxzoom = MAX_ZOOM }, area, zooms) {
  const commonZooms = zooms && { min: Math.max(minzoom, zooms.min), max: Math.min(maxzoom, zooms.max) }
  const { min, max } = commonZooms?.min > commonZooms?.max ? zooms : commonZooms ?? {}
  return { ...(area && { bounds: intersection(bounds, area.bbox) }), ...(zooms && { minzoom: min, maxzoom: max }) }
}

/** The intersection of two boxes; the second if it is empty. */
function intersection (a, b) {
  if (!a) return b
  const [west, south] = [Math.max(a[0], b[0]), Math.max(a[1], b[1])]
  const [east, north] = [Math.min(a[2], b[2]), Math.min(a[3], b[3])]
  return south > north ? b : [west, south, east, north]
}

/** @param {(storedLayer: Record<string, any> | undefined) => Record<string, any>} make */
export const writeLayer = (couch, to, make) => couch.update(layerId(to), stored => {
  if (!stored) checkNewLayer(to)
  const storedLayer = stored && fieldsOf(checkSound(stored))
  const doc = JSON.parse(JSON.stringify(make(storedLayer))) // without undefined fields
  return storedLayer && isDeepStrictEqual(doc, storedLayer) ? undefined : doc
})

/**
 * Copies editions. Existing ones stay.
 * @param {import('../../store/index.js').Store} source @param {import('../../store/index.js').Store} target
 * @param {{from: string, to: string, time?: string, isOurs?: boolean}} how isOurs: existing ones are earlier copies
 * @returns {Promise<number>} number of written editions
 */
export async function copyEditions (source, target, { from, to, time, isOurs }) {
  let count = 0
  for (const edition of await source.editions(from)) {
    if (time !== undefined && edition.time > time) continue
    await target.couch.update(editionId(to, edition.time), stored => {
      const doc = { type: 'edition', ...renamed(fieldsOf(edition), from, to) }
      if (stored && (!isOurs || isDeepStrictEqual(fieldsOf(stored), doc))) return undefined
      count++
      return doc
    })
  }
  return count
}

/**
 * Fields of a record under another layer name, without positions in the change feed of this store.
 * @param {any} fields @param {string} from @param {string} to
 */
export function renamed ({ baseline, from: _, ...fields }, from, to) {
  const { style } = fields
  const addressOfLayer = new RegExp(`^couch://${from}(?=[@/]|$)`)
  const rename = value => typeof value === 'string' ? value.replace(addressOfLayer, `couch://${to}`) : value
  const sourceOf = value => ({
    ...value,
    ...(value?.url !== undefined && { url: rename(value.url) }),
    ...(Array.isArray(value?.tiles) && { tiles: value.tiles.map(rename) })
  })
  const sources = Object.entries(style?.sources ?? {}).map(([name, value]) => [name, sourceOf(value)])
  return { ...fields, layer: to, ...(style && { style: { ...style, sources: Object.fromEntries(sources) } }) }
}

/**
 * Copies styles with their sprites and glyphs, and replaces the name of the layer in them. If the target has a style
 * for the same time, that one stays.
 * @param {import('../../store/index.js').Store} source @param {import('../../store/index.js').Store} target
 * @param {{from: string, to: string, time?: string}} how
 * @returns {Promise<number>} number of written styles
 */
export async function copyStyles (source, target, { from, to, time }) {
  let count = 0
  for (const { _id: id, time: styleTime } of await source.styles(from)) {
    if (time !== undefined && styleTime > time) continue
    const [[{ doc }], [targetRow]] = await Promise.all([
      source.couch.docs([id], { attachments: true }), target.couch.docs([styleId(to, styleTime)])
    ])
    if (!doc || targetRow.doc) continue
    const attachments = Object.fromEntries(Object.entries(doc._attachments ?? {}).map(
      ([name, { content_type: type, data }]) => [name, { content_type: type, data }]))
    const copy = { ...renamed(fieldsOf(doc), from, to), _id: styleId(to, styleTime), _attachments: attachments }
    if ((await target.couch.writeAll([copy])).get(copy._id)) count++
  }
  return count
}

/**
 * Copies manifests and removals. Call it before versions are copied.
 * @param {import('../../store/index.js').Store} source @param {import('../../store/index.js').Store} target
 * @param {{from: string, to: string, time?: string, isMove?: boolean}} how
 * @returns {Promise<Set<string>>} the runs of all manifests and removals of the source
 */
export async function copyManifests (source, target, { from, to, time, isMove = false }) {
  const sourceStatements = new LayerStatements(source.couch, from)
  const targetStatements = new LayerStatements(target.couch, to)
  await Promise.all([sourceStatements.open(), targetStatements.open()])
  const writeNew = (id, doc) => target.couch.update(id, stored => stored ? undefined : JSON.parse(JSON.stringify(doc)))
  const allRuns = new Set([...sourceStatements.manifests, ...sourceStatements.removals].map(({ run }) => run))
  if (isMove) {
    await moveStatements(sourceStatements, target.couch, to)
    return allRuns
  }
  // removals concern only the runs of the source: the target may have statements of its own
  const runs = [...sourceStatements.runs]
  for (const { run, since, until, area, zooms, tiles } of sourceStatements.removals) {
    if (!runs.some(manifestRun => manifestRun < run)) continue
    const scope = { since, until, area, zooms, tiles }
    await writeNew(removedId(to, run), { type: 'removed', layer: to, run, ...scope, runs, finished: now() })
  }
  for (const manifest of sourceStatements.manifests) {
    const { time: manifestTime, run, parts = [] } = manifest
    if ((time !== undefined && manifestTime > time) || targetStatements.runs.has(run)) continue
    const blocks = Object.entries(await sourceStatements.blocksOf(manifest))
      .flatMap(([place, names]) => names.map(name => ({ place, name })))
    await copyBlocks(source.couch, target.couch, { from, to }, blocks)
    // the document without a part comes last: the manifest counts from then on
    for (const part of [...parts.keys(), undefined]) {
      const [{ doc }] = await source.couch.docs([manifestId(from, manifestTime, run, part)])
      if (doc) await writeNew(manifestId(to, manifestTime, run, part), { ...fieldsOf(doc), layer: to })
    }
  }
  return allRuns
}

/**
 * Copies removals and manifests unchanged, because all their statements move, too. It also copies blocks whose manifest
 * a load has not written yet.
 */
async function moveStatements (source, couch, to) {
  const { layer: from } = source
  await copyRecords(source, couch, to, `removed:${from}:`)
  await copyBlocks(source.couch, couch, { from, to }, blocksIn(source.couch, from))
  // the manifest after its parts: it counts from then on
  await copyRecords(source, couch, to, `manifest:${from}@`, isPart)
  await copyRecords(source, couch, to, `manifest:${from}@`, id => !isPart(id))
}

/** Copies the records whose ids begin with a prefix, and whose layer is part of that prefix. */
async function copyRecords ({ couch: source, layer: from }, couch, to, prefix, isSelected = id => Boolean(id)) {
  for await (const revisions of revisionsFrom(source, prefix, undefined)) {
    for (const { id } of revisions.filter(revision => isSelected(revision.id))) {
      const record = await source.get(id)
      const copy = record && { ...fieldsOf(record), layer: to }
      await couch.update(prefix.replace(`:${from}`, `:${to}`) + id.slice(prefix.length), stored =>
        copy && !(stored && isDeepStrictEqual(fieldsOf(stored), copy)) ? copy : undefined)
    }
  }
}

/** Every block of a layer. @returns {AsyncGenerator<{place: string, name: string}>} */
async function * blocksIn (couch, layer) {
  const prefix = `block:${layer}:`
  for await (const revisions of revisionsFrom(couch, prefix, undefined)) {
    for (const { id } of revisions) {
      const end = id.lastIndexOf(':')
      yield { place: id.slice(prefix.length, end), name: id.slice(end + 1) }
    }
  }
}

/** @param {AsyncIterable<{place: string, name: string}> | Iterable<{place: string, name: string}>} blocks */
async function copyBlocks (source, target, { from, to }, blocks) {
  for await (const batch of batchesOf(blocks, { most: BLOCKS, bytes: Infinity })) {
    const storedBlocks = await target.docs(batch.map(({ place, name }) => blockId(to, place, name)))
    const missing = batch.filter((_, index) => !storedBlocks[index].doc)
    if (!missing.length) continue
    const ids = missing.map(({ place, name }) => blockId(from, place, name))
    const rows = await source.docs(ids, { attachments: true })
    await target.writeAll(rows.flatMap(({ doc }, index) => {
      const { place, name } = missing[index]
      return doc ? [blockDocument(blockId(to, place, name), to, place, doc._attachments.digests.data)] : []
    }))
  }
}
