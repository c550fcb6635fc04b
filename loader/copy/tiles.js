// The tiles of a layer, with their past, under another name or in another store. CouchDB has nothing that would spare the
// way through here: attachments belong to one document, and its COPY keeps fields that the new id gives the lie. Through the
// client, many at once, it takes a third of the time (docs/expiry.md).
import { pMapIterable } from 'p-map'
import { TilecouchError, decide, decideExactly, tileId } from '../../core/index.js'
import { batchesOf } from '../../core/batches.js'
import { Batch } from '../../core/store/batch.js'
import { isSameVersion, shownBy, tileDocument } from '../../core/store/documents.js'
import { isRefusal } from '../../core/store/refusals.js'
import { readTiles } from '../remove/documents.js'
import { fieldsOf } from '../resolve/content.js'
import { extendHeads } from '../store/extend.js'
import { Tile } from '../store/tile.js'

export const copyDefaults = {
  tiles: 100, // tiles looked at together
  batch: 200, // versions in a request
  bytes: 2e6, // of images in a request, unless one alone has more
  concurrency: 4 // of these at once
}

/**
 * @typedef {import('../store/list.js').ListedTile} ListedTile
 * @typedef {import('../remove/documents.js').StoredTile} StoredTile
 *
 * @typedef {object} TilesOptions
 * @property {string} to layer
 * @property {string} [time] exact: as of which
 * @property {boolean} history
 * @property {boolean} isNew nothing stands there yet
 * @property {boolean} exactly every version becomes one, also one that repeats the one before
 * @property {import('./tally.js').Tally} tally
 * @property {typeof copyDefaults} limits
 * @property {boolean} dryRun
 * @property {AbortSignal} [signal]
 * @property {(tally: import('./tally.js').Tally) => void} [onProgress]
 */

export class Copier {
  /** @param {import('../store/couch.js').Couch} source @param {import('../store/couch.js').Couch} target @param {TilesOptions} options */
  constructor (source, target, options) {
    const { exactly, tally, signal } = options
    this.source = source
    this.target = target
    this.options = options
    this.tally = tally
    this.batch = new Batch(target, {
      stored: '', signal, decide: exactly ? decideExactly : decide,
      send: (docs, until) => target.send(docs, until),
      report: (tile, outcome) => this.#report(tile, outcome)
    })
  }

  /** @param {AsyncIterable<ListedTile>} tiles */
  async copy (tiles) {
    const { limits, signal, onProgress } = this.options
    const batches = batchesOf(tiles, { most: limits.tiles, bytes: limits.bytes, sizeOf: ({ versions }) => versions.reduce((sum, { size }) => sum + size, 0) })
    const copied = pMapIterable(batches, batch => this.#some(batch), { concurrency: limits.concurrency })
    for await (const tally of copied) {
      onProgress?.(tally)
      if (signal?.aborted) throw new TilecouchError('ABORTED')
    }
  }

  /** @param {ListedTile[]} tiles */
  async #some (tiles) {
    const { to, isNew, signal, dryRun, limits } = this.options
    if (signal?.aborted) return this.tally
    const heres = await readTiles(this.source, tiles.map(({ id }) => id), signal)
    const ids = tiles.map(({ z, x, y }) => tileId(to, z, x, y))
    const theres = isNew ? ids.map(id => /** @type {StoredTile} */ ({ id, pasts: [] })) : await readTiles(this.target, ids, signal)
    const extensions = []
    const [heads, pasts] = [[], /** @type {any[]} */ ([])]
    for (const [index, here] of heres.entries()) {
      const [head, ...rest] = this.#wanted(here)
      if (!head) continue
      this.tally.tiles++
      const there = theres[index]
      const holdsOn = extensionOf(head, there.head, this.options)
      if (holdsOn) extensions.push(holdsOn)
      for (const doc of [head, ...rest]) {
        if (stands(doc, there)) this.tally.unchanged++
        else (doc === head ? heads : pasts).push(doc)
      }
    }
    if (dryRun) {
      this.#wouldCopy([...heads, ...pasts])
      return this.tally
    }
    if (extensions.length) this.tally.extended += (await extendHeads(this.target, extensions, { signal })).extended.size
    // a head never comes to stand before what is past of it
    for (const [docs, isHead] of /** @type {[any[], boolean][]} */ ([[heads, true], [pasts, false]])) {
      for await (const some of batchesOf(docs, { most: limits.batch, bytes: limits.bytes, sizeOf })) await this.#write(some, isHead)
    }
    return this.tally
  }

  /** The newest version that is wanted, then the others. @param {StoredTile} tile */
  #wanted ({ head, pasts }) {
    const { time, history } = this.options
    // a copy that a load has made of its head is the same version
    const all = [...pasts.filter(doc => !head || !isSameVersion(doc, head)), ...(head ? [head] : [])].sort((a, b) => a.time < b.time ? -1 : 1)
    const wanted = time === undefined ? all : all.filter(doc => doc.time <= time)
    const newest = wanted.pop()
    if (!newest || (!history && shownBy(newest) === null)) return []
    return [newest, ...(history ? wanted : [])]
  }

  #wouldCopy (docs) {
    this.tally.versions += docs.length
    for (const doc of docs) this.tally.bytes += sizeOf(doc)
  }

  async #write (seen, isHead) {
    const { to, time, exactly, signal } = this.options
    const rows = await this.source.docs(seen.map(({ _id }) => _id), { attachments: true, signal })
    const tiles = []
    for (const [index, { doc }] of rows.entries()) {
      // whoever wrote it meanwhile: the next pass finds where it is now
      if (!doc || !isSameVersion(doc, seen[index])) this.tally.moved++
      else tiles.push(tileOf(doc, to, isHead && time !== undefined))
    }
    if (!tiles.length) return
    if (isHead || !exactly) await this.batch.store(tiles)
    else await this.#writePast(tiles)
  }

  /** The past as it is: nothing to decide, the newer head stands. */
  async #writePast (tiles) {
    const docs = tiles.map(tile => tileDocument(tile, { current: false, stored: '' }))
    const results = await this.target.send(docs, this.options.signal)
    const byId = new Map(results.map(result => [result.id, result]))
    for (const [index, tile] of tiles.entries()) {
      const { ok, error, reason } = byId.get(docs[index]._id) ?? { error: 'no answer' }
      if (ok) this.#report(tile, 'backfill')
      else if (isRefusal(error)) this.#report(tile, new TilecouchError('REFUSED', { id: docs[index]._id, reason: reason || error }))
      else this.tally.moved++ // somebody else wrote it: the next pass compares
    }
  }

  #report (tile, outcome) {
    const { tally } = this
    if (outcome instanceof TilecouchError) tally.fail(tile.id, outcome)
    else if (outcome === 'unchanged') tally.unchanged++
    else {
      tally.versions++
      tally.bytes += tile.bytes?.length ?? 0
    }
  }
}

/** Whether a version stands in a tile. @param {any} doc @param {StoredTile} there */
export const stands = (doc, { head, pasts }) => [head, ...pasts].some(other => other && isSameVersion(doc, other))

const sizeOf = doc => doc._attachments?.tile?.length ?? 0

/** A version that is to be written, with every field it has. @param {any} doc with bytes @param {string} layer @param {boolean} isStill it does not expire */
function tileOf (doc, layer, isStill) {
  const { type: _, layer: __, z, x, y, current, time, stored, expires, origin, gone, ...others } = fieldsOf(doc)
  const image = doc._attachments?.tile
  const tile = new Tile({ layer, z, x, y, time, origin, type: image?.content_type, bytes: image?.data, ...(!isStill && { expires }) })
  return Object.assign(tile, { stored, others })
}

/** What makes the head of the copy hold as long as the one it is a copy of. */
export function extensionOf (head, there, { time } = /** @type {{time?: string}} */ ({})) {
  if (time !== undefined || !there || !isSameVersion(head, there) || (head.expires ?? '') <= (there.expires ?? '')) return undefined
  return { id: there._id, rev: there._rev, expires: head.expires, ...(head.origin && { origin: head.origin }) }
}
