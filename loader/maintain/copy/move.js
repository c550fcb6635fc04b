// Gives a layer another name: copies it, compares, and deletes each document under the old name at the compared
// revision, until no document is left. Until the end the new layer has the field `renaming`, so that a killed move
// continues when it is run again.
import { isDeepStrictEqual } from 'node:util'
import { checkLayer, layerId, tileId } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { batchesOf, chunks } from '../../../core/lists.js'
import { GONE } from '../../../core/store/blocks.js'
import { readTileLeaves } from '../../../core/store/documents.js'
import { winnerFirst } from '../../../core/mirror/index.js'
import { planTile, versionIn } from '../../../core/store/plan.js'
import { settleTiles } from '../../../core/store/settle.js'
import { LayerStatements } from '../../../core/store/statements.js'
import { peerOf } from '../../store/peer.js'
import { readTiles } from '../remove/documents.js'
import { recordPrefixes, revisionsFrom, singleIds } from '../remove/index.js'
import { Remover } from '../remove/remover.js'
import { isEmptyLayer } from '../../store/layers.js'
import { tileAccess } from '../../store/settle.js'
import { fieldsOf, readLeavesByState } from '../../store/revisions.js'
import { renamed } from './documents.js'
import { Tally, copyAll } from './index.js'
import { extensionOf } from './tiles.js'

const TILES = 200 // tiles compared in one request
const ROUNDS = 5 // of copying and deleting at most, if a load writes under the old name

/**
 * @typedef {object} MoveOptions
 * @property {boolean} [dryRun]
 * @property {boolean} [purge] leave no trace of the old name
 * @property {AbortSignal} [signal]
 * @property {(progress: {step: 'copy' | 'remove', tiles: number, bytes: number}) => void} [onProgress]
 * @property {Partial<typeof import('./tiles.js').copyDefaults>} [limits]
 *
 * @typedef {Omit<Awaited<ReturnType<typeof copyAll>>, 'moved' | 'fail'> & {
 *   left: number, done: boolean, repeated: boolean
 * }} MoveSummary left: documents that still have the old name; repeated: an earlier run had finished the move
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string} from
 * @param {string} to a name that is free
 * @param {MoveOptions} [options]
 * @returns {Promise<MoveSummary>}
 */
export async function moveLayer (store, from, to, { dryRun, purge, signal, onProgress, limits } = {}) {
  const { couch } = store
  if (checkLayer(from) === checkLayer(to)) {
    throw new TilecouchError('BAD_OPTION', { option: 'TO', value: to, why: 'it is the name of the layer' })
  }
  const { moved, fail, ...counts } = new Tally()
  const total = { from, to, ...counts, left: 0, done: false, repeated: false }
  const docs = await readLayers(couch, from, to)
  if (!docs) return { ...total, done: true, repeated: true }

  const { oldDoc, newDoc } = docs
  const { renaming: _, ...layer } = oldDoc ?? { ...newDoc, layer: from }
  total.done = !oldDoc && await isNameFree(couch, from)
  for (let round = 0; round < ROUNDS && !total.done; round++) {
    // the layer document is deleted last; a load may have written since then
    if (!dryRun) await couch.update(layerId(from), stored => stored ? undefined : fieldsOf(layer))
    addRound(total, await copyAll(store, from, to, {
      source: store,
      renaming: true,
      dryRun,
      signal,
      limits,
      onProgress: ({ tiles, bytes }) => onProgress?.({ step: 'copy', tiles, bytes })
    }))
    if (dryRun) return total
    total.left = await deleteCopied(store, from, to, { purge, signal, onProgress })
    if (total.failed) break
    if (total.left) continue
    total.done = await isNameFree(couch, from)
    if (!total.done) total.left = 1 // at least one, because a load has written meanwhile
  }
  if (total.done && !dryRun) await finishMove(couch, from, to)
  return total
}

/**
 * Reads both layer documents, and checks that the move is possible.
 * @returns {Promise<{oldDoc?: Record<string, any>, newDoc?: Record<string, any>} | undefined>} undefined if an earlier
 *   run has finished the move
 */
async function readLayers (couch, from, to) {
  const [oldDoc, newDoc] = await Promise.all([from, to].map(layer => couch.get(layerId(layer))))
  if (newDoc?.renaming === from) return { oldDoc, newDoc } // continues a killed move
  if (!oldDoc) {
    if (newDoc && (await peerOf(couch).getLocal(noteIdOf(from)))?.to === to) return undefined
    throw new TilecouchError('LAYER_NOT_FOUND', { layer: from })
  }
  if (newDoc || !await isEmptyLayer(couch, to)) throw new TilecouchError('LAYER_EXISTS', { layer: to })
  return { oldDoc, newDoc }
}

/** Adds the counts of a round. Later rounds check the same tiles again. @param {MoveSummary} total */
function addRound (total, { tiles, unchanged, failed, failures, ...counts }) {
  for (const field of ['versions', 'bytes', 'extended', 'editions', 'styles']) total[field] += counts[field]
  Object.assign(total, { tiles: Math.max(total.tiles, tiles), unchanged, failed, failures })
}

async function finishMove (couch, from, to) {
  await peerOf(couch).updateLocal(noteIdOf(from), () => ({ to })) // before the field `renaming` is removed
  await couch.update(layerId(to), stored => {
    const { renaming, ...fields } = stored ?? {}
    return renaming === from ? fields : undefined
  })
}

/** Id of a local document with the new name of a layer, for a move that is repeated. */
const noteIdOf = from => `tilecouch-renamed-${from}`

/**
 * Deletes every document that is the same under both names: tiles, then records, the layer document last.
 * @returns {Promise<number>} number of documents that stay; the next round copies them
 */
async function deleteCopied (store, from, to, { purge, signal, onProgress }) {
  const remover = new Remover(store, { purge, signal })
  let left = await deleteTiles(store, remover, from, to, { signal, onProgress })
  // remaining and new tiles need their statements
  left ||= await isEmptyLayer(store.couch, from) ? await deleteRecords(store.couch, remover, from, to, signal) : 1
  const { refused, named } = await remover.finish()
  if (refused) throw new TilecouchError('REFUSED', { id: named[0]?.id, reason: named[0]?.reason })
  return left
}

async function deleteTiles (store, remover, from, to, { signal, onProgress }) {
  const { couch } = store
  const statements = new LayerStatements(couch, to, signal)
  await statements.open()
  const progress = { step: /** @type {const} */ ('remove'), tiles: 0, bytes: 0 }
  let left = 0
  for await (const tiles of batchesOf(store.listTiles(from, { signal }), { most: TILES, bytes: Infinity })) {
    const idsOf = layer => tiles.map(({ z, x, y }) => tileId(layer, z, x, y))
    const [oldTiles, newTiles, factsOf] = await Promise.all([
      readTiles(couch, idsOf(from), signal), readTileLeaves(couch, idsOf(to), signal), statements.readFacts(idsOf(to))
    ])
    const copied = oldTiles.filter((tile, index) => isCopied(tile, newTiles[index], factsOf(newTiles[index].id)))
    left += oldTiles.length - copied.length
    const differingIds = oldTiles.flatMap((tile, index) => copied.includes(tile) ? [] : [newTiles[index].id])
    // settles tiles that differ: only a settled tile can be equal to its source
    await settleTiles(tileAccess(couch), differingIds, {
      readFacts: ids => statements.readFacts(ids, { isFresh: true }), signal
    })
    // past versions first, so that a tile never has a past without a head
    for (const docs of [copied.flatMap(({ pasts }) => pasts), copied.flatMap(({ head }) => head ?? [])]) {
      const deletedRevs = await remover.end(docs.map(({ _id: id, _rev: rev }) => ({ id, rev })))
      left += docs.length - deletedRevs.size
    }
    progress.tiles += tiles.length
    for (const { versions } of tiles) for (const { size } of versions) progress.bytes += size
    onProgress?.(progress)
  }
  return left
}

/**
 * Whether the tile under the new name has all statements and images of a tile.
 * @param {import('../remove/documents.js').StoredTile} tile
 * @param {{id: string, heads: any[], pasts: any[]}} targetTile
 * @param {import('../../../core/store/plan.js').TileFacts} facts about the tile under the new name
 */
function isCopied ({ head, pasts }, targetTile, facts) {
  if (head && extensionOf(head, targetTile.heads[0])) return false
  const stored = [...targetTile.heads, ...targetTile.pasts].map(versionIn)
  const contents = new Set([GONE, ...stored.map(({ content }) => content)])
  const versions = [...pasts, ...(head ? [head] : [])].map(versionIn)
  const hasImage = ({ time, run, content }) => contents.has(content) || facts.isRemoved(time, run)
  const incoming = versions.map(({ id, rev, doc, ...version }) => (
    { ...version, inManifest: false, documentOf: () => doc }
  ))
  const [heads, pastVersions] = [stored.slice(0, targetTile.heads.length), stored.slice(targetTile.heads.length)]
  return versions.every(hasImage) && !planTile(targetTile.id, heads, pastVersions, facts, incoming).writes.length
}

/** Deletes editions, statements and styles, then limits, then the layer document. @param {Remover} remover */
async function deleteRecords (couch, remover, from, to, signal) {
  let left = 0
  for (const prefix of recordPrefixes(from)) {
    for await (const revisions of revisionsFrom(couch, prefix, signal)) {
      for (const batch of chunks(revisions, TILES)) {
        const ids = batch.map(({ id }) => id)
        left += ids.length - (await remover.end(await copiedRecords(couch, ids, prefix, from, to))).size
      }
    }
  }
  for (const id of singleIds(from)) {
    const isLeft = !left && await couch.get(id)
    if (isLeft) left += 1 - (await remover.end(await copiedRecords(couch, [id], id, from, to))).size
  }
  return left
}

/** All leaves of the documents that are the same under the new name. Of a conflict, the winner was copied. */
async function copiedRecords (couch, ids, prefix, from, to) {
  const newPrefix = prefix.replace(`:${from}`, `:${to}`)
  const [leaves, targetRows] = await Promise.all([
    readLeavesByState(couch, ids), couch.docs(ids.map(id => newPrefix + id.slice(prefix.length)))
  ])
  return ids.flatMap((id, index) => {
    const living = (leaves.get(id)?.living ?? []).sort(winnerFirst)
    const [doc, copy] = [living[0], targetRows[index].doc]
    const isSame = doc && copy && isDeepStrictEqual(recordIn(doc, from, to), recordIn(copy, from, to))
    return isSame ? living.map(({ _rev: rev }) => ({ id, rev })) : []
  })
}

/** The parts of a record that are compared: its fields under the new name, and its files. */
function recordIn (doc, from, to) {
  const { renaming, own, ...fields } = renamed(fieldsOf(doc), from, to) // own: a load may have set it
  return [fields, Object.keys(doc._attachments ?? {}).sort()]
}

/** Whether no document of a layer with this name exists. */
async function isNameFree (couch, layer) {
  if ((await couch.docs(singleIds(layer))).some(({ doc }) => doc) || !await isEmptyLayer(couch, layer)) return false
  const ranges = recordPrefixes(layer).map(prefix => ({ startkey: prefix, endkey: `${prefix}~`, limit: 1 }))
  return (await couch.ranges(ranges)).every(rows => !rows.length)
}
