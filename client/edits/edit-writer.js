// Writes edited versions into the database of edits. That database is a tile store like any other: the newest edited
// version of a tile is its head, unless an area has a newer one; older ones are its past. All documents of a tile
// change in one write, so that a page may be killed at any moment.
import { TilecouchError, headId, tileId, versionId } from '../../core/index.js'
import { pastOf, tileDocument } from '../../core/store/documents.js'
import { toBase64 } from '../mirror/digest.js'
import { PouchPeer } from '../mirror/pouch-peer.js'
import { DatabaseReader, versionOf } from '../offline/database-reader.js'

/** Another tab has written since, and a compaction has taken what was there. */
const REPLACED = Symbol('replaced')
const MAX_ATTEMPTS = 8 // rounds of conflict with other tabs before a tile is given up as contended

/**
 * @typedef {KnownVersion} Known
 * @typedef {import('../../core/ids.js').TileAddress & {id: string, time: string}} Place id: of the head
 * @typedef {Place & {stored: string, type?: string, bytes?: string}} EditedVersion bytes: as base64; none when gone
 * @typedef {{head?: any, past: any[]}} TileDocuments documents of a tile
 */

export class EditWriter {
  #db
  #peer
  #knownVersions

  /** @param {any} db a PouchDB @param {(places: Place[]) => Promise<Known[]>} known what areas have of these tiles */
  constructor (db, known) {
    this.#db = db
    this.#peer = new PouchPeer(db)
    this.#knownVersions = known
  }

  /**
   * @param {EditedVersion[]} drafts of different tiles
   * @returns {Promise<(TilecouchError | undefined)[]>} what was wrong with each
   */
  async write (drafts) {
    const known = await this.#knownVersions(drafts)
    return this.#settle(drafts, async (draft, own) => this.#writing(draft, own, known[drafts.indexOf(draft)]))
  }

  /**
   * Takes versions away. The newest of what is left of a tile becomes the head.
   * @param {Place[]} places of different tiles
   * @param {(doc: any) => boolean} [only] those whose document is still like this
   */
  async drop (places, only = () => true) {
    const known = await this.#knownVersions(places)
    return this.#settle(places, async (place, own) => this.#dropping(place, own, known[places.indexOf(place)], only))
  }

  /**
   * Decides and writes until no other tab comes between.
   * @template {Place} T
   * @param {T[]} drafts @param {(draft: T, own: TileDocuments) => Promise<any[] | TilecouchError>} decide what is to be
   *   written; may throw REPLACED
   */
  async #settle (drafts, decide) {
    const problems = new Map()
    let pending = drafts
    for (let attempt = 1; pending.length; attempt++) {
      const own = await this.#own(pending)
      const work = await Promise.all(pending.map(async draft => {
        const docs = await decide(draft, /** @type {TileDocuments} */ (own.get(draft.id))).catch(again)
        return { draft, docs }
      }))
      for (const { draft, docs } of work) if (docs instanceof Error) problems.set(draft, docs)
      const writing = work.filter(({ docs }) => Array.isArray(docs) && docs.length)
      const failed = await this.#bulk(writing.flatMap(({ docs }) => /** @type {any[]} */ (docs)))
      const isOpen = ({ docs }) =>
        docs === REPLACED || (Array.isArray(docs) && docs.some(({ _id: id }) => failed.has(id)))
      pending = work.filter(isOpen).map(({ draft }) => draft)
      if (attempt >= MAX_ATTEMPTS) for (const draft of pending.splice(0)) problems.set(draft, new TilecouchError('CONTENDED', { id: draft.id, attempts: attempt }))
    }
    return drafts.map(draft => problems.get(draft))
  }

  /**
   * Every document of each tile, oldest version first.
   * @param {Place[]} drafts
   * @returns {Promise<Map<string, TileDocuments>>}
   */
  async #own (drafts) {
    const heads = await this.#docs(drafts.map(({ id }) => id))
    return new Map(await Promise.all(drafts.map(async ({ id }, at) => {
      const { rows } = await this.#ask(() => this.#db.allDocs({ startkey: `${id}@`, endkey: `${id}@~`, include_docs: true }))
      return /** @type {const} */ ([id, { head: heads[at], past: rows.map(({ doc }) => doc) }])
    })))
  }

  /** @param {EditedVersion} draft @param {TileDocuments} own */
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

  /** @param {Place} place @param {TileDocuments} own @param {Known} known @param {(doc: any) => boolean} only */
  async #dropping ({ time }, own, known, only) {
    const wanted = [own.head, ...own.past].filter(doc => doc?.time === time && only(doc))
    if (!wanted.includes(own.head)) return wanted.map(deleted)
    const next = own.past.filter(doc => !wanted.includes(doc)).pop()
    const past = wanted.filter(doc => doc !== own.head).map(deleted)
    if (!next || (known.newest && known.newest > next.time)) return [...past, deleted(own.head)]
    const { _attachments, _rev, ...fields } = await this.#whole(next)
    const head = { ...fields, _id: own.head._id, _rev: own.head._rev, current: true, ...(_attachments && {
      _attachments: withoutRevision(_attachments)
    }) }
    return [...past, deleted(next), head]
  }

  /** The head as a past version, in place of a copy that another tab may have left. @param {TileDocuments} own */
  async #moved (head, own) {
    const copy = own.past.find(({ time }) => time === head.time)
    return { ...pastOf(await this.#whole(head)), ...(copy && { _rev: copy._rev }) }
  }

  async #isSame (doc, draft) {
    if (!doc._attachments || !draft.bytes) return !doc._attachments === !draft.bytes
    return (await this.#whole(doc))._attachments.tile.data === draft.bytes
  }

  /** With the image. Throws REPLACED if it is not there any more. */
  async #whole ({ _id: id, _rev: rev }) {
    const doc = await this.#ask(() => DatabaseReader.of(this.#db).whole(id, { rev }))
    if (!doc) throw REPLACED
    return doc
  }

  /** @returns {Promise<any[]>} in their order, undefined for those that do not exist */
  async #docs (ids) {
    const { rows } = await this.#ask(() => this.#db.allDocs({ keys: ids, include_docs: true }))
    return rows.map(({ doc }) => doc ?? undefined)
  }

  /** @returns {Promise<Set<string>>} ids of those that another tab wrote meanwhile */
  async #bulk (docs) {
    if (!docs.length) return new Set()
    const results = await this.#ask(() => this.#db.bulkDocs(docs))
    const failed = results.map((result, at) => ({ ...result, id: docs[at]._id })).filter(({ error }) => error)
    const other = failed.find(({ status }) => status !== 409)
    if (other) throw this.#peer.explain(other)
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

/** @param {any} error */
function again (error) {
  if (error === REPLACED) return error
  throw error
}

const deleted = ({ _id, _rev }) => ({ _id, _rev, _deleted: true })

/** Attachments with their bytes, as those of another document. */
const withoutRevision = attachments => Object.fromEntries(
  Object.entries(attachments).map(([name, { content_type: type, data }]) => [name, { content_type: type, data }])
)

/**
 * @typedef {import('../offline/device.js').Database} Database
 * @typedef {import('../offline/database-reader.js').HeldVersion} HeldVersion
 * @typedef {{layer: string, z: number, x: number, y: number, time: string}} TileTime
 *
 * @typedef {object} KnownVersion
 * @property {string} [newest] time of the newest version
 * @property {(draft: {bytes?: string}) => Promise<boolean>} [same] whether an image is that of the very time; nothing
 *   where there is none
 */

/** @param {Database[]} databases of areas @param {TileTime[]} places @returns {Promise<KnownVersion[]>} */
export async function knownVersions (databases, places) {
  const known = places.map(() => /** @type {KnownVersion} */ ({}))
  for (const { db, holds } of databases) {
    const held = await localVersions(db, places.filter(({ z, x, y }) => holds(z, x, y)))
    places.forEach((place, at) => {
      for (const version of held.get(tileId(place.layer, place.z, place.x, place.y)) ?? []) {
        if (version.current && (!known[at].newest || version.time > known[at].newest)) known[at].newest = version.time
        if (version.time === place.time) known[at].same ??= draft => hasSameImage(db, version, draft.bytes)
      }
    })
  }
  return known
}

/**
 * Whether an area has these edits, or what the store made of them: then they need not be kept twice. An area without
 * a past has only what is newest.
 * @param {Database} database @param {import('./edit-index.js').EditedEntry[]} entries of one layer that lie in the area
 * @param {string} layer
 * @returns {Promise<boolean[]>}
 */
export async function hasArrived ({ db, hasHistory }, entries, layer) {
  const held = await localVersions(
    db, entries.map(({ z, x, y, time }) => ({ layer, z, x, y, time })), { past: Boolean(hasHistory) }
  )
  return entries.map(({ head, time, digest }) => {
    const versions = (held.get(head) ?? []).sort((a, b) => a.time < b.time ? -1 : 1)
    const newest = versions.find(({ current }) => current)
    const keeps = hasHistory === true || (hasHistory && time >= hasHistory)
    if (!keeps && newest && newest.time >= time) return true
    const shown = versions.filter(version => version.time <= time).pop()
    return (shown?.digest ?? null) === digest && (shown !== undefined || digest === null)
  })
}

/**
 * @param {any} db @param {TileTime[]} places
 * @param {{past?: boolean}} [options] past: all of it, and not the version of the very time alone
 * @returns {Promise<Map<string, HeldVersion[]>>}
 */
async function localVersions (db, places, { past = false } = {}) {
  const reader = DatabaseReader.of(db)
  const found = /** @type {Map<string, HeldVersion[]>} */ (new Map())
  const take = doc => {
    const version = versionOf(doc)
    if (!version) return
    const id = headId(doc._id)
    found.set(id, [...found.get(id) ?? [], version])
  }
  const ids = places.flatMap(({ layer, z, x, y, time }) => [tileId(layer, z, x, y), versionId(layer, z, x, y, time)])
  for (const doc of (await reader.docs(ids)).values()) if (!past || doc.current) take(doc)
  if (past) {
    const pasts = await Promise.all(places.map(({ layer, z, x, y }) => reader.withPrefix(`${tileId(layer, z, x, y)}@`)))
    for (const doc of pasts.flat()) take(doc)
  }
  return found
}

/** @param {any} db @param {HeldVersion} version @param {string} [bytes] as base64 */
async function hasSameImage (db, { layer, z, x, y, time, rev, current, gone }, bytes) {
  if (gone || !bytes) return gone === !bytes
  const found = await DatabaseReader.of(db)
    .image(current ? tileId(layer, z, x, y) : versionId(layer, z, x, y, time), rev)
  return Boolean(found) && toBase64(new Uint8Array(await /** @type {any} */ (found).blob.arrayBuffer())) === bytes
}
