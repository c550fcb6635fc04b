// Repairs tiles, a few at a time. Each is read again with its whole past, and a write never destroys anything:
//
//   - a head is overwritten at the revision that was checked
//   - a past version never changes, not even for admins. It is written again beside the damaged leaf, as replicators
//     do; then the damaged leaf is deleted. A run that is killed in between leaves a conflict; the next run makes the
//     same revision again, and goes on
//   - tiles whose versions are out of order are settled, as when conflicts are resolved
import { hash } from 'node:crypto'
import { batchesOf } from '../../core/batches.js'
import { byLayer } from '../../core/ids.js'
import { TILE_ATTACHMENT, inspectTile, isTileId, parsePeriod, parseTileId } from '../../core/index.js'
import { imageAnew } from '../../core/store/documents.js'
import { readTileLeaves } from '../../core/store/leaves.js'
import { peerOf } from '../mirror/peer.js'
import { canonical, fieldsOf, headOf, leafOf, tombstone, written, readLeaves } from '../store/revisions.js'
import { settleAll, deterministicAccess } from '../store/settle.js'
import { digestOf } from '../store/tile.js'
import { plainBytes } from './bytes.js'
import { TIMES, endTwins, faultsIn, faultsOf } from './tile.js'

const ROUNDS = 6 // over a tile: one repair may uncover another fault
const REQUEST = { most: 200, bytes: 4 * 1024 * 1024, sizeOf: doc => doc._attachments?.tile?.length ?? 0 }

/** Faults of a document that `correct` can repair. */
const REPAIRABLE = new Set([
  'fields-disagree', 'wrong-current', 'time-disagrees', 'bad-time', 'stray-attachment', 'no-bytes', 'not-a-tile'
])

/**
 * @typedef {import('./tile.js').Leaves} Leaves
 * @typedef {{old: any, doc: any}} Correction
 */

export class TileRepair {
  /** Ids of documents that now agree with their bytes. @type {Set<string>} */
  repaired = new Set()
  #writes = 0

  /**
   * @param {import('../store/index.js').Store} store
   * @param {object} options
   * @param {AbortSignal} [options.signal]
   * @param {import('../store/index.js').Store} [options.from] a mirror, from which damaged bytes are replaced
   * @param {(id: string, reason: string) => void} options.onLeft
   */
  constructor (store, { signal, from, onLeft }) {
    this.couch = store.couch
    this.signal = signal
    this.from = from
    this.onLeft = onLeft
    this.peer = peerOf(store.couch)
    this.access = deterministicAccess(store.couch)
  }

  /**
   * @param {string[]} ids of heads
   * @param {{types: Set<string>, bytes: Set<string>}} damaged ids of documents whose content type, or whose bytes are
   * wrong
   * @returns {Promise<Set<string>>} faults that remain, as `code id`
   */
  async repair (ids, damaged) {
    this.repaired.clear()
    for (let round = 0; round < ROUNDS; round++) {
      const before = this.#writes
      await this.#repairDocuments(await this.#read(ids), damaged)
      await this.#settle(ids)
      await this.#repairVersions(await this.#read(ids))
      if (this.#writes === before) break
    }
    return faultsIn(await this.#read(ids))
  }

  /** Settles tiles whose versions are out of order. @param {string[]} ids of heads */
  async #settle (ids) {
    const { couch, access, signal } = this
    const options = { access, signal, onSettled: this.#count }
    for (const [layer, own] of byLayer(ids)) await settleAll(couch, layer, own, options)
  }

  /** @param {Map<string, import('../../core/store/settle.js').Settled>} settled */
  #count = settled => {
    for (const [id, { done, error, odd }] of settled) {
      this.#writes += done.length
      if (error && !odd) this.onLeft(id, error.message)
    }
  }

  #read (ids) {
    return readTileLeaves(this.couch, ids, this.signal)
  }

  /** Repairs documents that do not match their ids or bytes. @param {Leaves[]} tiles */
  async #repairDocuments (tiles, { types, bytes }) {
    const leaves = tiles.flatMap(({ heads, pasts }) => [...heads, ...pasts]).filter(doc => isTileId(doc._id))
    const isWrong = doc => faultsOf(doc).some(([code]) => REPAIRABLE.has(code))
    const isDamaged = ({ _id: id }) => (types.has(id) || bytes.has(id)) && !this.repaired.has(id)
    for await (const batch of batchesOf(leaves.filter(doc => isWrong(doc) || isDamaged(doc)), REQUEST)) {
      const corrections = await this.#correct(batch, bytes)
      const isPast = ({ old }) => old._id.includes('@')
      await this.#overwrite(corrections.filter(one => !isPast(one)))
      await this.#replace(corrections.filter(isPast))
    }
  }

  /** @returns {Promise<Correction[]>} */
  async #correct (batch, damaged) {
    const sound = batch.filter(({ _id }) => !damaged.has(_id))
    const docs = await this.#fetch(sound)
    const found = new Map(docs.map(doc => [`${doc._id} ${doc._rev}`, doc]))
    const corrections = []
    for (const old of sound) {
      const complete = found.get(`${old._id} ${old._rev}`)
      const doc = complete && correct(complete)
      if (doc && isSame(complete, doc)) this.repaired.add(old._id)
      else if (doc) corrections.push({ old, doc })
    }
    return [...corrections, ...await this.#takeFromMirror(batch.filter(({ _id }) => damaged.has(_id)))]
  }

  /** Documents with their bytes. One that cannot be read does not affect the others. @returns {Promise<any[]>} */
  async #fetch (docs) {
    if (!docs.length) return []
    const asked = docs.map(({ _id: id, _rev: rev }) => ({ id, rev }))
    const { peer, signal } = this
    try {
      return (await peer.fetch(asked, { signal })).docs
    } catch (error) {
      if (error.code !== 'BAD_ANSWER' && error.code !== 'COUCHDB_ERROR') throw error
      const found = []
      for (const one of docs.length > 1 ? asked : []) {
        const { docs: own } = await peer.fetch([one], { signal }).catch(reason => {
          if (signal?.aborted) throw reason
          return { docs: [] }
        })
        found.push(...own)
      }
      return found
    }
  }

  /** Takes bytes from the mirror if they match the document here. @returns {Promise<Correction[]>} */
  async #takeFromMirror (batch) {
    if (!this.from || !batch.length) return []
    const rows = await this.from.couch.docs(batch.map(({ _id }) => _id), { attachments: true, signal: this.signal })
    return batch.flatMap((old, at) => {
      const [own, image] = [old._attachments?.tile, rows[at].doc?._attachments?.tile]
      const doc = image && correct({ ...old, _attachments: { tile: image } })
      if (doc && own && doc._attachments.tile.digest === own.digest) return [{ old, doc }]
      this.onLeft(old._id, `its bytes are not at ${this.from?.url} either`)
      return []
    })
  }

  /** @param {Correction[]} heads */
  async #overwrite (heads) {
    await this.#writeHeads(heads.map(({ old, doc }) => ({ ...doc, ...imageAnew(doc), _rev: old._rev })))
  }

  async #writeHeads (docs) {
    if (!docs.length) return
    for (const { id, ok, error, reason } of await this.couch.write(docs, this.signal)) {
      if (ok && !error) this.#noteWrite(id)
      else if (error !== 'conflict') this.onLeft(id, reason || error || '')
    }
  }

  #noteWrite (id) {
    this.#writes++
    this.repaired.add(id)
  }

  /** Writes revisions as a replicator does. @returns {Promise<Set<string>>} ids of those that were refused */
  async #replicate (docs) {
    const refused = docs.length ? await this.peer.write(docs, this.signal) : []
    for (const { id, reason, error } of refused) this.onLeft(id, reason || error)
    return new Set(refused.map(({ id }) => id))
  }

  /** @param {Correction[]} pasts */
  async #replace (pasts) {
    const places = await this.#writePasts(pasts)
    const replaced = places.filter(({ rev, old }) => rev && rev !== old._rev)
    const ends = replaced.map(({ old }) => tombstone(old._id, old._rev))
    const refused = await this.#replicate(ends)
    for (const { _id } of ends) if (!refused.has(_id)) this.#noteWrite(_id)
  }

  /**
   * Writes past versions at the beginning of a branch of their own, or on a branch that was ended.
   * @param {Correction[]} pasts
   * @returns {Promise<{old: any, rev?: string}[]>} rev: of the new leaf, if it is there
   */
  async #writePasts (pasts) {
    if (!pasts.length) return []
    const leaves = await readLeaves(this.couch, pasts.map(({ old }) => old._id), this.signal)
    const docs = pasts.map(({ old, doc }) => {
      const first = written(doc)
      const isTaken = first._rev === old._rev || leaves.get(old._id)?.ended.some(({ _rev }) => isUnder(_rev, first))
      return isTaken ? written(doc, beginningFor(old._rev)) : first
    })
    await this.#replicate(docs)
    const now = await readLeaves(this.couch, docs.map(({ _id }) => _id), this.signal)
    return pasts.map(({ old }, at) => {
      const rev = docs[at]._rev
      return { old, rev: now.get(old._id)?.living.some(({ _rev }) => _rev === rev) ? rev : undefined }
    })
  }

  /** Repairs tiles whose documents are valid, but do not make one timeline. @param {Leaves[]} tiles */
  async #repairVersions (tiles) {
    const sound = tiles.filter(({ heads, pasts }) => [...heads, ...pasts].every(doc => !faultsOf(doc).length))
    await this.#makeHeads(sound.filter(({ heads, pasts }) => !heads.length && pasts.length))
    const ends = sound.flatMap(endTwins)
    this.#writes += ends.length - (await this.#replicate(ends)).size
  }

  /** The newest past version becomes the head again; it stays in the past until then. @param {Leaves[]} tiles */
  async #makeHeads (tiles) {
    const newest = tiles.map(({ pasts }) => pasts.map(leafOf).reduce((a, b) => b.time > a.time ? b : a).doc)
    for await (const batch of batchesOf(newest, REQUEST)) {
      await this.#writeHeads((await this.#fetch(batch)).map(doc => {
        const { _id, ...head } = headOf(doc)
        return { _id, ...fieldsOf(head), ...imageAnew(doc) }
      }))
    }
  }
}

const outline = doc => {
  const attachments = Object.entries(doc._attachments ?? {})
  return canonical([fieldsOf(doc), attachments.map(([name, { content_type: type }]) => [name, type])])
}

const isSame = (a, b) => outline(a) === outline(b)

/** Whether a revision continues the branch that a document begins. */
const isUnder = (rev, { _rev }) => rev === _rev || rev === tombstone('', _rev)._rev

/** An unused revision, where the branch begins that replaces a revision. @param {string} rev */
const beginningFor = rev => `1-${hash('md5', `in place of ${rev}`)}`

/**
 * A tile document as it should be: its id and bytes count more than its fields. The result follows from the document
 * alone, so that two mirrors that repair the same damage make the same document.
 * @param {any} doc with bytes, and with the id of a tile
 * @returns {any} nothing if it cannot be corrected completely
 */
function correct (doc) {
  const { layer, z, x, y, time } = parseTileId(doc._id)
  if (doc.type !== undefined && doc.type !== 'tile') return undefined // of another program
  const fields = fieldsOf(doc)
  for (const field of TIMES) if (fields[field] !== undefined) fields[field] = exactTimeOf(fields[field])
  const image = imageOf(doc)
  const made = {
    _id: doc._id,
    ...fields,
    ...{ type: 'tile', layer, z, x, y, current: time === undefined, time: time ?? exactTimeOf(doc.time) },
    ...(image && { _attachments: { [TILE_ATTACHMENT]: image } })
  }
  return faultsOf(made).length ? undefined : made
}

/** A time that was written in another form, if it names one second. */
function exactTimeOf (text) {
  try {
    const { start, exact } = parsePeriod(text)
    return exact ? start : text
  } catch {
    return text
  }
}

/** The attachment that is the tile: by its name, or because it is the only one that can be. */
function imageOf ({ gone, _attachments: attachments = {} }) {
  const [only, ...others] = Object.values(attachments)
  const own = attachments[TILE_ATTACHMENT]
  if (!own && (!only || others.length || gone === true)) return undefined
  const data = plainBytes(own ?? only)
  const type = typeOf(data)
  if (!type && !own) return undefined
  return { content_type: type ?? own.content_type, data, digest: digestOf(data) }
}

function typeOf (bytes) {
  try {
    return inspectTile(bytes).type
  } catch {
    return undefined
  }
}
