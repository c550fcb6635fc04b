// Gives a layer another name: copies it, compares, and deletes each document under the old name at the revision that
// was compared, until nothing is left there. Until the end the new layer says whose copy it is, so that a move that was
// killed continues when it is run again.
import { isDeepStrictEqual } from 'node:util'
import { checkLayer, layerId, tileId } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { batchesOf, chunks } from '../../../core/lists.js'
import { GONE } from '../../../core/store/blocks.js'
import { readTileLeaves } from '../../../core/store/documents.js'
import { planTile, versionIn } from '../../../core/store/plan.js'
import { settleTiles } from '../../../core/store/settle.js'
import { LayerStatements } from '../../../core/store/statements.js'
import { peerOf } from '../../store/peer.js'
import { readTiles } from '../remove/documents.js'
import { recordPrefixes, revisionsFrom, singleIds } from '../remove/index.js'
import { Remover } from '../remove/remover.js'
import { isEmptyLayer } from '../../store/layers.js'
import { tileAccess } from '../../store/settle.js'
import { fieldsOf } from '../../store/revisions.js'
import { renamed } from './documents.js'
import { Tally, copyAll } from './index.js'
import { extensionOf } from './tiles.js'

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
 * @param {import('../../store/index.js').Store} store
 * @param {string} from
 * @param {string} to a name that is free
 * @param {MoveOptions} [options]
 * @returns {Promise<Copied & {left: number, done: boolean}>} left: documents that still have the old name
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

  const { renaming: _, ...layer } = here ?? { ...there, layer: from }
  total.done = !here && await isNameFree(couch, from)
  for (let round = 0; round < ROUNDS && !total.done; round++) {
    // it goes last: a load may have written after that
    if (!dryRun) await couch.update(layerId(from), stored => stored ? undefined : fieldsOf(layer))
    const copied = await copyAll(store, from, to, {
      source: store,
      renaming: true,
      dryRun,
      signal,
      limits,
      onProgress: ({ tiles, bytes }) => onProgress?.({ step: 'copy', tiles, bytes })
    })
    for (const field of ['versions', 'bytes', 'extended', 'editions', 'styles']) total[field] += copied[field]
    const { failed, failures, unchanged } = copied
    Object.assign(total, { failed, failures, unchanged, tiles: Math.max(total.tiles, copied.tiles) })
    if (dryRun) return total
    total.left = await endCopied(store, from, to, { purge, signal, onProgress })
    if (failed) break
    if (total.left) continue
    total.done = await isNameFree(couch, from)
    if (!total.done) total.left = 1 // at least: a load has written meanwhile
  }
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

/**
 * Deletes every document that is the same under both names: tiles, then records, the layer's document last.
 * @returns {Promise<number>} documents that stay: the next round copies what they say
 */
async function endCopied (store, from, to, { purge, signal, onProgress }) {
  const remover = new Remover(store, { purge, signal })
  let left = await endTiles(store, remover, from, to, { signal, onProgress })
  // tiles that are left, or have come meanwhile, need their statements
  left ||= await isEmptyLayer(store.couch, from) ? await endRecords(store.couch, remover, from, to, signal) : 1
  const { refused, named } = await remover.finish()
  if (refused) throw new TilecouchError('REFUSED', { id: named[0]?.id, reason: named[0]?.reason })
  return left
}

async function endTiles (store, remover, from, to, { signal, onProgress }) {
  const { couch } = store
  const statements = new LayerStatements(couch, to, signal)
  await statements.open()
  const progress = { step: /** @type {const} */ ('remove'), tiles: 0, bytes: 0 }
  let left = 0
  for await (const tiles of batchesOf(store.listTiles(from, { signal }), { most: TILES, bytes: Infinity })) {
    const idsOf = layer => tiles.map(({ z, x, y }) => tileId(layer, z, x, y))
    const [heres, theres, knownOf] = await Promise.all([
      readTiles(couch, idsOf(from), signal), readTileLeaves(couch, idsOf(to), signal), statements.knownOf(idsOf(to))
    ])
    const copied = heres.filter((here, index) => isCopied(here, theres[index], knownOf(theres[index].id)))
    left += heres.length - copied.length
    const others = heres.flatMap((here, index) => copied.includes(here) ? [] : [theres[index].id])
    // a tile that is not settled is never the same
    await settleTiles(tileAccess(couch), others, { knownOf: ids => statements.knownOf(ids, { isFresh: true }), signal })
    // past versions first: at every moment a tile has its head or nothing at all
    for (const docs of [copied.flatMap(({ pasts }) => pasts), copied.flatMap(({ head }) => head ?? [])]) {
      const gone = await remover.end(docs.map(({ _id: id, _rev: rev }) => ({ id, rev })))
      left += docs.length - gone.size
    }
    progress.tiles += tiles.length
    for (const { versions } of tiles) for (const { size } of versions) progress.bytes += size
    onProgress?.(progress)
  }
  return left
}

/**
 * Whether a tile says nothing that the new name does not say, and has no image that it lacks.
 * @param {import('../remove/documents.js').StoredTile} here
 * @param {{id: string, heads: any[], pasts: any[]}} there
 * @param {import('../../../core/store/plan.js').Known} known of the tile under the new name
 */
function isCopied ({ head, pasts }, there, known) {
  if (head && extensionOf(head, there.heads[0])) return false
  const stored = [...there.heads, ...there.pasts].map(versionIn)
  const contents = new Set([GONE, ...stored.map(({ content }) => content)])
  const versions = [...pasts, ...(head ? [head] : [])].map(versionIn)
  const hasImage = ({ time, run, content }) => contents.has(content) || known.isRemoved(time, run)
  const incoming = versions.map(({ id, rev, doc, ...version }) => (
    { ...version, inManifest: false, documentOf: () => doc }
  ))
  const [heads, others] = [stored.slice(0, there.heads.length), stored.slice(there.heads.length)]
  return versions.every(hasImage) && !planTile(there.id, heads, others, known, incoming).writes.length
}

/** Editions, statements and styles, then limits, then the layer's document. @param {Remover} remover */
async function endRecords (couch, remover, from, to, signal) {
  let left = 0
  for (const prefix of recordPrefixes(from)) {
    for await (const revisions of revisionsFrom(couch, prefix, signal)) {
      for (const some of chunks(revisions, TILES)) {
        left += some.length - (await remover.end(await copiedRecords(couch, some, prefix, from, to))).size
      }
    }
  }
  for (const id of singleIds(from)) {
    const doc = left ? undefined : await couch.get(id)
    const revisions = doc ? [{ id, rev: doc._rev }] : []
    left += revisions.length - (await remover.end(await copiedRecords(couch, revisions, id, from, to))).size
  }
  return left
}

/** Those of some documents, at their revisions, that are the same under the new name. */
async function copiedRecords (couch, revisions, prefix, from, to) {
  const newPrefix = prefix.replace(`:${from}`, `:${to}`)
  const ids = revisions.map(({ id }) => id)
  const [heres, theres] = await Promise.all([
    couch.docs(ids), couch.docs(ids.map(id => newPrefix + id.slice(prefix.length)))
  ])
  return revisions.filter(({ rev }, index) => {
    const [here, there] = [heres[index].doc, theres[index].doc]
    return here?._rev === rev && there && isDeepStrictEqual(recordIn(here, from, to), recordIn(there, from, to))
  })
}

/** What is compared of a record: its fields under the new name, and its files. */
function recordIn (doc, from, to) {
  const { renaming, own, ...fields } = renamed(fieldsOf(doc), from, to) // own: of limits; a load may have set it there
  return [fields, Object.keys(doc._attachments ?? {}).sort()]
}

/** Whether no document has the name of a layer. */
async function isNameFree (couch, layer) {
  if ((await couch.docs(singleIds(layer))).some(({ doc }) => doc) || !await isEmptyLayer(couch, layer)) return false
  const ranges = recordPrefixes(layer).map(prefix => ({ startkey: prefix, endkey: `${prefix}~`, limit: 1 }))
  return (await couch.ranges(ranges)).every(rows => !rows.length)
}
