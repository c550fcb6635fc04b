// Gives a layer another name: copies it, compares, and deletes each document under the old name at the revision that
// was compared. Until the end the new layer says whose copy it is, so that a move that was killed continues when it is
// run again.
import { isDeepStrictEqual } from 'node:util'
import { checkLayer, editionId, layerId, tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { batchesOf } from '../../core/batches.js'
import { peerOf } from '../mirror/peer.js'
import { endLeaves, readTiles } from '../remove/documents.js'
import { revisionsFrom, statementPrefixes } from '../remove/index.js'
import { Remover } from '../remove/remover.js'
import { isEmptyLayer } from '../store/layers.js'
import { fieldsOf } from '../store/revisions.js'
import { copyStyles } from './documents.js'
import { Tally, copyAll } from './index.js'
import { extensionOf, hasVersion } from './tiles.js'

const TILES = 200 // compared together
const ROUNDS = 5 // while a load writes under the old name

/**
 * @typedef {object} MoveOptions
 * @property {boolean} [dryRun]
 * @property {boolean} [purge] leave no trace of the old name
 * @property {AbortSignal} [signal]
 * @property {(progress: {step: 'copy' | 'remove', tiles: number, bytes: number}) => void} [onProgress]
 * @property {Partial<typeof import('./tiles.js').copyDefaults>} [limits]
 *
 * @typedef {Omit<Awaited<ReturnType<typeof copyAll>>, 'moved'>} Copied
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} from
 * @param {string} to a name that is free
 * @param {MoveOptions} [options]
 * @returns {Promise<Copied & {left: number, done: boolean}>} left: tiles that still have the old name
 */
export async function moveLayer (store, from, to, { dryRun = false, purge, signal, onProgress, limits } = {}) {
  const { couch } = store
  if (checkLayer(from) === checkLayer(to)) {
    throw new TilecouchError('BAD_OPTION', { option: 'TO', value: to, why: 'it is the name of the layer' })
  }
  const [here, there] = await Promise.all([from, to].map(layer => couch.get(layerId(layer))))
  const isOurs = there?.renaming === from
  const { moved, fail, ...counts } = new Tally()
  const total = { from, to, ...counts, left: 0, done: false }
  const peer = peerOf(couch)
  if (!here && there && !isOurs && (await peer.getLocal(noteIdOf(from)))?.to === to) return { ...total, done: true }
  if (!here && !isOurs) throw new TilecouchError('LAYER_NOT_FOUND', { layer: from })
  if (there ? !isOurs : !await isEmptyLayer(couch, to)) throw new TilecouchError('LAYER_EXISTS', { layer: to })

  if (here) {
    for (let round = 0; round < ROUNDS; round++) {
      const copied = await copyAll(store, from, to, {
        source: store, renaming: true, dryRun, signal, limits, onProgress: ({ tiles, bytes }) => onProgress?.({ step: 'copy', tiles, bytes })
      })
      for (const field of ['versions', 'bytes', 'extended', 'editions', 'styles']) total[field] += copied[field]
      const { failed, failures, unchanged } = copied
      Object.assign(total, { failed, failures, unchanged, tiles: Math.max(total.tiles, copied.tiles) })
      if (dryRun) return total
      total.left = await endTiles(store, from, to, { purge, signal, onProgress })
      if (failed || (!total.left && await endDocuments(store, from, to))) break
    }
  }
  total.done = !await couch.get(layerId(from)) && await isEmptyLayer(couch, from)
  if (total.done) {
    await peer.updateLocal(noteIdOf(from), () => ({ to })) // first: it replaces the field `renaming`
    await couch.update(layerId(to), stored => {
      const { renaming, ...fields } = stored ?? {}
      return renaming === from ? fields : undefined
    })
  }
  return total
}

/** A local document that says where a layer was moved to, for a move that is repeated. */
const noteIdOf = from => `tilecouch-renamed-${from}`

/** Deletes every tile that is the same under both names. @returns {Promise<number>} tiles that stay */
async function endTiles (store, from, to, { purge, signal, onProgress }) {
  const { couch } = store
  const report = ({ tiles, bytes }) => onProgress?.({ step: 'remove', tiles, bytes })
  const remover = new Remover(store, { purge, signal, onProgress: report })
  let left = 0
  for await (const tiles of batchesOf(store.listTiles(from, { signal }), { most: TILES, bytes: Infinity })) {
    const read = layer => readTiles(couch, tiles.map(({ z, x, y }) => tileId(layer, z, x, y)), signal)
    const [heres, theres] = await Promise.all([from, to].map(read))
    for (const [index, tile] of tiles.entries()) {
      const { head, pasts } = heres[index]
      const there = theres[index]
      const isCopied = [...pasts, ...(head ? [head] : [])].every(doc => hasVersion(there, doc))
      if (isCopied && !(head && extensionOf(head, there.head))) await remover.take(tile, tile.versions)
      else left++
    }
  }
  const { changed, refused, named } = await remover.finish()
  if (refused) throw new TilecouchError('REFUSED', { id: named[0]?.id, reason: named[0]?.reason })
  return left + changed
}

/** Deletes the documents of editions, then the layer's, if the new name has the same. Answers whether it did all. */
async function endDocuments (store, from, to) {
  const { couch } = store
  if (!await isEmptyLayer(couch, from)) return false
  const times = (await store.editions(from)).map(({ time }) => time)
  for (const idOf of [...times.map(time => layer => editionId(layer, time)), layerId]) {
    const [here, there] = (await couch.docs([from, to].map(idOf))).map(({ doc }) => doc)
    if (idOf === layerId) {
      await copyStyles(store, store, { from, to }) // one may have been stored meanwhile
      await endStatements(couch, from)
    }
    const { renaming, ...fields } = fieldsOf(there ?? {})
    const { baseline, from: _, ...own } = fieldsOf(here ?? {}) // an edition's are not copied
    if (here && !isDeepStrictEqual({ ...own, layer: to }, fields)) return false
    if (here && !(await endLeaves(couch, [{ id: here._id, rev: here._rev }])).gone.size) return false
  }
  return true
}

/** Deletes the statements under the old name: the new one has them. */
async function endStatements (couch, layer) {
  for (const prefix of statementPrefixes(layer)) {
    for await (const revisions of revisionsFrom(couch, prefix, undefined)) await endLeaves(couch, revisions)
  }
}
