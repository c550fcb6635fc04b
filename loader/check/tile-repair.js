// Repairs tiles, a few at a time. Each is read again with its whole past, and a write never destroys anything:
//
//   - a head is overwritten at the revision that was looked at
//   - a past version never changes, not even for admins. It is written again beside the damaged leaf, as replicators write,
//     and then the damaged leaf is deleted. A run that is killed in between leaves a conflict of the two; the next one makes
//     the same revision again, and goes on
//   - tiles whose versions are out of order are settled, as when conflicts are resolved
import { hash } from 'node:crypto'
import { batchesOf } from '../../core/batches.js'
import { TILE_ATTACHMENT, inspectTile, isTileId, parsePeriod, parseTileId } from '../../core/index.js'
import { imageAnew } from '../../core/store/documents.js'
import { readTileLeaves } from '../../core/store/leaves.js'
import { peerOf } from '../mirror/peer.js'
import { canonical, fieldsOf, headOf, leafOf, tombstone, written, readLeaves } from '../store/revisions.js'
import { settleAll, deterministicAccess } from '../store/settle.js'
import { digestOf } from '../store/tile.js'
import { plainBytes } from './bytes.js'
import { twice, wrongIn, wrongWith } from './tile.js'

const ROUNDS = 6 // over a tile: one repair may uncover another fault
const REQUEST = { most: 200, bytes: 4 * 1024 * 1024 } // documents, and bytes of tiles

/**
 * @typedef {import('./tile.js').State} State
 *
 * @typedef {object} Damaged what is known of bytes, which is not seen in documents
 * @property {Set<string>} types ids of documents whose content type is not that of their bytes
 * @property {Set<string>} bytes ids of documents whose bytes are damaged
 */

export class TileRepair {
  /** Ids of documents that now agree with their bytes. @type {Set<string>} */
  repaired = new Set()
  #writes = 0

  /**
   * @param {import('../store/index.js').Store} store
   * @param {object} options
   * @param {AbortSignal} [options.signal]
   * @param {import('../store/index.js').Store} [options.from] where bytes are taken from that are damaged here
   * @param {(id: string, reason: string) => void} options.onLeft
   */
  constructor (store, { signal, from, onLeft }) {
    this.store = store
    this.couch = store.couch
    this.signal = signal
    this.from = from
    this.onLeft = onLeft
    this.peer = peerOf(store.couch)
    this.access = deterministicAccess(store.couch)
  }

  /**
   * @param {string[]} ids of heads
   * @param {Damaged} damaged
   * @returns {Promise<Set<string>>} faults that remain, as `code id`
   */
  async repair (ids, damaged) {
    this.repaired.clear()
    for (let round = 0; round < ROUNDS; round++) {
      const before = this.#writes
      await this.#documents(await this.#read(ids), damaged)
      await this.#settle(ids)
      await this.#versions(await this.#read(ids))
      if (this.#writes === before) break
    }
    return wrongWith(await this.#read(ids))
  }

  /** Settles tiles whose versions are out of order. @param {string[]} ids of heads */
  async #settle (ids) {
    for (const layer of new Set(ids.map(id => parseTileId(id).layer))) {
      await settleAll(this.couch, layer, ids.filter(id => parseTileId(id).layer === layer), {
        access: this.access,
        signal: this.signal,
        onSettled: settled => {
          for (const [id, { done, error, odd }] of settled) {
            this.#writes += done.length
            if (error && !odd) this.onLeft(id, error.message)
          }
        }
      })
    }
  }

  #read (ids) {
    return readTileLeaves(this.couch, ids, this.signal)
  }

  /** Documents that do not say what their ids and bytes say. @param {State[]} states @param {Damaged} damaged */
  async #documents (states, { types, bytes }) {
    const leaves = states.flatMap(({ heads, pasts }) => [...heads, ...pasts]).filter(doc => isTileId(doc._id))
    const isWrong = doc => wrongIn(doc).some(([code]) => REPAIRABLE.has(code))
    const wanted = leaves.filter(doc => isWrong(doc) || ((types.has(doc._id) || bytes.has(doc._id)) && !this.repaired.has(doc._id)))
    const { most, bytes: size } = REQUEST
    for await (const batch of batchesOf(wanted, { most, bytes: size, sizeOf: lengthOf })) {
      const heads = []
      const pasts = []
      for (const { old, doc } of await this.#corrected(batch, bytes)) (old._id.includes('@') ? pasts : heads).push({ old, doc })
      await this.#overwrite(heads)
      await this.#replace(pasts)
    }
  }

  /** @returns {Promise<{old: any, doc: any}[]>} */
  async #corrected (batch, damaged) {
    const sound = batch.filter(({ _id }) => !damaged.has(_id))
    const { docs } = await this.#fetch(sound)
    const found = new Map(docs.map(doc => [`${doc._id} ${doc._rev}`, doc]))
    const corrected = []
    for (const old of sound) {
      const whole = found.get(`${old._id} ${old._rev}`)
      const doc = whole && repairDocument(whole)
      if (doc && isSame(whole, doc)) this.repaired.add(old._id)
      else if (doc) corrected.push({ old, doc })
    }
    return [...corrected, ...await this.#fromMirror(batch.filter(({ _id }) => damaged.has(_id)))]
  }

  /** One document whose bytes cannot be read does not cost the others. */
  async #fetch (docs) {
    if (!docs.length) return { docs: [] }
    const asked = docs.map(({ _id: id, _rev: rev }) => ({ id, rev }))
    try {
      return await this.peer.fetch(asked, { signal: this.signal })
    } catch (error) {
      if (error.code !== 'BAD_ANSWER' && error.code !== 'COUCHDB_ERROR') throw error
      const found = []
      for (const one of docs.length > 1 ? asked : []) {
        const { docs: [doc] = [] } = await this.peer.fetch([one], { signal: this.signal }).catch(reason => {
          if (this.signal?.aborted) throw reason
          return { docs: [] }
        })
        if (doc) found.push(doc)
      }
      return { docs: found }
    }
  }

  /** Bytes from elsewhere, where they are what the document here says of them. @returns {Promise<{old: any, doc: any}[]>} */
  async #fromMirror (batch) {
    if (!this.from || !batch.length) return []
    const rows = await this.from.couch.docs(batch.map(({ _id }) => _id), { attachments: true, signal: this.signal })
    return batch.flatMap((old, at) => {
      const [said, image] = [old._attachments?.tile, rows[at].doc?._attachments?.tile]
      const doc = image && repairDocument({ ...old, _attachments: { tile: image } })
      if (doc && said && doc._attachments.tile.digest === said.digest) return [{ old, doc }]
      this.onLeft(old._id, `its bytes are not at ${this.from?.url} either`)
      return []
    })
  }

  /** @param {{old: any, doc: any}[]} heads */
  async #overwrite (heads) {
    if (!heads.length) return
    const docs = heads.map(({ old, doc }) => ({ ...doc, ...imageAnew(doc), _rev: old._rev }))
    for (const { id, ok, error, reason } of await this.couch.write(docs, this.signal)) this.#count(id, ok && !error, error, reason)
  }

  #count (id, done, error, reason) {
    if (!done) {
      if (error !== 'conflict') this.onLeft(id, reason || error)
      return
    }
    this.#writes++
    this.repaired.add(id)
  }

  /** @param {{old: any, doc: any}[]} pasts */
  async #replace (pasts) {
    const places = await this.#writePasts(pasts)
    const ends = places.filter(({ rev, old }) => rev && rev !== old._rev).map(({ old }) => tombstone(old._id, old._rev))
    if (!ends.length) return
    const refused = new Map((await this.peer.write(ends, this.signal)).map(({ id, reason, error }) => [id, reason || error]))
    for (const { _id } of ends) this.#count(_id, !refused.has(_id), 'refused', refused.get(_id))
  }

  /**
   * Writes past versions at the beginning of a branch of their own, or on a branch that was ended.
   * @param {{old: any, doc: any}[]} pasts
   * @returns {Promise<{old: any, rev?: string}[]>} the revision that stands now, if it does
   */
  async #writePasts (pasts) {
    if (!pasts.length) return []
    const leaves = await readLeaves(this.couch, pasts.map(({ old }) => old._id), this.signal)
    const docs = pasts.map(({ old, doc }) => {
      const first = written(doc)
      const isTaken = first._rev === old._rev || leaves.get(old._id)?.ended.some(({ _rev }) => isUnder(_rev, first))
      return isTaken ? written(doc, beginningFor(old._rev)) : first
    })
    for (const { id, reason, error } of await this.peer.write(docs, this.signal)) this.onLeft(id, reason || error)
    const now = await readLeaves(this.couch, docs.map(({ _id }) => _id), this.signal)
    return pasts.map(({ old }, at) => {
      const rev = docs[at]._rev
      return { old, rev: now.get(old._id)?.living.some(({ _rev }) => _rev === rev) ? rev : undefined }
    })
  }

  /** Tiles whose documents are valid, but do not make one timeline. @param {State[]} states */
  async #versions (states) {
    const sound = states.filter(({ heads, pasts }) => [...heads, ...pasts].every(doc => !wrongIn(doc).length))
    await this.#makeHeads(sound.filter(({ heads, pasts }) => !heads.length && pasts.length))
    const ends = sound.flatMap(twice)
    if (ends.length) {
      const refused = await this.peer.write(ends, this.signal)
      for (const { id, reason, error } of refused) this.onLeft(id, reason || error)
      this.#writes += ends.length - refused.length
    }
  }

  /** The newest past version becomes the head again; it stands in the past until the head does. @param {State[]} states */
  async #makeHeads (states) {
    const { most, bytes } = REQUEST
    const newest = states.map(({ pasts }) => pasts.map(leafOf).reduce((a, b) => b.time > a.time ? b : a).doc)
    for await (const batch of batchesOf(newest, { most, bytes, sizeOf: lengthOf })) {
      const { docs } = await this.#fetch(batch)
      const heads = docs.map(doc => {
        const { _id, ...head } = headOf(doc)
        return { _id, ...fieldsOf(head), ...imageAnew(doc) }
      })
      if (!heads.length) continue
      for (const { id, ok, error, reason } of await this.couch.write(heads, this.signal)) this.#count(id, ok && !error, error, reason)
    }
  }
}

const lengthOf = doc => doc._attachments?.tile?.length ?? 0

const outline = doc => canonical([fieldsOf(doc), Object.entries(doc._attachments ?? {}).map(([name, { content_type: type }]) => [name, type])])

const isSame = (a, b) => outline(a) === outline(b)

/** Whether a revision continues the branch that a document begins. */
const isUnder = (rev, { _rev }) => rev === _rev || rev === tombstone('', _rev)._rev

/** Where a branch begins that is made in place of a revision: it is nobody's, so that nothing is changed. @param {string} rev */
const beginningFor = rev => `1-${hash('md5', `in place of ${rev}`)}`


const TIMES = ['stored', 'expires', 'contested']

/** Faults of a document that repairDocument() corrects where it can. */
export const REPAIRABLE = new Set(['fields-disagree', 'wrong-current', 'time-disagrees', 'bad-time', 'stray-attachment', 'no-bytes', 'not-a-tile'])

/**
 * A tile document as it should be: its id and its bytes count more than its fields. The result follows from the document
 * alone, so that two mirrors that repair the same damage make the same document.
 * @param {any} doc with bytes, of a tile's id
 * @returns {any} nothing when it cannot be repaired as a whole
 */
export function repairDocument (doc) {
  const { layer, z, x, y, time } = parseTileId(doc._id)
  if (doc.type !== undefined && doc.type !== 'tile') return undefined // somebody else's
  const fields = fieldsOf(doc)
  for (const field of TIMES) if (fields[field] !== undefined) fields[field] = secondOf(fields[field])
  const image = imageOf(doc)
  const made = {
    _id: doc._id, ...fields, type: 'tile', layer, z, x, y, current: time === undefined, time: time ?? secondOf(doc.time),
    ...(image && { _attachments: { [TILE_ATTACHMENT]: image } })
  }
  return wrongIn(made).length ? undefined : made
}

/** A time that was written another way, but says one second. */
function secondOf (text) {
  try {
    const { start, exact } = parsePeriod(text)
    return exact ? start : text
  } catch {
    return text
  }
}

/** The attachment that is the tile, by its name or by being the only one that can be. */
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
