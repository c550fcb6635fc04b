// Takes an area to the device, and later what has changed of it. What the area holds is listed by the index of the store; then its
// changes are read from where the feed was before. Both say where to look, and there the same is done: so both end in the same.
import { MAX_ZOOM, TilecouchError, isTileId, layerId, parseTileId } from '../../core/index.js'
import { FailureStreak, RevisionCopier, newCopyTally, replicationDefaults } from '../../core/mirror/index.js'
import { isGood, placeOf } from '../../core/place.js'
import { Lent } from './lenders.js'
import { ReadOnlyPeer, codec } from '../mirror/http-peer.js'
import { PouchPeer, whileOpen } from '../mirror/pouch-peer.js'
import { Counter } from './counter.js'
import { Held, sizeOf } from './held.js'
import { Listing, chosenIn } from './listing.js'
import { NOTHING, readNote, saveNote } from './note.js'
import { after, before, eachPage } from './pages.js'
import { changedSince } from './places.js'
import { Settling } from './settle.js'

export const transferDefaults = {
  ...replicationDefaults,
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
 * @typedef {import('./note.js').Counts} Counts
 * @typedef {Counts & {received: number, docs: number, deleted: number}} Progress tiles, versions, bytes: on the device; received: bytes of bodies from the net, the listing among them; docs, deleted: written in this run
 * @typedef {import('../../core/mirror/peer.js').Refused} Failed
 */

export class Transfer {
  #stop = new AbortController()
  #note = /** @type {import('./note.js').AreaNote} */ ({ failed: [], held: { ...NOTHING }, touched: [] })
  #failed = /** @type {Map<string, Failed>} */ (new Map())
  #counter = new Counter()
  #isListing = false
  #noted = 0
  #saving = Promise.resolve()
  #tally
  #settling
  #prober

  /**
   * @param {object} parts
   * @param {import('../mirror/http.js').HttpCouch} parts.couch
   * @param {any} parts.db PouchDB of the area
   * @param {{layer: string, selection: import('../../core/mirror/index.js').Selection}} parts.area
   * @param {any[]} [parts.lenders] databases of the device that may have the same revisions
   * @param {boolean} [parts.force] lists anew, however little has changed
   * @param {AbortSignal} [parts.signal]
   * @param {(progress: Progress) => void} [parts.onProgress]
   * @param {(failed: Failed) => void} [parts.onFailed]
   * @param {Partial<typeof transferDefaults & import('./listing.js').listingDefaults>} [parts.limits]
   */
  constructor ({ couch, db, area: { layer, selection }, lenders = [], force = false, signal, onProgress, onFailed, limits }) {
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
    this.held = new Held(db, layer)
    this.listing = new Listing(couch, selection, { signal: this.#stop.signal, limits })
    this.#tally = newCopyTally()
    const fail = failed => {
      this.#failed.set(failed.id, failed)
      onFailed?.(failed)
    }
    const source = lenders.length ? new Lent(this.origin, lenders) : this.origin
    const failures = new FailureStreak({ probe: () => this.#probe(), onFailed: fail })
    const copier = new RevisionCopier({ source, target: this.target, tally: this.#tally, limits: this.limits, failures, onRefused: fail, onProgress: docs => this.#arrive(docs) })
    this.#settling = new Settling({ couch, source, target: this.target, copier, held: this.held, onBury: () => this.#bury(), signal: this.#stop.signal })
  }

  /** @returns {Progress} */
  progress () {
    const { bytes: received, docs, deleted } = this.#tally
    return { ...this.#counter.counts, received: received + this.listing.bytes, docs, deleted }
  }

  /**
   * Resolves when everything is there that could be had; another one goes on where one was broken off.
   * @returns {Promise<{since: string | number | undefined, failed: Failed[], changed: {docs: number, tiles: number, bytes: number}, held: Counts, isComplete: boolean}>}
   */
  async run () {
    try {
      await whileOpen([this.db], this.signal, this.#stop, () => this.#run())
      const { docs, tiles, bytes } = this.#tally
      const failed = [...this.#failed.values()]
      return { since: this.#note.since, failed, changed: { docs, tiles, bytes }, held: { ...this.#counter.counts }, isComplete: !failed.length }
    } catch (error) {
      throw this.signal?.aborted ? new TilecouchError('ABORTED') : error
    } finally {
      this.#stop.abort()
    }
  }

  async #run () {
    if (this.#stop.signal.aborted) throw new TilecouchError('ABORTED')
    const note = this.#note = await readNote(this.db)
    this.#counter = new Counter(note.held)
    this.#settling.isWary = Boolean(note.buried)
    const isNew = note.since === undefined && await this.held.isNew()
    const place = placeOf(await this.couch.request({ path: '', signal: this.#stop.signal }))
    const changed = this.force && note.since !== undefined ? undefined : await this.#changed(note, place) ?? await this.#changed(note.listing, place)
    const { failed } = note
    if (note.since === undefined || !changed) await this.#list(isNew, place, changed && note.listing)
    if (changed) {
      for (const { id } of failed) changed.places.add(id)
      await this.#refresh(changed.places)
    }
    // what came while that was read
    const { places, last } = /** @type {{places: import('./places.js').Places, last: any}} */ (await this.#changes(changed?.last ?? place.since))
    await this.#refresh(places)
    Object.assign(note, { ...place, since: last, selection: this.selection.key, failed: [...this.#failed.values()], listing: undefined })
    if (!note.failed.length) note.updated = new Date().toISOString().replace(/\.\d+/, '')
    await this.#save()
  }

  /**
   * Where something changed since this area lacked nothing, or since it was listed in part; nothing when it is quicker, or safer, to list it anew.
   * @param {Partial<import('../../core/place.js').Place> & {selection?: string} | undefined} known @param {import('../../core/place.js').Place} place of the store now
   */
  async #changed (known, place) {
    if (known?.since === undefined || known.selection !== this.selection.key || !isGood(known, place)) return undefined
    return this.#changes(known.since, this.limits.feed + this.limits.feedShare * this.#note.held.versions)
  }

  /** @param {string | number} since @param {number} [most] */
  #changes (since, most) {
    return changedSince(this.origin, this.selection, since, { page: this.limits.page, most, signal: this.#stop.signal })
  }

  /**
   * Everything that the area holds.
   * @param {boolean} isNew @param {import('../../core/place.js').Place} place of the store now @param {import('./note.js').AreaNote['listing']} [begun] it goes on there
   */
  async #list (isNew, place, begun) {
    const { listing, held } = this
    const from = begun?.next
    // it is counted anew from here on
    if (!isNew) await this.#save({ since: undefined, touched: [], listing: begun, failed: begun ? this.#note.failed : [] })
    this.#counter = new Counter()
    if (from) await this.#count(from)
    this.#isListing = true
    if (!from) await this.#takeNamed()
    const { min, max } = this.selection.zooms ?? { min: 0, max: MAX_ZOOM }
    const first = Math.max(min, from?.[0] ?? 0)
    const zooms = (await listing.zooms()).map(({ z }) => z).filter(z => z >= first)
    const columns = await listing.columns(zooms)
    if (!isNew) await held.addColumns(columns, { min: first, max })
    const { since, identity, purged } = begun ?? place
    const { failed } = this.#note
    const settled = this.#settleAll(after(listing.within(columns), from), isNew, next => {
      Object.assign(this.#note, { listing: { since, identity, purged, selection: this.selection.key, next }, failed: [...failed, ...this.#failed.values()] })
    })
    await settled.finally(() => this.#save().catch(() => {})) // what is wrong with the device is found by who writes next
    this.#isListing = false
  }

  /** What is here of the part of a listing that is behind us. @param {import('./listing.js').Spot} next */
  async #count (next) {
    const columns = new Map()
    await this.held.addColumns(columns, { min: this.selection.zooms?.min ?? 0, max: next[0] })
    await this.#counter.addHeld(this.held, before(this.listing.within(columns), next))
  }

  /** What the area holds in these places. @param {import('./places.js').Places} places */
  async #refresh (places) {
    if (places.hasNamed) await this.#takeNamed()
    const note = this.#note
    const known = new Set(note.touched)
    for (const tile of known) places.addTile(tile)
    if (!places.tiles.size) return
    const ranges = places.ranges()
    await this.#counter.addHeld(this.held, ranges, { sign: -1, except: known })
    // broken off from here on, the next one knows which are not counted
    Object.assign(note, { held: { ...this.#counter.counts }, touched: [...places.tiles.keys()] })
    await this.#save()
    await this.#settleAll(ranges, false)
    note.touched = []
  }

  /**
   * @param {Iterable<import('./listing.js').Range>} ranges @param {boolean} isNew
   * @param {(next: import('./listing.js').Spot) => void} [onSettled] told how far everything is settled
   */
  #settleAll (ranges, isNew, onSettled) {
    return eachPage(this.listing.read(ranges), parts => this.#settle(parts, isNew), { most: this.limits.pages, onFailed: () => this.#stop.abort(), onSettled })
  }

  /** @param {import('./listing.js').Part[]} parts whole tiles @param {boolean} isNew */
  async #settle (parts, isNew) {
    const there = new Map()
    const wanted = new Map()
    const lost = []
    for (const part of parts) {
      const own = isNew ? NONE : await this.held.versions(part)
      const listed = new Set(part.rows.map(({ id }) => id))
      for (const [id, version] of own) {
        there.set(id, version)
        if (!listed.has(id)) lost.push(id)
      }
      // what was to be seen once stays
      for (const row of chosenIn(part.rows, this.selection, own)) wanted.set(row.id, { ...row, z: part.z, x: part.x })
    }
    const asked = this.#settling.missing([...wanted.values()], there)
    const missing = new Set(asked.map(({ id }) => id))
    for (const [id, row] of wanted) if (!missing.has(id)) this.#counter.add(row)
    const left = (await this.#settling.take(asked, there, lost)).filter(one => there.has(one))
    // of what could not be had an older revision is here
    for (const [id, version] of await this.held.docs(left, true)) this.#counter.add({ ...wanted.get(id), ...version })
    this.#counter.forget(wanted.values())
    this.#tell()
  }

  /** The documents of the layer that are no tiles. */
  async #takeNamed () {
    const rows = await this.listing.named()
    const there = await this.held.named()
    const listed = new Set(rows.map(({ id }) => id))
    await this.#settling.take(this.#settling.missing(rows, there), there, [...there.keys()].filter(id => !listed.has(id)))
  }

  #arrive (docs) {
    this.#settling.arrive(docs)
    for (const doc of docs) if (!doc._deleted && isTileId(doc._id)) this.#counter.add({ ...parseTileId(doc._id), ...sizeOf(doc) })
    this.#tell()
  }

  #tell () {
    this.onProgress?.(this.progress())
    if (!this.#isListing || Date.now() - this.#noted < this.limits.noting) return
    this.#save().catch(() => {}) // what is wrong is found by who writes next
  }

  /** In the order in which they are asked for. @param {Partial<import('./note.js').AreaNote>} [fields] */
  async #save (fields) {
    const note = Object.assign(this.#note, fields)
    if (!note.touched.length) note.held = { ...this.#counter.counts }
    this.#noted = Date.now()
    const [earlier, now] = [this.#saving, { ...note }]
    this.#saving = earlier.catch(() => {}).then(() => saveNote(this.db, now))
    await this.#saving
  }

  async #bury () {
    if (this.#note.buried) return
    this.#note.buried = true
    await this.#save()
  }

  /** Whether both sides are well. The store is asked as it is for tiles, for what it surely has. */
  async #probe () {
    await this.#prober.fetch([{ id: layerId(this.layer), rev: /** @type {any} */ (undefined) }], { signal: this.#stop.signal })
    await this.target.info()
  }
}

const NONE = /** @type {Map<string, import('./held.js').HeldVersion>} */ (new Map())
