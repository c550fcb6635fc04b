// Settles tiles of a store from Node: see core/store/settle.js.
import { pMapIterable } from 'p-map'
import { batchesOf } from '../../core/lists.js'
import { TILE_ATTACHMENT, headId, isTileId, layerRange, parseTileId, tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { checkDigests, compareRevs } from '../../core/mirror/index.js'
import { ignoring } from '../../core/promises.js'
import { LayerStatements } from '../../core/store/statements.js'
import { settleTiles } from '../../core/store/settle.js'
import { TileSet } from '../../core/store/blocks.js'
import { peerOf } from './peer.js'
import { tombstone, written, readLeavesByState } from './revisions.js'
import { digestOf, imageOf } from './tile.js'

export const settleDefaults = {
  tiles: 200, // settled together
  concurrency: 3 // of these at once
}

/**
 * @param {(docs: any[], signal?: AbortSignal) => Promise<any[]>} [send] of new revisions
 * @returns {import('../../core/store/settle.js').TileAccess & {check: (rows: any[]) => void}}
 */
export function tileAccess (couch, send = (docs, signal) => couch.write(docs, signal)) {
  const peer = peerOf(couch)
  return {
    couch,
    send,
    check,
    fetch: (revisions, signal) => couch.revisions(revisions, { check, signal }),
    // a past version never changes: a new leaf is written beside it, and settling ends the old one later
    async replace (pasts, signal) {
      const [refused] = await writeAlike(couch, peer, pasts.map(({ doc }) => doc), signal)
      if (refused) throw new TilecouchError('REFUSED', { id: refused.id, reason: refused.reason || refused.error })
    }
  }
}

/** Compares bytes that will be written again with their digests, before they are unpacked. @param {any[]} rows */
const check = rows => checkDigests(rows.flatMap(({ doc }) => doc ?? []), data => digestOf(toBytes(data)))

const toBytes = data => typeof data === 'string' ? Buffer.from(data, 'base64') : data

/**
 * An access with which several masters repair the same leaves: all of them write the same revisions.
 * @returns {import('../../core/store/settle.js').TileAccess}
 */
export function deterministicAccess (couch) {
  const peer = peerOf(couch)
  return tileAccess(couch, async (docs, signal) => {
    const refused = new Map((await writeAlike(couch, peer, docs, signal)).map(failure => [failure.id, failure]))
    return docs.map(({ _id: id }) => refused.get(id) ?? { id, ok: true, rev: 'alike' })
  })
}

/**
 * Writes revisions that depend only on the stored leaves, as replicators do. The parent is `_rev` of the document, else
 * its highest deleted leaf.
 */
async function writeAlike (couch, peer, docs, signal) {
  const newDocs = docs.filter(({ _rev }) => !_rev)
  const leaves = await readLeavesByState(couch, newDocs.map(({ _id }) => _id), signal)
  return peer.write(docs.map(doc => {
    if (doc._deleted) return tombstone(doc._id, doc._rev)
    const endedRevs = (leaves.get(doc._id)?.ended ?? []).map(({ _rev }) => _rev).sort(compareRevs)
    return written(withDigest(doc), doc._rev ?? endedRevs[endedRevs.length - 1])
  }), signal)
}

function withDigest (doc) {
  const image = imageOf(doc)
  if (!image) return doc
  const data = toBytes(image.data)
  const digest = digestOf(data)
  return { ...doc, _attachments: { [TILE_ATTACHMENT]: { content_type: image.content_type, data, digest } } }
}

/**
 * Settles tiles in batches.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {Iterable<string> | AsyncIterable<string>} ids of heads
 * @param {object} [options]
 * @param {LayerStatements} [options.statements]
 * @param {import('../../core/store/settle.js').TileAccess} [options.access]
 * @param {boolean} [options.dryRun]
 * @param {AbortSignal} [options.signal]
 * @param {(settled: Map<string, import('../../core/store/settle.js').Settled>) => void} [options.onSettled] after each
 *   batch
 */
export async function settleAll (couch, layer, ids, {
  statements = new LayerStatements(couch, layer), access = tileAccess(couch), dryRun, signal, onSettled
} = {}) {
  const readFacts = batch => statements.readFacts(batch, { isFresh: true })
  const settledBatches = pMapIterable(batchesOf(ids, { most: settleDefaults.tiles, bytes: Infinity }), batch => {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    return settleTiles(access, [...new Set(batch)], { readFacts, dryRun, signal })
  }, { concurrency: settleDefaults.concurrency })
  for await (const tiles of settledBatches) onSettled?.(tiles)
}

/**
 * Gives the head ids of the tiles that a manifest names. Blocks that are not replicated yet are skipped, and so is a
 * manifest without one of its parts.
 * @returns {AsyncGenerator<string>}
 */
export async function * tilesOf (statements, manifest) {
  const blocks = await statements.blocksOf(manifest).catch(ignoring('NOT_FOUND'))
  for (const [place, names] of Object.entries(blocks ?? {})) {
    for (const name of names) {
      const block = await statements.block(place, name)
      for (const { z, x, y } of block?.tilesAt(place) ?? []) yield tileId(statements.layer, z, x, y)
    }
  }
}

/**
 * Gives the head id of every tile that has a document or is in a manifest.
 * @returns {AsyncGenerator<string>}
 */
export async function * everyTile (couch, statements, signal) {
  const seen = new TileSet()
  const addIfNew = id => {
    const { z, x, y } = parseTileId(id)
    const isNew = !seen.has(z, x, y)
    if (isNew) seen.add(z, x, y)
    return isNew
  }
  for await (const rows of couch.pages(layerRange(statements.layer), { signal })) {
    for (const { id } of rows) if (isTileId(id) && addIfNew(id)) yield headId(id)
  }
  for (const manifest of statements.manifests) {
    for await (const id of tilesOf(statements, manifest)) if (addIfNew(id)) yield id
  }
}
