// The tiles on the screen and what each of them should show. A step of the clock replaces only the tiles that differ,
// after their images are decoded, and all at once; only if some are very late, the others do not wait for them. What
// comes into view during a step is shown with the others: no frame mixes two times.
import { TilecouchError } from '../../core/index.js'
import { backoff } from '../source/wait.js'
import { versionKey } from './image-cache.js'

/**
 * @typedef {import('./resolve.js').Picture} Picture
 *
 * @typedef {object} TileView what a tile of the map shows
 * @property {(image: any, picture: Picture | null, fade: number) => void} show an image, or nothing; fade: milliseconds
 * @property {(isFailed: boolean) => void} mark
 * @property {(isFromDevice: boolean) => void} note
 *
 * @typedef {object} Item
 * @property {TileView} view
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {(error?: Error) => void} ready called once: with the first image, without one, or with the first error
 * @property {string | undefined} [target] names what it should show; '' nothing; undefined: not known yet
 * @property {string | undefined} [shown] names what it shows
 * @property {Picture | null} [picture] of the target
 * @property {{image: any, picture: Picture | null, isFromDevice: boolean} | null} [staged] decoded,
 *   not shown yet
 * @property {boolean} [isFromDevice] what it shows came from the device
 * @property {number} [unknownSince] milliseconds: since then the index cannot say what it should show
 * @property {boolean} [failed]
 * @property {number} [failures] in a row
 * @property {ReturnType<typeof setTimeout>} [timer] of the next attempt
 */

const pictureKey = picture => picture ? `${versionKey(picture.version)} ${picture.up}/${picture.dx}/${picture.dy}` : ''

export class Scene {
  /** @type {Set<Item>} */
  #items = new Set()
  #store
  #resolve
  #options
  #listeners
  #isCurrent
  #decode
  #isComplete = true
  /** not every tile knows what it should show now */
  #updating = false
  #late = false
  /** ends the waiting for what is late @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /** how often the clock moved */
  #step = 0
  /** the clock moved, and tiles in view still show the time before */
  isStepping = false

  /**
   * @param {import('./image-cache.js').ImageCache} store
   * @param {{resolve: (tile: {z: number, x: number, y: number}) => Picture | null | undefined, isCurrent: (item: Item)
   *   => boolean, decode: (image: Blob, picture: Picture, item: Item) => Promise<any>}} map
   *   isCurrent: whether a tile is in view; maps keep others, which are left as they are
   * @param {{together: number, fade: number}} options milliseconds
   * @param {{onShown: () => void, onPaint: () => void, onMissing: () => void, onOutdated: (item: Item) => void,
   *   onError: (item: Item, error: Error, isFirst: boolean) => void, onLoad: (item: Item, isFirst: boolean) => void}}
   *   listeners
   *   onShown: every tile shows what it should; onPaint: some tiles show something else than before, from this moment;
   *   onMissing: the index lacks something; onOutdated: a version the index names is not there
   */
  constructor (store, { resolve, isCurrent, decode }, options, listeners) {
    this.#store = store
    this.#resolve = resolve
    this.#isCurrent = isCurrent
    this.#decode = decode
    this.#options = options
    this.#listeners = listeners
  }

  /** Whether every tile shows what it should, or has failed and reported it. */
  get isShown () {
    if (this.#updating) return false
    for (const item of this.#items) if (!isSettled(item) && this.#isCurrent(item)) return false
    return true
  }

  /** Whether a tile shows the version of the present time. */
  isRight (item) {
    const picture = this.#resolve(item)
    return picture !== undefined && pictureKey(picture) === item.shown
  }

  /** @returns {Iterable<Item>} */
  get items () {
    return this.#items
  }

  add (item) {
    this.#items.add(item)
    this.#isComplete = false
  }

  remove (item) {
    if (!this.#items.delete(item)) return
    this.#release(item, true)
    if (!this.#isComplete) this.#showStaged()
  }

  /** The clock moved, and `update` follows: when all is shown it is said, also when nothing had to change. */
  beginStep () {
    // what was late in the last step says nothing of this one, which has all of its time to come
    this.#timer = void clearTimeout(this.#timer)
    this.#isComplete = this.#late = false
    this.isStepping = this.#updating = true
    this.#step++
  }

  /** Works out for every tile what it should show now, and fetches what is new. */
  update () {
    let missing = false
    this.#updating = true
    for (const item of this.#items) {
      if (!this.#isCurrent(item)) continue
      const isKnown = this.#setTarget(item)
      item.unknownSince = isKnown ? undefined : item.unknownSince ?? Date.now()
      missing ||= !isKnown
    }
    this.#updating = false
    if (missing) this.#listeners.onMissing()
    this.#showStaged()
  }

  /** Tries again what failed. */
  retry () {
    for (const item of this.#items) {
      if (!item.failed) continue
      this.#release(item, false)
      item.target = undefined
    }
    this.update()
  }

  /** Forgets all tiles, without a word. */
  close () {
    this.#timer = void clearTimeout(this.#timer)
    for (const item of this.#items) this.#release(item, true)
    this.#items.clear()
    this.#isComplete = true
    this.#late = this.isStepping = false
  }

  /** @returns {boolean} whether the index could say */
  #setTarget (item) {
    const picture = this.#resolve(item)
    if (picture === undefined) {
      if (item.target !== item.shown) { // what an earlier step wanted is not to be seen now
        this.#release(item, false)
        item.target = item.picture = undefined
      }
      return false
    }
    const key = pictureKey(picture)
    if (key === item.target) return true
    this.#release(item, false)
    Object.assign(item, { target: key, picture, failed: false, failures: 0 })
    item.view.mark(false)
    this.#isComplete = false
    if (key === item.shown) return true
    if (picture) this.#load(item)
    else this.#stage(item, null)
    return true
  }

  async #load (item, isSecond = false) {
    const { picture } = item
    // by this very step: a version that many steps wanted is decoded once
    const isWanted = () => item.picture === picture && this.#items.has(item)
    try {
      const blob = await this.#store.load(picture.version, { user: item })
      if (!isWanted()) return
      const isFromDevice = this.#store.isFromDevice(blob)
      const image = await this.#decode(blob, picture, item).catch(() => this.#store.forget(picture.version))
      if (!isWanted()) return discard(image)
      if (image) return this.#stage(item, image, isFromDevice)
      if (isFromDevice && !isSecond) return this.#load(item, true) // now from elsewhere
      throw new TilecouchError('TRUNCATED_IMAGE', { type: blob.type || 'image', why: 'the browser cannot decode it' })
    } catch (error) {
      if (isWanted() && error.name !== 'AbortError') this.#fail(item, error)
    }
  }

  #stage (item, image, isFromDevice = false) {
    item.staged = { image, picture: item.picture, isFromDevice }
    item.failures = 0
    this.#showStaged()
  }

  #fail (item, error) {
    item.failed = true
    item.failures++
    item.view.mark(true)
    if (error.code === 'TILE_NOT_FOUND' && item.failures === 1) this.#listeners.onOutdated(item)
    const isFirst = item.shown === undefined
    if (isFirst) item.shown = '?' // neither an image nor nothing: whatever comes replaces it
    this.#listeners.onError(item, error, isFirst)
    item.timer = setTimeout(() => {
      if (item.failed) this.#load(item)
    }, backoff(item.failures, { first: 4000, longest: 60000 }))
    this.#showStaged()
  }

  #release (item, abort) {
    clearTimeout(item.timer)
    discard(item.staged?.image)
    item.staged = null
    if (item.picture) this.#store.release(item.picture.version, item, { abort })
  }

  /** Shows staged images when it is time to, and reports when all is shown. */
  #showStaged () {
    if (this.#updating) return
    let [waiting, keeping] = [false, false]
    for (const item of this.#items) {
      if (isSettled(item) || !this.#isCurrent(item) || this.#isUnknownForLong(item)) continue
      waiting ||= !item.staged
      keeping ||= hasOlder(item)
    }
    const isHeld = waiting && keeping && !this.#late
    this.isStepping &&= isHeld
    if (isHeld) this.#timer ??= setTimeout(() => this.#stopWaiting(), this.#options.together)
    else this.#timer = void clearTimeout(this.#timer)
    const step = this.#step
    let changed = false
    for (const item of this.#items) {
      if (!item.staged || (isHeld && (this.isStepping || hasOlder(item)))) continue
      changed ||= item.shown !== undefined
      this.#show(item)
      if (this.#step !== step) break // who heard of it moved the clock
    }
    if (changed) this.#listeners.onPaint()
    if (this.#step !== step) return
    if (!waiting) this.#late = false
    if (this.#isComplete || !this.isShown) return
    this.#isComplete = true
    this.#listeners.onShown()
  }

  /** While steps follow one another quickly, each waits anew; an index that does not answer holds up none for ever. */
  #isUnknownForLong (item) {
    return item.unknownSince !== undefined && Date.now() - item.unknownSince >= this.#options.together
  }

  #stopWaiting () {
    this.#timer = undefined
    this.#late = true
    this.#showStaged()
  }

  #show (item) {
    const { image, picture, isFromDevice } = /** @type {NonNullable<Item['staged']>} */ (item.staged)
    const isFirst = item.shown === undefined
    const wasShown = item.shown
    item.staged = null
    item.shown = item.target
    if (item.failed) {
      item.failed = false
      item.view.mark(false)
    }
    item.isFromDevice = isFromDevice
    item.view.note(isFromDevice)
    item.view.show(image, picture, isFirst || wasShown === '?' ? 0 : this.#options.fade)
    this.#listeners.onLoad(item, isFirst)
  }
}

/** An image that nobody will see: a bitmap keeps its memory until it is closed. */
const discard = image => image?.close?.()

/** Whether it shows an earlier image, or nothing where there was none. */
const hasOlder = item => item.shown !== undefined && item.shown !== '?'

const isSettled = item => item.unknownSince === undefined &&
  (item.failed || (item.target !== undefined && item.target === item.shown))
