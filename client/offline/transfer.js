// Downloads an area, and later its changes. The first time it lists the area by the store's index; then it reads the
// feed of changes since the last transfer. Both name places to look at, and each place is reconciled in the same way.
import { MAX_ZOOM, TilecouchError, isTileId, layerId, parseTileId } from '../../core/index.js'
import { FailureStreak, RevisionCopier, newCopyTally, replicationDefaults } from '../../core/mirror/index.js'
import { canContinue, feedPosition } from '../../core/feed-position.js'
import { ReadOnlyPeer, codec } from '../mirror/http.js'
import { PouchPeer, whileOpen } from '../mirror/pouch-peer.js'
import { AreaStyles } from './area-styles.js'
import { LetterReader } from './letter-reader.js'
import { LocalTiles, NO_COUNTS, TileCounter, imageSizeOf } from './local-tiles.js'
import { LocalFirst, Reconciler } from './reconciler.js'
import { StoreListing, eachPage, rangesBefore, rangesFrom, selectedRows } from './store-listing.js'

export const transferDefaults = {
  ...replicationDefaults,
  batch: 100, // documents a request: each is one transaction of IndexedDB; on a slow line batchTime makes them smaller
  concurrency: 3, // batches on their way: a browser opens six connections to a server of old, and the map needs some
  pages: 2, // parts of the listing under way
  tries: 3, // for a document that a side has trouble with
  batchTime: 1500, // milliseconds a batch is meant to take, several at once: less is lost when the line breaks
  retries: 1, // of a request for documents, before it is found out which one is to blame
  noting: 2000, // milliseconds between two notes of how far it got
  feed: 1000, // changes that are read rather than the area listed anew
  feedShare: 2 // as many more of them as the area has versions
}

/**
 * @typedef {import('./local-tiles.js').TileCounts} Counts
 * @typedef {Counts & {received: number, docs: number, deleted: number}} Progress tiles, versions, bytes: on the device;
 *   received: bytes of bodies from the net, the listing among them; docs, deleted: written in this run
 * @typedef {import('../../core/mirror/peer.js').Refused} Failed
 */

export class Transfer {
  #stop = new AbortController()
  #state = /** @type {TransferState} */ ({ failed: [], held: { ...NO_COUNTS }, touched: [] })
  #failed = /** @type {Map<string, Failed>} */ (new Map())
  #counter = new TileCounter()
  #isListing = false
  #saved = 0
  #saving = Promise.resolve()
  #tally
  #reconciler
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
   * @param {boolean} [parts.force] lists anew, however little has changed
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
    this.origin = new ReadOnlyPeer(couch, codec, { retries: this.limits.retries, isDivisible: true })
    this.#prober = new ReadOnlyPeer(couch, codec)
    this.target = new PouchPeer(db, { text: true })
    this.local = new LocalTiles(db, layer)
    this.listing = new StoreListing(couch, selection, { signal: this.#stop.signal, limits })
    this.#tally = newCopyTally()
    const fail = failed => {
      this.#failed.set(failed.id, failed)
      onFailed?.(failed)
    }
    this.#letters = new LetterReader(others.length ? new LocalFirst(this.origin, others) : this.origin, letters =>
      this.#save({ letters, styles: undefined }))
    const source = this.#letters
    this.#styles = new AreaStyles({
      couch, db, layer, target: this.target, others, concurrency: this.limits.concurrency, onFailed: fail,
      onProgress: () => this.#report(), signal: this.#stop.signal
    })
    const failures = new FailureStreak({ probe: () => this.#probe(), onFailed: fail })
    const copier = new RevisionCopier({
      source, target: this.target, tally: this.#tally, limits: this.limits, failures, onRefused: fail,
      onProgress: docs => this.#onArrived(docs)
    })
    this.#reconciler = new Reconciler({
      couch, source, target: this.target, copier, local: this.local, onDelete: () => this.#noteDeletion(),
      signal: this.#stop.signal
    })
  }

  /** @returns {Progress} */
  progress () {
    const { bytes: received, docs, deleted } = this.#tally
    return {
      ...this.#counter.counts, received: received + this.listing.bytes + this.#styles.received, docs, deleted
    }
  }

  /**
   * Resolves when everything available was downloaded. A later transfer continues an interrupted one.
   * @returns {Promise<{since: string | number | undefined, failed: Failed[], changed: {docs: number, tiles: number,
   *   bytes: number}, held: Counts, styles: number, isComplete: boolean}>} styles: their bytes on the device
   */
  async run () {
    try {
      await whileOpen([this.db], this.signal, this.#stop, () => this.#run())
      const { docs, tiles, bytes } = this.#tally
      const failed = [...this.#failed.values()]
      return {
        since: this.#state.since, failed, changed: { docs: docs + this.#styles.docs, tiles, bytes },
        held: { ...this.#counter.counts }, styles: this.#state.styles ?? 0, isComplete: !failed.length
      }
    } catch (error) {
      throw this.signal?.aborted ? new TilecouchError('ABORTED') : error
    } finally {
      this.#stop.abort()
    }
  }

  async #run () {
    if (this.#stop.signal.aborted) throw new TilecouchError('ABORTED')
    const note = this.#state = await readState(this.db)
    this.#counter = new TileCounter(note.held)
    this.#reconciler.verifiesAll = Boolean(note.buried)
    const isNew = note.since === undefined && await this.local.isNew()
    if (note.letters) this.#letters.begin(note.letters)
    const place = feedPosition(await this.couch.request({ path: '', signal: this.#stop.signal }))
    const mustList = this.force && note.since !== undefined
    const changed = mustList ? undefined : await this.#changed(note, place) ?? await this.#changed(note.listing, place)
    const { failed } = note
    if (note.since === undefined || !changed) await this.#list(isNew, place, changed && note.listing)
    if (changed) {
      for (const { id } of failed) changed.places.add(id)
      await this.#refresh(changed.places)
    }
    // what came while that was read
    const { places, last } =
      /** @type {{places: ChangedTiles, last: any}} */ (await this.#changes(changed?.last ?? place.since))
    await this.#refresh(places)
    if (note.styles === undefined) await this.#updateStyles()
    Object.assign(note, {
      ...place, since: last, selection: this.selection.key, failed: [...this.#failed.values()], listing: undefined
    })
    if (!note.failed.length) note.updated = new Date().toISOString().replace(/\.\d+/, '')
    await this.#save()
  }

  /**
   * Where something changed since this area lacked nothing, or since it was listed in part; nothing when it is quicker,
   * or safer, to list it anew.
   * @param {Partial<import('../../core/feed-position.js').FeedPosition> & {selection?: string} | undefined} known
   * @param {import('../../core/feed-position.js').FeedPosition} place of the store now
   */
  async #changed (known, place) {
    if (known?.since === undefined || known.selection !== this.selection.key) return undefined
    if (!canContinue(known, place)) return undefined
    return this.#changes(known.since, this.limits.feed + this.limits.feedShare * this.#state.held.versions)
  }

  /**
   * Where something changed since a place in the feed; nothing when that is more than is worth reading.
   * @param {string | number} since @param {number} [most] changes
   * @returns {Promise<{places: ChangedTiles, last: string | number} | undefined>}
   */
  async #changes (since, most = Infinity) {
    const places = new ChangedTiles()
    for (let read = 0, last = since; ;) {
      const answer = await this.origin.changes({ since: last, limit: this.limits.page, signal: this.#stop.signal })
      read += answer.rows.length
      if (read + answer.pending > most) return undefined
      for (const { id } of answer.rows) if (this.selection.has(id)) places.add(id)
      last = answer.last
      if (!answer.rows.length || !answer.pending) return { places, last }
    }
  }

  /**
   * Everything that the area holds.
   * @param {import('../../core/feed-position.js').FeedPosition} place of the store now
   * @param {TransferState['listing']} [begun] it goes on there
   */
  async #list (isNew, place, begun) {
    const { listing, local } = this
    const from = begun?.next
    // it is counted anew from here on
    if (!isNew) {
      const failed = begun ? this.#state.failed : []
      await this.#save({ since: undefined, touched: [], listing: begun, failed, styles: undefined })
    }
    this.#counter = new TileCounter()
    if (from) await this.#count(from)
    this.#isListing = true
    if (!from) await this.#fetchLayerDocuments()
    if (isNew && this.#listedStyles?.length) await this.#countLetters()
    const { min, max } = this.selection.zooms ?? { min: 0, max: MAX_ZOOM }
    const first = Math.max(min, from?.[0] ?? 0)
    const zooms = (await listing.zooms()).map(({ z }) => z).filter(z => z >= first)
    const columns = await listing.columns(zooms)
    if (!isNew) await local.addColumns(columns, { min: first, max })
    const { since, identity, purged } = begun ?? place
    const { failed } = this.#state
    const settled = this.#fetchRanges(rangesFrom(listing.ranges(columns), from), isNew, next => {
      Object.assign(this.#state, { listing: {
        since, identity, purged, selection: this.selection.key, next
      }, failed: [...failed, ...this.#failed.values()] })
    })
    await settled.finally(() => this.#save().catch(() => {})) // the next write finds what is wrong with the device
    this.#isListing = false
  }

  /**
   * What is here of the part of a listing that is behind us.
   * @param {import('./store-listing.js').TilePosition} next
   */
  async #count (next) {
    const columns = new Map()
    await this.local.addColumns(columns, { min: this.selection.zooms?.min ?? 0, max: next[0] })
    await this.#counter.addLocal(this.local, rangesBefore(this.listing.ranges(columns), next))
  }

  /** What the area holds in these places. @param {ChangedTiles} places */
  async #refresh (places) {
    if (places.hasLayerDocuments) await this.#fetchLayerDocuments()
    const note = this.#state
    const known = new Set(note.touched)
    for (const tile of known) places.addTile(tile)
    if (!places.tiles.size) return
    const ranges = places.ranges()
    await this.#counter.addLocal(this.local, ranges, { sign: -1, except: known })
    // broken off from here on, the next one knows which are not counted
    Object.assign(note, { held: { ...this.#counter.counts }, touched: [...places.tiles.keys()] })
    await this.#save()
    await this.#fetchRanges(ranges, false)
    note.touched = []
  }

  /**
   * @param {Iterable<import('./store-listing.js').Range>} ranges
   * @param {(next: import('./store-listing.js').TilePosition) => void} [onSettled] told how far everything is settled
   */
  #fetchRanges (ranges, isNew, onSettled) {
    return eachPage(this.listing.read(ranges), parts => this.#fetchPage(parts, isNew), {
      most: this.limits.pages, onFailed: () => this.#stop.abort(), onSettled
    })
  }

  /** @param {import('./store-listing.js').ListedRange[]} parts whole tiles */
  async #fetchPage (parts, isNew) {
    const there = new Map()
    const wanted = new Map()
    const lost = []
    for (const part of parts) {
      const own = isNew ? NO_VERSIONS : await this.local.versions(part)
      const listed = new Set(part.rows.map(({ id }) => id))
      for (const [id, version] of own) {
        there.set(id, version)
        if (!listed.has(id)) lost.push(id)
      }
      // what was to be seen once stays
      for (const row of selectedRows(part.rows, this.selection, own)) {
        wanted.set(row.id, { ...row, z: part.z, x: part.x })
      }
    }
    const asked = this.#reconciler.missing([...wanted.values()], there)
    const missing = new Set(asked.map(({ id }) => id))
    for (const [id, row] of wanted) if (!missing.has(id)) this.#counter.add(row)
    const left = (await this.#reconciler.fetch(asked, there, lost)).filter(one => there.has(one))
    // of what could not be had an older revision is here
    for (const [id, version] of await this.local.docs(left, true)) this.#counter.add({ ...wanted.get(id), ...version })
    this.#counter.forget(wanted.values())
    this.#report()
  }

  /** The documents of the layer that are no tiles. */
  async #fetchLayerDocuments () {
    const { documents: rows, styles } = await this.listing.layerDocuments()
    this.#listedStyles = styles
    this.#state.styles = undefined
    const there = await this.local.layerDocuments()
    const listed = new Set(rows.map(({ id }) => id))
    await this.#reconciler.fetch(
      this.#reconciler.missing(rows, there), there, [...there.keys()].filter(id => !listed.has(id))
    )
  }

  /** Layers without a style need no glyphs, and letters take 0.7 ms a tile. */
  async #countLetters () {
    await this.#save({ letters: {} }) // before any tile: what is not noted is not known
    this.#letters.begin({})
  }

  async #updateStyles () {
    this.#listedStyles ??= (await this.listing.layerDocuments()).styles
    this.#state.styles = await this.#styles.update(this.#listedStyles, this.#state.letters)
  }

  #onArrived (docs) {
    this.#reconciler.arrive(docs)
    for (const doc of docs) {
      if (!doc._deleted && isTileId(doc._id)) this.#counter.add({ ...parseTileId(doc._id), ...imageSizeOf(doc) })
    }
    this.#report()
  }

  #report () {
    this.onProgress?.(this.progress())
    if (!this.#isListing || Date.now() - this.#saved < this.limits.noting) return
    this.#save().catch(() => {}) // the next write finds what is wrong
  }

  /** In the order in which they are asked for. @param {Partial<TransferState>} [fields] */
  async #save (fields) {
    const note = Object.assign(this.#state, fields)
    if (!note.touched.length) note.held = { ...this.#counter.counts }
    this.#saved = Date.now()
    const [earlier, now] = [this.#saving, { ...note }]
    this.#saving = earlier.catch(() => {}).then(() => new PouchPeer(this.db).updateLocal(STATE, () => now))
    await this.#saving
  }

  async #noteDeletion () {
    if (this.#state.buried) return
    this.#state.buried = true
    await this.#save()
  }

  /** Whether both sides are well. The store is asked as it is for tiles, for what it surely has. */
  async #probe () {
    await this.#prober.fetch([
      { id: layerId(this.layer), rev: /** @type {any} */ (undefined) }
    ], { signal: this.#stop.signal })
    await this.target.info()
  }
}

const NO_VERSIONS = /** @type {Map<string, import('./local-tiles.js').LocalVersion>} */ (new Map())

const STATE = 'tilecouch-area' // _local/tilecouch-area

/**
 * @typedef {object} TransferState
 * @property {string | number} [since] place in the feed of the store; nothing until everything was there once
 * @property {string} [identity] of the store's database
 * @property {string} [purged] how often the store has forgotten documents
 * @property {string} [selection] what was taken
 * @property {import('../../core/mirror/peer.js').Refused[]} failed
 * @property {Counts} held
 * @property {import('../../core/feed-position.js').FeedPosition & {selection: string, next:
 *   import('./store-listing.js').TilePosition}} [listing] one that was broken off: what is before `next` is here as
 *   the store had it at `since`, or is among `failed`
 * @property {string[]} touched tiles that are being changed, z/x/y: they are not counted in `held`
 * @property {boolean} [buried] documents were deleted here that the store does not know any more
 * @property {import('../../core/label-text.js').Letters} [letters] of its vector tiles: they tell which glyphs it
 *   needs. Nothing if the tiles came before the first style
 * @property {number} [styles] bytes of styles and their files; nothing while any may be missing
 * @property {string} [updated] when it lacked nothing
 */

/** @param {any} db a PouchDB @returns {Promise<TransferState>} */
export async function readState (db) {
  const note = await new PouchPeer(db).getLocal(STATE)
  return { failed: [], held: { ...NO_COUNTS }, touched: [], ...note }
}

class ChangedTiles {
  /** @type {Map<string, {z: number, x: number, y: number}>} */
  tiles = new Map()
  hasLayerDocuments = false

  /** @param {string} id of a document that belongs */
  add (id) {
    if (!isTileId(id)) {
      this.hasLayerDocuments = true
      return
    }
    const { z, x, y } = parseTileId(id)
    this.tiles.set(`${z}/${x}/${y}`, { z, x, y })
  }

  /** @param {string} tile z/x/y */
  addTile (tile) {
    const [z, x, y] = tile.split('/').map(Number)
    this.tiles.set(tile, { z, x, y })
  }

  /** Neighbours in one column are one range. @returns {import('./store-listing.js').Range[]} */
  ranges () {
    const found = /** @type {import('./store-listing.js').Range[]} */ ([])
    for (const { z, x, y } of [...this.tiles.values()].sort((a, b) => a.z - b.z || a.x - b.x || a.y - b.y)) {
      const last = found.at(-1)
      if (last && last.z === z && last.x === x && last.y1 === y - 1) last.y1 = y
      else found.push({ z, x, y0: y, y1: y })
    }
    return found
  }
}
