// Copies the documents of a layer and of its editions. What the terms of the tiles forbid stays forbidden.
import { isDeepStrictEqual } from 'node:util'
import {
  blockId, checkNewLayer, checkSound, editionId, forbiddingHost, layerId, manifestId, now, removedId
} from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { batchesOf } from '../../core/batches.js'
import { LayerStatements } from '../../core/store/statements.js'
import { union } from '../../core/store/extent.js'
import { blockDocument } from '../load/manifest.js'
import { lastPrune } from '../prune/mark.js'
import { fieldsOf } from '../store/revisions.js'

const BLOCKS = 50 // read and written at once

/**
 * The document of the copy.
 * @param {Record<string, any>} here of the layer that is copied
 * @param {Record<string, any> | undefined} there the document that is there
 * @param {{to: string, time?: string, area?: import('../../core/area.js').Area, zooms?: import('../../core/grid.js').Zooms, renaming?: string, permission?: boolean}} how
 * time: the copy is not updated; renaming: the name of the layer that is moved here
 */
export function layerOf (here, there, { to, time, area, zooms, renaming, permission }) {
  const fields = fieldsOf(here)
  const own = { type: 'layer', layer: to }
  if (renaming) return { ...fields, ...own, renaming }
  const host = permission ? undefined : forbiddingHost(fields)
  if (there) {
    if (host && forbiddingHost(there) !== host) throw new TilecouchError('EXPORT_FORBIDDEN', { layer: here.layer, host })
    const pruned = lastPrune(fields, there)
    return { ...there, ...reachOf(fields, there), ...(pruned && { pruned }), ...(fields.offline === false && { offline: false }), ...(!there.format && fields.format && { format: fields.format }) }
  }
  const { renaming: _, ttl, upstream, ...rest } = fields
  return {
    ...rest,
    ...(time === undefined && { ttl, upstream }),
    ...(host && { upstream }), // its host tells the terms
    ...partOf(fields, area, zooms),
    ...own
  }
}

/** The zooms and bounds of both together. */
function reachOf (a, b) {
  const reach = {
    minzoom: Math.min(a.minzoom ?? 30, b.minzoom ?? 30),
    maxzoom: Math.max(a.maxzoom ?? 0, b.maxzoom ?? 0),
    bounds: a.bounds && b.bounds ? union(a.bounds, b.bounds) : undefined // without bounds it reaches everywhere
  }
  return Object.fromEntries(Object.entries(reach).filter(([field, value]) => value !== null && (field in a || field in b)))
}

/** The zooms and bounds of the part that was copied. */
function partOf (/** @type {Record<string, any>} */ { bounds, minzoom, maxzoom }, area, zooms) {
  return {
    ...(area && { bounds: intersection(bounds, area.bbox) }),
    ...(zooms && zoomsOf({ min: Math.max(minzoom ?? 0, zooms.min), max: Math.min(maxzoom ?? 30, zooms.max) }, zooms))
  }
}

/** The intersection; if it is empty, the box that was asked for. */
function intersection (a, b) {
  if (!a) return b
  const [west, south, east, north] = [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])]
  return south > north ? b : [west, south, east, north]
}

const zoomsOf = (both, asked) => both.min > both.max ? { minzoom: asked.min, maxzoom: asked.max } : { minzoom: both.min, maxzoom: both.max }

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} to
 * @param {(there: Record<string, any> | undefined) => Record<string, any>} make
 */
export const writeLayer = (couch, to, make) => couch.update(layerId(to), stored => {
  if (!stored) checkNewLayer(to)
  const there = stored && fieldsOf(checkSound(stored))
  const doc = JSON.parse(JSON.stringify(make(there))) // without what is undefined
  return there && isDeepStrictEqual(doc, there) ? undefined : doc
})

/**
 * Copies editions; one that is there already stays.
 * @param {import('../store/index.js').Store} source @param {import('../store/index.js').Store} target
 * @param {{from: string, to: string, time?: string, isOurs?: boolean}} how isOurs: the editions there were copied before
 * @returns {Promise<number>} written
 */
export async function copyEditions (source, target, { from, to, time, isOurs }) {
  let written = 0
  for (const edition of await source.editions(from)) {
    if (time !== undefined && edition.time > time) continue
    await target.couch.update(editionId(to, edition.time), stored => {
      const { baseline, from: _, ...fields } = fieldsOf(edition) // the feed of that store
      const doc = { type: 'edition', ...fields, layer: to }
      if (stored && (!isOurs || isDeepStrictEqual(fieldsOf(stored), doc))) return undefined
      written++
      return doc
    })
  }
  return written
}

/**
 * Copies manifests and removals, before the versions that follow from them.
 * @param {import('../store/index.js').Store} source @param {import('../store/index.js').Store} target
 * @param {{from: string, to: string, time?: string}} how
 * @returns {Promise<Set<string>>} the runs of all manifests and removals of the source
 */
export async function copyManifests (source, target, { from, to, time }) {
  const said = new LayerStatements(source.couch, from)
  const there = new LayerStatements(target.couch, to)
  await Promise.all([said.open(), there.open()])
  await copyRemovals(said, target.couch, to)
  for (const manifest of said.manifests) {
    if ((time !== undefined && manifest.time > time) || there.runs.has(manifest.run)) continue
    const blocks = Object.entries(await said.blocksOf(manifest)).flatMap(([place, names]) => names.map(name => ({ place, name })))
    for await (const some of batchesOf(blocks, { most: BLOCKS, bytes: Infinity })) {
      const rows = await source.couch.docs(some.map(({ place, name }) => blockId(from, place, name)), { attachments: true })
      const docs = rows.flatMap(({ doc }, at) => doc ? [blockDocument(blockId(to, some[at].place, some[at].name), to, some[at].place, doc._attachments.digests.data)] : [])
      await target.couch.writeAll(docs)
    }
    const { time: own, run, parts = [] } = manifest
    // the last part last: from then on the manifest counts
    for (const part of [...parts.keys(), undefined]) {
      const [{ doc }] = await source.couch.docs([manifestId(from, own, run, part)])
      if (doc) await target.couch.update(manifestId(to, own, run, part), stored => stored ? undefined : { ...fieldsOf(doc), layer: to })
    }
  }
  return new Set([...said.manifests, ...said.removals].map(({ run }) => run))
}

/** Copies removals, limited to the runs of the source: the target may have statements of its own. @param {import('../../core/store/statements.js').LayerStatements} said */
async function copyRemovals (said, couch, to) {
  const runs = [...said.runs]
  for (const { run, since, until, area, zooms, tiles } of said.removals) {
    if (!runs.some(one => one < run)) continue
    await couch.update(removedId(to, run), stored => stored ? undefined : JSON.parse(JSON.stringify({
      type: 'removed', layer: to, run, since, until, area, zooms, tiles, runs, finished: now()
    })))
  }
}
