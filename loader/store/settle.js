// Settles tiles of a store from Node: see core/store/settle.js.
import { pMapIterable } from 'p-map'
import { batchesOf } from '../../core/lists.js'
import { headId, isTileId, layerRange, parseTileId, tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { checkDigests, compareRevs } from '../../core/mirror/index.js'
import { LayerStatements } from '../../core/store/statements.js'
import { settleTiles } from '../../core/store/settle.js'
import { TileSet } from '../../core/store/blocks.js'
import { peerOf } from './peer.js'
import { tombstone, written, readLeaves } from './revisions.js'
import { digestOf } from './tile.js'

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
    fetch: (asked, signal) => couch.revisions(asked, { check, signal }),
    // a past version never changes: another leaf is written beside it, and settling ends the old one later
    async replace (pasts, signal) {
      const [refused] = await writeAlike(couch, peer, pasts.map(({ doc }) => doc), signal)
      if (refused) throw new TilecouchError('REFUSED', { id: refused.id, reason: refused.reason || refused.error })
    }
  }
}

/** Bytes that are written again are compared with their digests, before they are unpacked. @param {any[]} rows */
const check = rows => checkDigests(rows.flatMap(({ doc }) => doc ?? []), data => digestOf(toBytes(data)))

const toBytes = data => typeof data === 'string' ? Buffer.from(data, 'base64') : data

/**
 * A access for what several masters put right of the same leaves: each of them makes the very same revisions of it.
 * @returns {import('../../core/store/settle.js').TileAccess}
 */
export function deterministicAccess (couch) {
  const peer = peerOf(couch)
  return tileAccess(couch, async (docs, signal) => {
    const refused = new Map((await writeAlike(couch, peer, docs, signal)).map(one => [one.id, one]))
    return docs.map(({ _id: id }) => refused.get(id) ?? { id, ok: true, rev: 'alike' })
  })
}

/**
 * Revisions that follow from what is stored alone, as replicators write them: below the one that is named, else below
 * whatever was ended there.
 */
async function writeAlike (couch, peer, docs, signal) {
  const fresh = docs.filter(({ _rev }) => !_rev)
  const leaves = await readLeaves(couch, fresh.map(({ _id }) => _id), signal)
  return peer.write(docs.map(doc => {
    if (doc._deleted) return tombstone(doc._id, doc._rev)
    const ended = (leaves.get(doc._id)?.ended ?? []).map(({ _rev }) => _rev).sort(compareRevs)
    return written(withDigest(doc), doc._rev ?? ended[ended.length - 1])
  }), signal)
}

function withDigest (doc) {
  const image = doc._attachments?.tile
  if (!image) return doc
  const data = toBytes(image.data)
  return { ...doc, _attachments: { tile: { content_type: image.content_type, data, digest: digestOf(data) } } }
}

/**
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
  const knownOf = some => statements.knownOf(some, { isFresh: true })
  const settled = pMapIterable(batchesOf(ids, { most: settleDefaults.tiles, bytes: Infinity }), some => {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    return settleTiles(access, [...new Set(some)], { knownOf, dryRun })
  }, { concurrency: settleDefaults.concurrency })
  for await (const tiles of settled) onSettled?.(tiles)
}

/**
 * The tiles that a manifest looked at, by the ids of their heads. What has not come yet is passed over.
 * @returns {AsyncGenerator<string>}
 */
export async function * tilesOf (statements, manifest) {
  for (const [place, names] of Object.entries(await statements.blocksOf(manifest))) {
    for (const name of names) {
      const block = await statements.block(place, name)
      for (const { z, x, y } of block?.tilesAt(place) ?? []) yield tileId(statements.layer, z, x, y)
    }
  }
}

/**
 * Every tile that has a document or is in a manifest: ids of heads.
 * @returns {AsyncGenerator<string>}
 */
export async function * everyTile (couch, statements, signal) {
  const seen = new TileSet()
  const isNew = id => {
    const { z, x, y } = parseTileId(id)
    return !seen.has(z, x, y) && (seen.add(z, x, y), true)
  }
  for await (const rows of couch.pages(layerRange(statements.layer), { signal })) {
    for (const { id } of rows) if (isTileId(id) && isNew(id)) yield headId(id)
  }
  for (const manifest of statements.manifests) {
    for await (const id of tilesOf(statements, manifest)) if (isNew(id)) yield id
  }
}
