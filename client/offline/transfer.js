// Downloads an area, and later its changes. The first time it lists the area by the store's index. Then it reads the
// feed of changes, which names documents. Both compare revisions with those on the device and fetch missing documents.
import { TilecouchError, isTileId, layerId, parseTileId } from '../../core/index.js'
import { chunks } from '../../core/lists.js'
import { Semaphore } from '../../core/promises.js'
import {
  FailureStreak, RevisionCopier, compareRevs, isParentOf, newCopyTally, replicationDefaults
} from '../../core/mirror/index.js'
import { PageTracker } from '../../core/mirror/replication.js'
import { canContinue, feedPosition } from '../../core/feed-position.js'
import { ReadOnlyPeer, codec } from '../mirror/http.js'
import { PouchPeer, whileOpen } from '../mirror/pouch-peer.js'
import { AreaStyles } from './area-styles.js'
import { LetterReader } from './letter-reader.js'
import { LocalFirst } from './local-first.js'
import { ALL_ZOOMS, LocalTiles, NO_COUNTS, countDocument } from './local-tiles.js'
import { StoreListing, rangesFrom, selectedRows } from './store-listing.js'

export const transferDefaults = {
  ...replicationDefaults,
  batch: 100, // documents per request and transaction of IndexedDB; on a slow line batchTime makes batches smaller
  concurrency: 3, // batches at once: a browser opens six HTTP/1.1 connections to a server, and the map needs some
  pages: 2, // pages of the listing at once
  tries: 3, // attempts for a document that fails on one side
  batchTime: 1500, // milliseconds that a batch should take, with several at once: an interruption loses less
  retries: 1, // of a request for documents, before it is divided to find the failing document
  noting: 2000, // milliseconds between two saves of the position
  feed: 1000, // maximum changes to read; with more, the area is listed anew
  feedShare: 2 // further changes per version of the area
}

/**
 * @typedef {import('./local-tiles.js').TileCounts} TileCounts
 * @typedef {TileCounts & {received: number, docs: number, deleted: number}} Progress tiles, versions, bytes: on the
 *   device; received: bytes of bodies from the net, the listing among them; docs, deleted: written in this run
 * @typedef {import('../../core/mirror/peer.js').Refused} Failed
 * @typedef {{id: string, rev: string | undefined}} StoreRow a document of the store; without a revision: deleted
 */

/** The store was reset, or has forgotten documents: the database of the area must be destroyed. */
export class StoreReset extends Error {}

const FIRST_TILE = /** @type {import('./store-listing.js').TilePosition} */ ([0, 0, 0])

export class Transfer {
  #stop = new AbortController()
  #state = /** @type {TransferState} */ ({})
  #failed = /** @type {Map<string, Failed>} */ (new Map())
  #counts = { ...NO_COUNTS }
  #arrived = /** @type {Map<string, string | undefined>} */ (new Map()) // id -> revision, undefined if deleted
  #saved = 0
  #saves = new Semaphore(1)
  #tally = newCopyTally()
  #copier
  #prober
  #letters
  #styles
  #listedStyles = /** @type {import('./store-listing.js').ListedDocument[] | undefined} */ (undefined)

  /**
   * @param {object} parts
   * @param {import('../mirror/http.js').HttpCouch} parts.couch
   * @param {any} parts.db PouchDB of the area
   * @param {{layer: string, selection: import('../../core/mirror/index.js').Selection}} parts.area
   * @param {any[]} [parts.others] databases of the device that may have the same revisions
   * @param {boolean} [parts.force] lists the area anew, even after few changes
   * @param {AbortSignal} [parts.signal]
   * @param {(progress: Progress) => void} [parts.onProgress]
   * @param {(failed: Failed) => void} [parts.onFailed]
   * @param {Partial<typeof transferDefaults & import('./store-listing.js').listingDefaults>} [parts.limits]
   */
  constructor ({
    couch, db, area: { layer, selection }, others = [], force = false, signal, onProgress, onFailed, limits
  }) {
    this.couch = couch
    this.db = db
    this.layer = layer
    this.selection = selection
    this.force = force
    this.signal = signal
    this.onProgress = onProgress
    this.limits = { ...transferDefaults, ...limits }
    this.target = new PouchPeer(db, { text: true })
    this.local = new LocalTiles(this.target, layer)
    this.listing = new StoreListing(couch, selection, { signal: this.#stop.signal, limits })
    const fail = failed => {
      this.#failed.set(failed.id, failed)
      onFailed?.(failed)
    }
    const origin = new ReadOnlyPeer(couch, codec, { retries: this.limits.retries, isDivisible: true })
    this.#prober = new ReadOnlyPeer(couch, codec)
    this.#letters = new LetterReader(others.length ? new LocalFirst(origin, others) : origin, letters =>
      this.#save({ letters, styles: undefined }))
    this.#styles = new AreaStyles({
      couch, layer, target: this.target, others, concurrency: this.limits.concurrency, onFailed: fail,
      onProgress: () => this.#report(), signal: this.#stop.signal
    })
    this.#copier = new RevisionCopier({
      source: this.#letters, target: this.target, tally: this.#tally, limits: this.limits, onRefused: fail,
      failures: new FailureStreak({ probe: () => this.#probe(), onFailed: fail }),
      onProgress: docs => this.#onArrived(docs)
    })
  }

  /** @returns {Progress} */
  progress () {
    const { bytes: received, docs, deleted } = this.#tally
    return { ...this.#counts, received: received + this.listing.bytes + this.#styles.received, docs, deleted }
  }

  /**
   * Resolves when everything available was downloaded. A later transfer continues an interrupted one.
   * @returns {Promise<{failed: Failed[], changed: {docs: number, tiles: number, bytes: number}, counts: TileCounts,
   *   styles: number, isComplete: boolean}>} styles: their bytes on the device. Rejects with StoreReset if the area
   *   must be downloaded into a new database
   */
  async run () {
    try {
      await whileOpen([this.db], this.signal, this.#stop, () => this.#run())
      const { docs, tiles, bytes } = this.#tally
      const failed = [...this.#failed.values()]
      return {
        failed, changed: { docs: docs + this.#styles.docs, tiles, bytes }, counts: { ...this.#counts },
        styles: this.#state.styles ?? 0, isComplete: !failed.length
      }
    } catch (error) {
      throw this.signal?.aborted ? new TilecouchError('ABORTED') : error
    } finally {
      this.#stop.abort()
    }
  }

  async #run () {
    if (this.#stop.signal.aborted) throw new TilecouchError('ABORTED')
    const state = this.#state = await readState(this.db)
    let { failed: retries = [] } = state
    this.#failed = new Map(retries.map(failed => [failed.id, failed]))
    const position = feedPosition(await this.couch.request({ path: '', signal: this.#stop.signal }))
    if (state.since !== undefined && !canContinue(state, position)) throw new StoreReset()
    const isNew = await this.local.isNew()
    this.#counts = state.counts ?? await this.local.count()
    if (state.letters) this.#letters.begin(state.letters)
    let changes = this.force && !state.next ? undefined : await this.#changesWorthReading()
    if (!changes) {
      this.#failed.clear()
      retries = []
      await this.#save({ ...position, next: FIRST_TILE, counts: undefined, styles: undefined })
    }
    if (state.next) {
      await this.#list(state.next, isNew)
      changes = undefined // more documents have changed meanwhile
    }
    const { rows, last } = changes ?? await this.#changes(state.since, Infinity)
    await this.#refresh(rows, retries)
    if (state.styles === undefined) await this.#updateStyles()
    await this.#save({ ...position, since: last, counts: { ...this.#counts } })
  }

  /** The changes since the last transfer; undefined if it is quicker to list the area anew. */
  async #changesWorthReading () {
    const { since } = this.#state
    const { feed, feedShare } = this.limits
    return since === undefined ? undefined : this.#changes(since, feed + feedShare * this.#counts.versions)
  }

  /**
   * Reads the changed documents of the area.
   * @param {string | number | undefined} since position in the feed
   * @param {number} maxChanges of the store
   * @returns {Promise<any>} rows: StoreRow[]; last: position. Undefined if there are more changes
   */
  async #changes (since, maxChanges) {
    const rows = /** @type {Map<string, StoreRow>} */ (new Map())
    for (let read = 0, last = since; ;) {
      const query = { since: last, limit: this.limits.page, seq_interval: this.limits.page }
      const { results, last_seq: next, pending = results.length < query.limit ? 0 : 1 } =
        await this.couch.changes(query, { signal: this.#stop.signal })
      read += results.length
      if (read + pending > maxChanges) return undefined
      for (const { id, deleted, changes: [{ rev }] } of results) {
        if (this.selection.has(id)) rows.set(id, { id, rev: deleted ? undefined : rev })
      }
      last = next
      if (!results.length || !pending) return { rows: [...rows.values()], last }
    }
  }

  /**
   * Lists the area from a tile on, and fetches missing documents.
   * @param {import('./store-listing.js').TilePosition} begin
   */
  async #list (begin, isNew) {
    const { listing, local } = this
    await this.#fetchLayerDocuments()
    if (isNew && this.#listedStyles?.length) await this.#countLetters()
    const { min, max } = this.selection.zooms ?? ALL_ZOOMS
    const first = Math.max(min, begin[0])
    const zooms = (await listing.zooms()).map(({ z }) => z).filter(z => z >= first)
    const columns = await listing.columns(zooms)
    if (!isNew) await local.addColumns(columns, { min: first, max })
    const tracker = new PageTracker(/** @type {any} */ (begin))
    const onPage = next => {
      const done = tracker.begin(next)
      return () => {
        done()
        this.#state.next = /** @type {any} */ (tracker.since)
      }
    }
    try {
      await this.#fetchPages(rangesFrom(listing.ranges(columns), begin), isNew, onPage)
    } finally {
      await this.#save().catch(() => {}) // the next write reports errors of the device
    }
    this.#state.next = undefined
  }

  /**
   * Lists ranges and fetches missing documents, several pages at once. Rejects with the first failure after all
   * running pages have ended.
   * @param {Iterable<import('./store-listing.js').Range>} ranges
   * @param {(next: import('./store-listing.js').TilePosition | undefined) => () => void} [onPage] returns a function
   *   that is called when the page is done
   */
  async #fetchPages (ranges, isNew, onPage) {
    const running = new Set()
    let failure
    const fail = error => {
      failure ??= error
      this.#stop.abort()
    }
    try {
      for await (const { parts, next } of this.listing.read(ranges)) {
        const work = this.#fetchPage(parts, isNew).then(onPage?.(next)).catch(fail).finally(() => running.delete(work))
        running.add(work)
        while (running.size >= this.limits.pages && !failure) await Promise.race(running)
        if (failure) break
      }
    } catch (error) {
      fail(error)
    }
    await Promise.all(running)
    if (failure) throw failure
  }

  /** @param {import('./store-listing.js').ListedRange[]} parts whole tiles */
  async #fetchPage (parts, isNew) {
    const rows = /** @type {StoreRow[]} */ ([])
    const localRevs = new Map()
    const unlisted = []
    for (const part of parts) {
      const revs = isNew ? undefined : await this.local.revsIn(part)
      rows.push(...selectedRows(part.rows, this.selection, revs))
      const listed = new Set(part.rows.map(({ id }) => id))
      for (const [id, rev] of revs ?? []) {
        localRevs.set(id, rev)
        if (!listed.has(id)) unlisted.push(id)
      }
    }
    rows.push(...await this.listing.winners(unlisted))
    await this.#settle(rows, localRevs, isNew)
  }

  /** Fetches the documents of the layer that are not tiles. */
  async #fetchLayerDocuments () {
    const { documents, styles } = await this.listing.layerDocuments()
    this.#listedStyles = styles
    this.#state.styles = undefined
    const localRevs = await this.local.layerDocuments()
    const listed = new Set(documents.map(({ id }) => id))
    const unlisted = [...localRevs.keys()].filter(id => !listed.has(id)).map(id => ({ id, rev: undefined }))
    await this.#settle([...documents, ...unlisted], localRevs)
  }

  /**
   * Fetches changed documents, and those that failed in an earlier transfer.
   * @param {StoreRow[]} changes @param {Failed[]} retries
   */
  async #refresh (changes, retries) {
    const failed = retries.map(({ id, rev }) => ({ id, rev }))
    const rows = [...new Map([...failed, ...changes].map(row => [row.id, row])).values()]
    if (!rows.length) return
    await this.#save({ counts: undefined })
    if (rows.some(({ id }) => !isTileId(id))) await this.#fetchLayerDocuments()
    const tiles = rows.filter(({ id }) => isTileId(id))
    if (this.selection.since) await this.#fetchPages(rangesOf(tiles), false)
    else {
      for (const page of chunks(tiles, this.limits.page)) {
        await this.#settle(page, await this.local.revs(page.map(({ id }) => id)))
      }
    }
    for (const retry of retries) if (this.#failed.get(retry.id) === retry) this.#failed.delete(retry.id)
  }

  /**
   * Makes documents on the device those of the store.
   * @param {StoreRow[]} rows of the store
   * @param {import('./local-tiles.js').LocalRevs} localRevs of the same documents
   * @param {boolean} [isNew] the database had no documents
   */
  async #settle (rows, localRevs, isNew = false) {
    const differing = rows.filter(({ id, rev }) => localRevs.get(id) !== rev)
    const replaced = await this.local.docs(differing.map(({ id }) => id).filter(id => localRevs.has(id)))
    for (const doc of replaced) countDocument(this.#counts, doc, -1)
    const revisions = []
    for (const { id, rev } of differing) {
      const localRev = localRevs.get(id)
      const isParent = rev && localRev && isParentOf(rev)(localRev)
      if (rev) revisions.push({ id, rev, ...(isParent && { ancestors: [localRev] }) })
    }
    await this.#copier.copy(revisions, this.#stop.signal)
    const expected = /** @type {Map<string, string | undefined>} */ (new Map())
    for (const { id, rev } of differing) if (rev === undefined) expected.set(id, undefined)
    for (const { id } of revisions) if (this.#arrived.has(id)) expected.set(id, this.#arrived.get(id))
    for (const id of expected.keys()) this.#arrived.delete(id)
    if (!isNew) await this.#removeOthers(expected)
    // documents that did not come stay in the older revision
    for (const doc of replaced) if (!expected.has(doc._id)) countDocument(this.#counts, doc)
    this.#report()
  }

  /**
   * Deletes revisions on the device that the store has deleted, until each document has the expected one.
   * @param {Map<string, string | undefined>} expected id -> revision; undefined if the store lacks the document
   */
  async #removeOthers (expected) {
    for (let ids = [...expected.keys()]; ids.length;) {
      const revs = await this.local.revs(ids)
      // a database cannot store a revision again after deleting it
      if (ids.some(id => expected.get(id) && !revs.has(id))) throw new StoreReset()
      const outdated = [...revs].filter(([id, rev]) => rev !== expected.get(id))
      await this.target.edit(outdated.map(([_id, _rev]) => ({ _id, _rev, _deleted: true })), this.#stop.signal)
      this.#tally.docs += outdated.length
      this.#tally.deleted += outdated.length
      ids = outdated.map(([id]) => id)
    }
  }

  /** Starts to count letters. Only layers with a style need that: it takes 0.7 ms per tile. */
  async #countLetters () {
    await this.#save({ letters: {} }) // before the first tile: an absent field means that letters are unknown
    this.#letters.begin({})
  }

  async #updateStyles () {
    this.#listedStyles ??= (await this.listing.layerDocuments()).styles
    this.#state.styles = await this.#styles.update(this.#listedStyles, this.#state.letters)
  }

  #onArrived (docs) {
    for (const doc of docs) {
      const { _id: id, _rev: rev, _deleted: isDeleted } = doc
      const lastRev = this.#arrived.get(id) // a document with a conflict arrives twice
      if (!lastRev && !isDeleted) countDocument(this.#counts, doc)
      if (!lastRev || (!isDeleted && compareRevs(rev, lastRev) > 0)) this.#arrived.set(id, isDeleted ? undefined : rev)
    }
    this.#report()
  }

  #report () {
    this.onProgress?.(this.progress())
    if (!this.#state.next || Date.now() - this.#saved < this.limits.noting) return
    this.#save().catch(() => {}) // the next write reports the error
  }

  /** Saves the state. Saves run in the order of the calls. @param {Partial<TransferState>} [fields] */
  async #save (fields) {
    const state = { ...Object.assign(this.#state, fields), failed: [...this.#failed.values()] }
    this.#saved = Date.now()
    await this.#saves.run(() => this.target.updateLocal(STATE, () => state))
  }

  /** Rejects if a side fails. Requests an existing document in the same way as tiles. */
  async #probe () {
    await this.#prober.fetch([
      { id: layerId(this.layer), rev: /** @type {any} */ (undefined) }
    ], { signal: this.#stop.signal })
    await this.target.info()
  }
}

/** @param {StoreRow[]} rows @returns {import('./store-listing.js').Range[]} the tiles of the rows, ascending */
function rangesOf (rows) {
  const ranges = new Map(rows.map(({ id }) => {
    const { z, x, y } = parseTileId(id)
    return [`${z}/${x}/${y}`, { z, x, y0: y, y1: y }]
  }))
  return [...ranges.values()].sort((a, b) => a.z - b.z || a.x - b.x || a.y0 - b.y0)
}

const STATE = 'tilecouch-area' // _local/tilecouch-area

/**
 * @typedef {object} TransferState
 * @property {string | number} [since] position in the feed of the store; absent before the first listing
 * @property {string} [identity] of the store's database
 * @property {string} [purged] how often the store has forgotten documents
 * @property {import('./store-listing.js').TilePosition} [next] where the listing continues; absent when it is done.
 *   Tiles before it are as the store had them at `since`, or among `failed`
 * @property {Failed[]} [failed]
 * @property {TileCounts} [counts] of the tiles on the device; absent while a transfer changes them
 * @property {import('../../core/label-text.js').Letters} [letters] of its vector tiles: they tell which glyphs it
 *   needs. Absent if the tiles came before the first style
 * @property {number} [styles] bytes of styles and their files; absent while any may be missing
 */

/** @param {any} db a PouchDB @returns {Promise<TransferState>} */
export const readState = async db => await new PouchPeer(db).getLocal(STATE) ?? {}
