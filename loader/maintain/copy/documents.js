// Copies the documents of a layer: its own, those of its editions, manifests, removals and styles. The copy keeps the
// terms of use.
import { isDeepStrictEqual } from 'node:util'
import {
  blockId, checkNewLayer, checkSound, editionId, forbiddingHost, gridOf, isSameGrid, layerId, manifestId, now,
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

const BLOCKS = 50 // read and written at once

/**
 * The document of the copy.
 * @param {Record<string, any>} here of the layer that is copied
 * @param {Record<string, any> | undefined} there the document of the target, if it exists
 * @param {object} options
 * @param {string} options.to
 * @param {string} [options.time] the copy is not updated
 * @param {import('../../../core/area.js').Area} [options.area]
 * @param {import('../../../core/grid.js').Zooms} [options.zooms]
 * @param {string} [options.renaming] the layer that is moved
 * @param {boolean} [options.permission]
 */
export function layerOf (here, there, { to, time, area, zooms, renaming, permission }) {
  const fields = fieldsOf(here)
  const identity = { type: 'layer', layer: to }
  if (there && !isSameGrid(fields, there)) {
    const [grid, otherGrid] = [fields, there].map(one => gridOf(one).id)
    throw new TilecouchError('OTHER_GRID', { what: here.layer, grid, other: to, otherGrid })
  }
  if (renaming) return { ...fields, ...identity, renaming }
  const host = permission ? undefined : forbiddingHost(fields)
  if (there) {
    if (host && forbiddingHost(there) !== host) {
      throw new TilecouchError('EXPORT_FORBIDDEN', { layer: here.layer, host })
    }
    const { offline, format } = fields
    return {
      ...there,
      ...reachOf(fields, there),
      ...pruneMarks(fields, there),
      ...(offline === false && { offline }),
      ...(!there.format && format && { format })
    }
  }
  const { renaming: _, ttl, upstream, ...rest } = fields
  return {
    ...rest,
    ...(time === undefined && { ttl, upstream }),
    ...(host && { upstream }), // its host decides on the terms
    ...partOf(fields, area, zooms),
    ...identity
  }
}

/** The zooms and bounds of two layers together. */
function reachOf (a, b) {
  const reach = {
    minzoom: Math.min(a.minzoom ?? 30, b.minzoom ?? 30),
    maxzoom: Math.max(a.maxzoom ?? 0, b.maxzoom ?? 0),
    bounds: a.bounds && b.bounds ? union(a.bounds, b.bounds) : undefined // without bounds it reaches everywhere
  }
  const isKnown = ([field, value]) => value !== null && (field in a || field in b)
  return Object.fromEntries(Object.entries(reach).filter(isKnown))
}

/** The zooms and bounds of the part that is copied. */
function partOf (/** @type {Record<string, any>} */ { bounds, minzoom = 0, maxzoom = 30 }, area, zooms) {
  const both = zooms && { min: Math.max(minzoom, zooms.min), max: Math.min(maxzoom, zooms.max) }
  const { min, max } = both?.min > both?.max ? zooms : both ?? {}
  return { ...(area && { bounds: intersection(bounds, area.bbox) }), ...(zooms && { minzoom: min, maxzoom: max }) }
}

/** The intersection of two boxes; the second if it is empty. */
function intersection (a, b) {
  if (!a) return b
  const [west, south] = [Math.max(a[0], b[0]), Math.max(a[1], b[1])]
  const [east, north] = [Math.min(a[2], b[2]), Math.min(a[3], b[3])]
  return south > north ? b : [west, south, east, north]
}

/** @param {(there: Record<string, any> | undefined) => Record<string, any>} make */
export const writeLayer = (couch, to, make) => couch.update(layerId(to), stored => {
  if (!stored) checkNewLayer(to)
  const storedLayer = stored && fieldsOf(checkSound(stored))
  const doc = JSON.parse(JSON.stringify(make(storedLayer))) // without what is undefined
  return storedLayer && isDeepStrictEqual(doc, storedLayer) ? undefined : doc
})

/**
 * Copies editions; one that exists stays.
 * @param {import('../../store/index.js').Store} source @param {import('../../store/index.js').Store} target
 * @param {{from: string, to: string, time?: string, isOurs?: boolean}} how isOurs: existing ones were copied before
 * @returns {Promise<number>} written
 */
export async function copyEditions (source, target, { from, to, time, isOurs }) {
  let written = 0
  for (const edition of await source.editions(from)) {
    if (time !== undefined && edition.time > time) continue
    await target.couch.update(editionId(to, edition.time), stored => {
      const doc = { type: 'edition', ...renamed(fieldsOf(edition), from, to) }
      if (stored && (!isOurs || isDeepStrictEqual(fieldsOf(stored), doc))) return undefined
      written++
      return doc
    })
  }
  return written
}

/**
 * Fields of a record under another name of its layer, without those of this store's change feed.
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
 * Copies styles with their sprites and glyphs; where the target has another one for the same time, that one stays. In
 * them, the name of the layer becomes its new one.
 * @param {import('../../store/index.js').Store} source @param {import('../../store/index.js').Store} target
 * @param {{from: string, to: string, time?: string}} how
 * @returns {Promise<number>} written
 */
export async function copyStyles (source, target, { from, to, time }) {
  let written = 0
  for (const { _id: id, time: at } of await source.styles(from)) {
    if (time !== undefined && at > time) continue
    const [[{ doc }], [there]] = await Promise.all([
      source.couch.docs([id], { attachments: true }), target.couch.docs([styleId(to, at)])
    ])
    if (!doc || there.doc) continue
    const attachments = Object.fromEntries(Object.entries(doc._attachments ?? {}).map(
      ([name, { content_type: type, data }]) => [name, { content_type: type, data }]))
    const copy = { ...renamed(fieldsOf(doc), from, to), _id: styleId(to, at), _attachments: attachments }
    if ((await target.couch.writeAll([copy])).get(copy._id)) written++
  }
  return written
}

/**
 * Copies manifests and removals, before the versions that follow from them.
 * @param {import('../../store/index.js').Store} source @param {import('../../store/index.js').Store} target
 * @param {{from: string, to: string, time?: string, isMove?: boolean}} how
 * @returns {Promise<Set<string>>} the runs of all manifests and removals of the source
 */
export async function copyManifests (source, target, { from, to, time, isMove = false }) {
  const sourceStatements = new LayerStatements(source.couch, from)
  const targetStatements = new LayerStatements(target.couch, to)
  await Promise.all([sourceStatements.open(), targetStatements.open()])
  const put = (id, doc) => target.couch.update(id, stored => stored ? undefined : JSON.parse(JSON.stringify(doc)))
  const allRuns = new Set([...sourceStatements.manifests, ...sourceStatements.removals].map(({ run }) => run))
  if (isMove) {
    await moveStatements(sourceStatements, target.couch, to)
    return allRuns
  }
  // removals concern only the runs of the source: the target may have statements of its own
  const runs = [...sourceStatements.runs]
  for (const { run, since, until, area, zooms, tiles } of sourceStatements.removals) {
    if (!runs.some(one => one < run)) continue
    const what = { since, until, area, zooms, tiles }
    await put(removedId(to, run), { type: 'removed', layer: to, run, ...what, runs, finished: now() })
  }
  for (const manifest of sourceStatements.manifests) {
    const { time: stated, run, parts = [] } = manifest
    if ((time !== undefined && stated > time) || targetStatements.runs.has(run)) continue
    const blocks = Object.entries(await sourceStatements.blocksOf(manifest))
      .flatMap(([place, names]) => names.map(name => ({ place, name })))
    await copyBlocks(source.couch, target.couch, { from, to }, blocks)
    // the last part last: from then on the manifest counts
    for (const part of [...parts.keys(), undefined]) {
      const [{ doc }] = await source.couch.docs([manifestId(from, stated, run, part)])
      if (doc) await put(manifestId(to, stated, run, part), { ...fieldsOf(doc), layer: to })
    }
  }
  return allRuns
}

/**
 * Copies removals and manifests as they are, since all statements that they concern move along; and blocks whose
 * manifest a load has not written yet.
 */
async function moveStatements ({ couch: source, layer: from }, couch, to) {
  await copyRecords(`removed:${from}:`)
  await copyBlocks(source, couch, { from, to }, blocksIn(source, from))
  // the manifest after its parts: from then on it counts
  await copyRecords(`manifest:${from}@`, isPart)
  await copyRecords(`manifest:${from}@`, id => !isPart(id))

  async function copyRecords (prefix, isWanted = id => Boolean(id)) {
    for await (const revisions of revisionsFrom(source, prefix, undefined)) {
      for (const { id } of revisions.filter(one => isWanted(one.id))) {
        const record = await source.get(id)
        const copy = record && { ...fieldsOf(record), layer: to }
        await couch.update(prefix.replace(`:${from}`, `:${to}`) + id.slice(prefix.length), stored =>
          copy && !(stored && isDeepStrictEqual(fieldsOf(stored), copy)) ? copy : undefined)
      }
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
  for await (const some of batchesOf(blocks, { most: BLOCKS, bytes: Infinity })) {
    const storedBlocks = await target.docs(some.map(({ place, name }) => blockId(to, place, name)))
    const missing = some.filter((_, at) => !storedBlocks[at].doc)
    if (!missing.length) continue
    const ids = missing.map(({ place, name }) => blockId(from, place, name))
    const rows = await source.docs(ids, { attachments: true })
    await target.writeAll(rows.flatMap(({ doc }, at) => {
      const { place, name } = missing[at]
      return doc ? [blockDocument(blockId(to, place, name), to, place, doc._attachments.digests.data)] : []
    }))
  }
}
