// Copies the tiles of a layer, with their past, to another name or another store. CouchDB's COPY is not enough: it
// keeps fields that do not match the new id. Through the client 646 tiles a second are copied, but 194 with COPY and a
// second write.
import { pMapIterable } from 'p-map'
import { tileId } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { batchesOf } from '../../../core/lists.js'
import { imageAnew, isSameVersion, shownBy } from '../../../core/store/documents.js'
import { isRefusal } from '../../../core/couch/answers.js'
import { LayerStatements } from '../../../core/store/statements.js'
import { versionIn } from '../../../core/store/plan.js'
import { settleTiles } from '../../../core/store/settle.js'
import { readTiles } from '../remove/documents.js'
import { fieldsOf } from '../../store/revisions.js'
import { extendHeads } from '../../store/extend.js'
import { tileAccess } from '../../store/settle.js'
import { imageOf } from '../../store/tile.js'

export const copyDefaults = {
  tiles: 100, // tiles per batch
  batch: 200, // versions in a request
  bytes: 2e6, // of images per request, unless one image is larger
  concurrency: 4 // batches at the same time
}

/**
 * @typedef {import('../../store/list.js').ListedTile} ListedTile
 * @typedef {import('../remove/documents.js').StoredTile} StoredTile
 * @typedef {import('../../../core/store/plan.js').Incoming & {size: number, isNewest: boolean}} Incoming
 *
 * @typedef {object} TilesOptions
 * @property {string} to layer
 * @property {string} [time] exact: copies the tiles as of this time
 * @property {boolean} history
 * @property {boolean} isNew the target is empty
 * @property {import('./index.js').Tally} tally
 * @property {typeof copyDefaults} limits
 * @property {boolean} dryRun
 * @property {AbortSignal} [signal]
 * @property {(tally: import('./index.js').Tally) => void} [onProgress]
 */

export class TileCopier {
  #access
  #statements

  /** @param {TilesOptions} options */
  constructor (source, target, options) {
    this.source = source
    this.target = target
    this.options = options
    this.tally = options.tally
    this.#access = tileAccess(target)
    this.#statements = new LayerStatements(target, options.to)
  }

  /** @param {AsyncIterable<ListedTile>} tiles */
  async copy (tiles) {
    await this.#statements.open()
    const { limits, signal, onProgress } = this.options
    const bytesOf = ({ versions }) => versions.reduce((sum, { size }) => sum + size, 0)
    const batches = batchesOf(tiles, { most: limits.tiles, bytes: limits.bytes, sizeOf: bytesOf })
    const copied = pMapIterable(batches, batch => this.#copyBatch(batch), { concurrency: limits.concurrency })
    for await (const tally of copied) {
      onProgress?.(tally)
      if (signal?.aborted) throw new TilecouchError('ABORTED')
    }
  }

  /** @param {ListedTile[]} tiles */
  async #copyBatch (tiles) {
    const { to, time, isNew, signal, dryRun } = this.options
    if (signal?.aborted) return this.tally
    const sourceTiles = await readTiles(this.source, tiles.map(({ id }) => id), signal)
    const ids = tiles.map(({ z, x, y }) => tileId(to, z, x, y))
    /** @type {StoredTile[]} */
    const targetTiles = isNew ? ids.map(id => ({ id, pasts: [] })) : await readTiles(this.target, ids, signal)
    const extensions = []
    const missingVersions = []
    for (const [index, sourceTile] of sourceTiles.entries()) {
      const [head, ...olderVersions] = this.#versionsToCopy(sourceTile)
      if (!head) continue
      this.tally.tiles++
      const targetTile = targetTiles[index]
      const extension = extensionOf(head, targetTile.head, this.options)
      if (extension) extensions.push(extension)
      for (const listed of [head, ...olderVersions]) {
        if (hasVersion(targetTile, asCopied(listed, listed === head, time), this.#statements)) this.tally.unchanged++
        else missingVersions.push({ id: ids[index], listed, isNewest: listed === head })
      }
    }
    if (dryRun) {
      this.tally.versions += missingVersions.length
      for (const { listed } of missingVersions) this.tally.bytes += imageOf(listed)?.length ?? 0
      return this.tally
    }
    if (extensions.length) this.tally.extended += (await extendHeads(this.target, extensions, { signal })).extended.size
    await this.#writeVersions(missingVersions)
    return this.tally
  }

  /** The versions to copy: the newest one, then the others. @param {StoredTile} tile */
  #versionsToCopy ({ head, pasts }) {
    const { time, history } = this.options
    // a past document with the same version as the head is a copy that a load made
    const pastVersions = pasts.filter(doc => !head || !isSameVersion(doc, head))
    const allVersions = [...pastVersions, ...(head ? [head] : [])].sort((a, b) => a.time < b.time ? -1 : 1)
    const versions = time === undefined ? allVersions : allVersions.filter(doc => doc.time <= time)
    const newest = versions.pop()
    if (!newest || (!history && shownBy(newest) === null)) return []
    return [newest, ...(history ? versions : [])]
  }

  /** @param {{id: string, listed: any, isNewest: boolean}[]} missingVersions */
  async #writeVersions (missingVersions) {
    if (!missingVersions.length) return
    const { to, time, isNew, signal } = this.options
    const rows = await this.source.docs(missingVersions.map(({ listed }) => listed._id), { attachments: true, signal })
    /** @type {Map<string, Incoming[]>} */
    const byTile = new Map()
    for (const [index, { doc }] of rows.entries()) {
      const { id, listed, isNewest } = missingVersions[index]
      // another program has changed it: the next pass copies it
      if (!doc || !isSameVersion(doc, listed)) this.tally.moved++
      else byTile.set(id, [...byTile.get(id) ?? [], incomingOf(doc, to, isNewest, time)])
    }
    const unsettledIds = isNew ? await this.#writeNew(byTile) : [...byTile.keys()]
    if (!unsettledIds.length) return
    const settled = await settleTiles(this.#access, unsettledIds, {
      readFacts: ids => this.#statements.readFacts(ids, { isFresh: true }),
      incomingOf: id => byTile.get(id) ?? [],
      signal
    })
    for (const [id, { error, done: sent }] of settled) {
      if (error) this.tally.fail(id, error)
      else for (const version of byTile.get(id) ?? []) {
        const isThisVersion = step => step.version?.time === version.time && step.version.content === version.content
        this.#count(version, sent.some(isThisVersion))
      }
    }
  }

  /** Writes into an empty layer. @returns {Promise<string[]>} ids of tiles that another program wrote meanwhile */
  async #writeNew (byTile) {
    const idOf = (id, { isNewest, time }) => isNewest ? id : `${id}@${time}`
    const docs = [...byTile].flatMap(([id, versions]) => versions.map(version => (
      { ...version.documentOf(), _id: idOf(id, version), current: version.isNewest }
    )))
    const byId = new Map((await this.target.write(docs, this.options.signal)).map(answer => [answer.id, answer]))
    const unsettledIds = []
    for (const [id, versions] of byTile) {
      const answers = versions.map(version => byId.get(idOf(id, version)) ?? { error: 'no answer' })
      const refused = answers.find(({ error }) => isRefusal(error))
      if (refused) this.tally.fail(id, new TilecouchError('REFUSED', { id, reason: refused.reason || refused.error }))
      else if (answers.some(({ error }) => error)) unsettledIds.push(id)
      else for (const version of versions) this.#count(version, true)
    }
    return unsettledIds
  }

  #count ({ size }, isWritten) {
    if (!isWritten) this.tally.unchanged++
    else {
      this.tally.versions++
      this.tally.bytes += size
    }
  }
}

/**
 * Whether a tile has a version, with all single writes that found it unchanged.
 * @param {StoredTile} tile @param {any} doc @param {LayerStatements} statements of the layer of the tile
 */
function hasVersion ({ id, head, pasts }, doc, statements) {
  const { seen } = versionIn(doc)
  const copies = [head, ...pasts].filter(copy => copy && isSameVersion(doc, copy))
  const copiedSeen = new Set(copies.flatMap(copy => versionIn(copy).seen).map(String))
  return copies.length > 0 && seen.every(entry => copiedSeen.has(`${entry}`) || statements.isRemoved(id, ...entry))
}

/** The version to write. If it is fixed by a time, the newest one does not expire. @param {any} doc with bytes */
function incomingOf (doc, layer, isNewest, time) {
  const isFixed = isNewest && time !== undefined
  const version = asCopied(doc, isNewest, time)
  const { z, x, y } = doc
  const { expires, ...fields } = fieldsOf(version)
  const { time: versionTime, content, run, seen, contested } = versionIn(version)
  const document = {
    ...fields, ...(!isFixed && expires && { expires }), layer, _id: tileId(layer, z, x, y), ...imageAnew(doc)
  }
  const size = imageOf(doc)?.data.length ?? 0
  const statement = { time: versionTime, content, run, seen, contested, inManifest: false }
  return { ...statement, isNewest, size, documentOf: () => document }
}

/** Leaves out later confirmations of a version, for a copy as of a time. */
function asCopied (version, isNewest, time) {
  if (!isNewest || time === undefined) return version
  const { seen = [], origin, ...doc } = version
  const { checked, ...fields } = origin ?? {}
  const notes = seen.filter(([seenAt]) => seenAt <= time)
  return { ...doc, ...(origin && { origin: checked > time ? fields : origin }), ...(notes.length && { seen: notes }) }
}

/** The change that makes the head of the copy expire as late as the original, if it needs one. */
export function extensionOf (head, copy, { time } = /** @type {{time?: string}} */ ({})) {
  if (time !== undefined || !copy || !isSameVersion(head, copy)) return undefined
  if ((head.expires ?? '') <= (copy.expires ?? '')) return undefined
  return { id: copy._id, rev: copy._rev, expires: head.expires, ...(head.origin && { origin: head.origin }) }
}
