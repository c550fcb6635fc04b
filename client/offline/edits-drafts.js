// Versions on their way into the database of what was made here, which is a tile store as any other: the newest version that
// was made of a tile is its head, unless an area has a newer one, and the older ones are its past. One write changes all
// documents of a tile together, so that a page may be killed at any moment.
import { TilecouchError } from '../../core/index.js'
import { pastOf, tileDocument } from '../../core/store/documents.js'
import { PouchPeer } from '../mirror/pouch-peer.js'

const ATTEMPTS = 8 // rounds of conflict with other tabs before a tile is given up as contended

/**
 * @typedef {import('./edits-known.js').Known} Known
 * @typedef {import('../../core/ids.js').TileAddress & {id: string, time: string}} Place id: of the head
 * @typedef {Place & {stored: string, type?: string, bytes?: string}} Draft bytes: as base64; none when gone
 * @typedef {{head?: any, past: any[]}} Own documents of a tile
 */

export class Drafts {
  #db
  #peer
  #known

  /** @param {any} db a PouchDB @param {(places: Place[]) => Promise<Known[]>} known what areas have of these tiles */
  constructor (db, known) {
    this.#db = db
    this.#peer = new PouchPeer(db)
    this.#known = known
  }

  /**
   * @param {Draft[]} drafts of different tiles
   * @returns {Promise<(TilecouchError | undefined)[]>} what was wrong with each
   */
  async write (drafts) {
    const known = await this.#known(drafts)
    return this.#settle(drafts, async (draft, own) => this.#writing(draft, own, known[drafts.indexOf(draft)]))
  }

  /**
   * Takes versions away. The newest of what is left of a tile becomes the head.
   * @param {Place[]} places of different tiles
   * @param {(doc: any) => boolean} [only] those whose document is still like this
   */
  async drop (places, only = () => true) {
    const known = await this.#known(places)
    return this.#settle(places, async (place, own) => this.#dropping(place, own, known[places.indexOf(place)], only))
  }

  /**
   * Decides and writes until no other tab comes between.
   * @template {Place} T
   * @param {T[]} drafts @param {(draft: T, own: Own) => Promise<any[] | TilecouchError>} decide what is to be written
   */
  async #settle (drafts, decide) {
    const problems = new Map()
    let pending = drafts
    for (let attempt = 1; pending.length; attempt++) {
      const own = await this.#own(pending)
      const work = await Promise.all(pending.map(async draft => ({ draft, docs: await decide(draft, /** @type {Own} */ (own.get(draft.id))) })))
      for (const { draft, docs } of work) if (docs instanceof Error) problems.set(draft, docs)
      const writing = work.filter(({ docs }) => Array.isArray(docs) && docs.length)
      const failed = await this.#bulk(writing.flatMap(({ docs }) => /** @type {any[]} */ (docs)))
      pending = writing.filter(({ docs }) => /** @type {any[]} */ (docs).some(({ _id: id }) => failed.has(id))).map(({ draft }) => draft)
      if (attempt >= ATTEMPTS) for (const draft of pending.splice(0)) problems.set(draft, new TilecouchError('CONTENDED', { id: draft.id, attempts: attempt }))
    }
    return drafts.map(draft => problems.get(draft))
  }

  /** Every document of each tile, oldest version first. @param {Place[]} drafts @returns {Promise<Map<string, Own>>} */
  async #own (drafts) {
    const heads = await this.#docs(drafts.map(({ id }) => id))
    return new Map(await Promise.all(drafts.map(async ({ id }, at) => {
      const { rows } = await this.#ask(() => this.#db.allDocs({ startkey: `${id}@`, endkey: `${id}@~`, include_docs: true }))
      return /** @type {const} */ ([id, { head: heads[at], past: rows.map(({ doc }) => doc) }])
    })))
  }

  /** @param {Draft} draft @param {Own} own @param {Known} known */
  async #writing (draft, own, known) {
    const taken = new TilecouchError('VERSION_TAKEN', { id: draft.id, time: draft.time })
    if (known.same && !await known.same(draft)) return taken
    const before = own.head?.time === draft.time ? own.head : own.past.find(({ time }) => time === draft.time)
    if (before?.upload?.to) return await this.#isSame(before, draft) ? [] : taken
    const { head } = own
    const current = before ? before.current : head ? draft.time > head.time : !known.newest || draft.time > known.newest
    const rev = before?._rev ?? (current && head?._rev)
    const doc = { ...tileDocument(draft, { current, stored: draft.stored }), ...(rev && { _rev: rev }) }
    return current && head && !before ? [await this.#moved(head, own), doc] : [doc]
  }

  /** @param {Place} place @param {Own} own @param {Known} known @param {(doc: any) => boolean} only */
  async #dropping ({ time }, own, known, only) {
    const wanted = [own.head, ...own.past].filter(doc => doc?.time === time && only(doc))
    if (!wanted.includes(own.head)) return wanted.map(ended)
    const next = own.past.filter(doc => !wanted.includes(doc)).pop()
    const past = wanted.filter(doc => doc !== own.head).map(ended)
    if (!next || (known.newest && known.newest > next.time)) return [...past, ended(own.head)]
    const { _attachments, _rev, ...fields } = await this.#whole(next)
    const head = { ...fields, _id: own.head._id, _rev: own.head._rev, current: true, ...(_attachments && { _attachments: fresh(_attachments) }) }
    return [...past, ended(next), head]
  }

  /** The head as a past version, in place of a copy that another tab may have left. @param {any} head @param {Own} own */
  async #moved (head, own) {
    const stands = own.past.find(({ time }) => time === head.time)
    return { ...pastOf(await this.#whole(head)), ...(stands && { _rev: stands._rev }) }
  }

  async #isSame (doc, draft) {
    if (!doc._attachments || !draft.bytes) return !doc._attachments === !draft.bytes
    return (await this.#whole(doc))._attachments.tile.data === draft.bytes
  }

  /** With the image. */
  #whole (doc) {
    return this.#ask(() => this.#db.get(doc._id, { rev: doc._rev, attachments: true }))
  }

  /** @param {string[]} ids @returns {Promise<any[]>} in their order, nothing where there is none */
  async #docs (ids) {
    const { rows } = await this.#ask(() => this.#db.allDocs({ keys: ids, include_docs: true }))
    return rows.map(({ doc }) => doc ?? undefined)
  }

  /** @returns {Promise<Set<string>>} ids of those that somebody else wrote meanwhile */
  async #bulk (docs) {
    if (!docs.length) return new Set()
    const results = await this.#ask(() => this.#db.bulkDocs(docs))
    const failed = results.map((result, at) => ({ ...result, id: docs[at]._id })).filter(({ error }) => error)
    const trouble = failed.find(({ status }) => status !== 409)
    if (trouble) throw this.#peer.explain(trouble)
    return new Set(failed.map(({ id }) => id))
  }

  async #ask (question) {
    try {
      return await question()
    } catch (error) {
      throw this.#peer.explain(error)
    }
  }
}

const ended = ({ _id, _rev }) => ({ _id, _rev, _deleted: true })

/** Attachments with their bytes, as those of another document. */
const fresh = attachments => Object.fromEntries(Object.entries(attachments).map(([name, { content_type: type, data }]) => [name, { content_type: type, data }]))
