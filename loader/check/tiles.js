// Puts tiles right, a few at once. Each is read anew with all that is said of its past, and what is written destroys nothing:
//
//   - a head is overwritten at the revision that was looked at
//   - a past version never changes, not even for admins. It is written anew beside the damaged leaf, as replicators write, and
//     when it stands there the damaged leaf is ended. A run that is killed in between leaves a conflict of the two; the next
//     one makes the very same revision again, and goes on
//   - what is out of order is put in order by what resolves conflicts
import { hash } from 'node:crypto'
import { isTileId, parseTileId } from '../../core/index.js'
import { batchesOf } from '../../core/batches.js'
import { imageAnew } from '../../core/store/documents.js'
import { peerOf } from '../mirror/peer.js'
import { canonical, fieldsOf, headOf, leafOf, tombstone, written } from '../resolve/content.js'
import { readLeaves, readTiles } from '../resolve/leaves.js'
import { resolveDefaults } from '../resolve/index.js'
import { settleAll, sharedDoorOf } from '../store/settle.js'
import { MENDABLE, mendDocument, wrongIn } from './document.js'
import { twice, wrongWith } from './state.js'

const ROUNDS = 6 // over a tile: what was put right shows what else is wrong

/**
 * @typedef {import('./state.js').State} State
 *
 * @typedef {object} Damaged what is known of bytes, which is not seen in documents
 * @property {Set<string>} types ids of documents whose content type is not that of their bytes
 * @property {Set<string>} bytes ids of documents whose bytes are damaged
 */

export class TileMender {
  /** Ids of documents that say what their bytes say: written anew, or right when they were looked at. @type {Set<string>} */
  settled = new Set()
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
    this.door = sharedDoorOf(store.couch)
  }

  /**
   * @param {string[]} ids of heads
   * @param {Damaged} damaged
   * @returns {Promise<Set<string>>} what is wrong with them still, as `code id`
   */
  async mend (ids, damaged) {
    this.settled.clear()
    for (let round = 0; round < ROUNDS; round++) {
      const before = this.#done
      await this.#documents(await this.#read(ids), damaged)
      await this.#settle(ids)
      await this.#versions(await this.#read(ids))
      if (this.#done === before) break
    }
    return wrongWith(await this.#read(ids))
  }

  get #done () {
    return this.#writes
  }

  /** What is out of order is put in order by what settles tiles. @param {string[]} ids of heads */
  async #settle (ids) {
    for (const layer of new Set(ids.map(id => parseTileId(id).layer))) {
      await settleAll(this.couch, layer, ids.filter(id => parseTileId(id).layer === layer), {
        door: this.door,
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
    return readTiles(this.couch, ids, this.signal)
  }

  /** Documents that do not say what their ids and bytes say. @param {State[]} states @param {Damaged} damaged */
  async #documents (states, { types, bytes }) {
    const leaves = states.flatMap(({ heads, pasts }) => [...heads, ...pasts]).filter(doc => isTileId(doc._id))
    const isWrong = doc => wrongIn(doc).some(([code]) => MENDABLE.has(code))
    const wanted = leaves.filter(doc => isWrong(doc) || ((types.has(doc._id) || bytes.has(doc._id)) && !this.settled.has(doc._id)))
    const { batch: most, bytes: size } = resolveDefaults
    for await (const lot of batchesOf(wanted, { most, bytes: size, sizeOf: lengthOf })) {
      const heads = []
      const pasts = []
      for (const { old, doc } of await this.#mended(lot, bytes)) (old._id.includes('@') ? pasts : heads).push({ old, doc })
      await this.#overwrite(heads)
      await this.#replace(pasts)
    }
  }

  /** @returns {Promise<{old: any, doc: any}[]>} */
  async #mended (lot, damaged) {
    const sound = lot.filter(({ _id }) => !damaged.has(_id))
    const { docs } = await this.#fetch(sound)
    const found = new Map(docs.map(doc => [`${doc._id} ${doc._rev}`, doc]))
    const mended = []
    for (const old of sound) {
      const whole = found.get(`${old._id} ${old._rev}`)
      const doc = whole && mendDocument(whole)
      if (doc && isSame(whole, doc)) this.settled.add(old._id)
      else if (doc) mended.push({ old, doc })
    }
    return [...mended, ...await this.#replenished(lot.filter(({ _id }) => damaged.has(_id)))]
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
  async #replenished (lot) {
    if (!this.from || !lot.length) return []
    const rows = await this.from.couch.docs(lot.map(({ _id }) => _id), { attachments: true, signal: this.signal })
    return lot.flatMap((old, at) => {
      const [said, image] = [old._attachments?.tile, rows[at].doc?._attachments?.tile]
      const doc = image && mendDocument({ ...old, _attachments: { tile: image } })
      if (doc && said && doc._attachments.tile.digest === said.digest) return [{ old, doc }]
      this.onLeft(old._id, `its bytes are not at ${this.from?.url} either`)
      return []
    })
  }

  /** @param {{old: any, doc: any}[]} heads */
  async #overwrite (heads) {
    if (!heads.length) return
    const docs = heads.map(({ old, doc }) => ({ ...doc, ...imageAnew(doc), _rev: old._rev }))
    for (const { id, ok, error, reason } of await this.couch.write(docs, this.signal)) this.#told(id, ok && !error, error, reason)
  }

  #told (id, done, error, reason) {
    if (!done) return error === 'conflict' ? undefined : this.onLeft(id, reason || error)
    this.#writes++
    this.settled.add(id)
  }

  /** @param {{old: any, doc: any}[]} pasts */
  async #replace (pasts) {
    const places = await this.#stand(pasts)
    const ends = places.filter(({ rev, old }) => rev && rev !== old._rev).map(({ old }) => tombstone(old._id, old._rev))
    if (!ends.length) return
    const refused = new Map((await this.peer.write(ends, this.signal)).map(({ id, reason, error }) => [id, reason || error]))
    for (const { _id } of ends) this.#told(_id, !refused.has(_id), 'refused', refused.get(_id))
  }

  /**
   * Writes past versions at the beginning of a branch of their own, or on a branch that was ended.
   * @param {{old: any, doc: any}[]} pasts
   * @returns {Promise<{old: any, rev?: string}[]>} the revision that stands now, if it does
   */
  async #stand (pasts) {
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

  /** What is in order, document by document, and still is not one timeline. @param {State[]} states */
  async #versions (states) {
    const sound = states.filter(({ heads, pasts }) => [...heads, ...pasts].every(doc => !wrongIn(doc).length))
    await this.#behead(sound.filter(({ heads, pasts }) => !heads.length && pasts.length))
    const ends = sound.flatMap(twice)
    if (ends.length) {
      const refused = await this.peer.write(ends, this.signal)
      for (const { id, reason, error } of refused) this.onLeft(id, reason || error)
      this.#writes += ends.length - refused.length
    }
  }

  /** The newest past version becomes the head again; it stands in the past until the head does. @param {State[]} states */
  async #behead (states) {
    const { batch: most, bytes } = resolveDefaults
    const newest = states.map(({ pasts }) => pasts.map(leafOf).reduce((a, b) => b.time > a.time ? b : a).doc)
    for await (const lot of batchesOf(newest, { most, bytes, sizeOf: lengthOf })) {
      const { docs } = await this.#fetch(lot)
      const heads = docs.map(doc => {
        const { _id, ...head } = headOf(doc)
        return { _id, ...fieldsOf(head), ...imageAnew(doc) }
      })
      if (!heads.length) continue
      for (const { id, ok, error, reason } of await this.couch.write(heads, this.signal)) this.#told(id, ok && !error, error, reason)
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
