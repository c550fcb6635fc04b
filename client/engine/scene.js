// Keeps the tiles on the screen, and decides which image each of them shows. A step of the clock replaces only the
// tiles that differ, after their images are decoded, and all at once. If some are very late, the others do not wait for
// them. A tile that comes into view during a step is shown with the others: no frame mixes two times.
//
// Each tile is in one of these states. Until it is `shown`, it shows the image that it had before, if any.
//
//   state     meaning                                        ends when                                     others wait
//   unknown   the index does not say what it should show     the index says it: waiting, staged or shown   yes
//   late      the same, for longer than `together`           the same                                      no
//   waiting   its image is not decoded                       the image is decoded: staged, or it failed    yes
//   staged    its image is decoded, or it shows nothing      no other tile is waited for: shown            no
//   shown     it shows what it should                        the clock moves, or it has a new version      no
//   failed    its image did not come; this was reported      an attempt succeeds: shown                    no
//
// Others wait for a tile at most `together` milliseconds, and only if a tile would change that shows an older image.
import { TilecouchError } from '../../core/index.js'
import { backoff } from '../source/wait.js'
import { versionKey } from './image-cache.js'

/**
 * @typedef {import('./resolve.js').Picture} Picture
 *
 * @typedef {object} TileView shows the images of one tile of the map
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
 * @property {string | undefined} [target] key of the image that it should show; '': none; undefined: not known yet
 * @property {string | undefined} [shown] key of the image that it shows
 * @property {Picture | null} [picture] of the target
 * @property {{image: any, picture: Picture | null, isFromDevice: boolean} | null} [staged] decoded,
 *   not shown yet
 * @property {boolean} [isFromDevice] its image came from the device
 * @property {number} [unknownSince] milliseconds: since then the index does not know what it should show
 * @property {boolean} [failed]
 * @property {number} [failures] in a row
 * @property {ReturnType<typeof setTimeout>} [timer] of the next attempt
 */

const pictureKey = picture => picture ? `${versionKey(picture.version)} ${picture.up}/${picture.dx}/${picture.dy}` : ''

export class Scene {
  /** @type {Set<Item>} */
  #items = new Set()
  #images
  #resolve
  #options
  #listeners
  #isCurrent
  #decode
  /** onShown was called: every tile shows its target */
  #isComplete = true
  /** update() is running: not all tiles have their target */
  #updating = false
  /** the time in which others wait for a tile has passed */
  #isWaitOver = false
  /** ends that time @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /** how often the clock moved */
  #step = 0
  /** the clock moved, and tiles in view still show an earlier time */
  isStepping = false

  /**
   * @param {import('./image-cache.js').ImageCache} images
   * @param {{resolve: (tile: {z: number, x: number, y: number}) => Picture | null | undefined, isCurrent: (item: Item)
   *   => boolean, decode: (image: Blob, picture: Picture, item: Item) => Promise<any>}} map isCurrent: whether a tile
   *   is in view; maps keep other tiles, which stay as they are
   * @param {{together: number, fade: number}} options milliseconds
   * @param {{onShown: () => void, onPaint: () => void, onMissing: () => void, onOutdated: (item: Item) => void,
   *   onError: (item: Item, error: Error, isFirst: boolean) => void, onLoad: (item: Item, isFirst: boolean) => void}}
   *   listeners onShown: every tile shows what it should; onPaint: some tiles have got another image; onMissing: the
   *   index lacks a tile; onOutdated: a version in the index does not exist
   */
  constructor (images, { resolve, isCurrent, decode }, options, listeners) {
    this.#images = images
    this.#resolve = resolve
    this.#isCurrent = isCurrent
    this.#decode = decode
    this.#options = options
    this.#listeners = listeners
  }

  /** Whether every tile shows what it should, or has failed and reported it. */
  get isShown () {
    if (this.#updating) return false
    for (const item of this.#items) if (this.#isPending(item)) return false
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

  /**
   * Begins a step: the clock moved, and `update` follows. `onShown` is called when all tiles are shown, also if none
   * had to change.
   */
  beginStep () {
    // each step has all of its waiting time, also if tiles of the previous step were late
    this.#timer = void clearTimeout(this.#timer)
    this.#isComplete = this.#isWaitOver = false
    this.isStepping = this.#updating = true
    this.#step++
  }

  /** Finds the image that every tile should show now, and loads new images. */
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

  /** Loads failed images again. */
  retry () {
    for (const item of this.#items) {
      if (!item.failed) continue
      this.#release(item, false)
      item.target = undefined
    }
    this.update()
  }

  /** Forgets all tiles, and reports nothing. */
  close () {
    this.#timer = void clearTimeout(this.#timer)
    for (const item of this.#items) this.#release(item, true)
    this.#items.clear()
    this.#isComplete = true
    this.#isWaitOver = this.isStepping = false
  }

  /** @returns {boolean} whether the index knows the image */
  #setTarget (item) {
    const picture = this.#resolve(item)
    if (picture === undefined) {
      if (item.target !== item.shown) { // the image of an earlier step must not be seen now
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
    // compares with the present step: an image that several steps asked for is decoded once
    const isWanted = () => item.picture === picture && this.#items.has(item)
    try {
      const blob = await this.#images.load(picture.version, { user: item })
      if (!isWanted()) return
      const isFromDevice = this.#images.isFromDevice(blob)
      const image = await this.#decode(blob, picture, item).catch(() => this.#images.forget(picture.version))
      if (!isWanted()) return discard(image)
      if (image) return this.#stage(item, image, isFromDevice)
      if (isFromDevice && !isSecond) return this.#load(item, true) // from the network
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
    if (isFirst) item.shown = '?' // any result replaces it, even that there is nothing to draw
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
    if (item.picture) this.#images.release(item.picture.version, item, { abort })
  }

  /** Shows staged images unless other tiles must come first, and reports when all tiles are shown. */
  #showStaged () {
    if (this.#updating) return
    const pendingItems = [...this.#items].filter(item => this.#isPending(item) && this.#stateOf(item) !== 'late')
    const isAwaited = pendingItems.some(item => this.#stateOf(item) !== 'staged')
    const mustWait = isAwaited && !this.#isWaitOver && pendingItems.some(hasOlder)
    this.isStepping &&= mustWait
    if (mustWait) this.#timer ??= setTimeout(() => this.#stopWaiting(), this.#options.together)
    else this.#timer = void clearTimeout(this.#timer)
    const step = this.#step
    let hasChanged = false // a tile that had a result shows another one
    for (const item of this.#items) {
      if (!item.staged || (mustWait && (this.isStepping || hasOlder(item)))) continue
      hasChanged ||= item.shown !== undefined
      this.#show(item)
      if (this.#step !== step) break // a listener moved the clock
    }
    if (hasChanged) this.#listeners.onPaint()
    if (this.#step !== step) return
    if (!isAwaited) this.#isWaitOver = false
    if (this.#isComplete || !this.isShown) return
    this.#isComplete = true
    this.#listeners.onShown()
  }

  /** @param {Item} item */
  #isPending (item) {
    return !SETTLED.has(this.#stateOf(item)) && this.#isCurrent(item)
  }

  /** @param {Item} item @returns {'unknown' | 'late' | 'waiting' | 'staged' | 'shown' | 'failed'} */
  #stateOf ({ unknownSince, failed, target, shown, staged }) {
    // other tiles wait only `together` milliseconds for an index that does not answer
    if (unknownSince !== undefined) return Date.now() - unknownSince >= this.#options.together ? 'late' : 'unknown'
    if (failed) return 'failed' // also while a new attempt is decoded: nothing waits for it
    if (target !== undefined && target === shown) return 'shown'
    return staged ? 'staged' : 'waiting'
  }

  #stopWaiting () {
    this.#timer = undefined
    this.#isWaitOver = true
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

/** An image that will not be shown. A bitmap keeps its memory until it is closed. */
const discard = image => image?.close?.()

/** Whether a tile shows an earlier image, or correctly showed none. */
const hasOlder = item => item.shown !== undefined && item.shown !== '?'

const SETTLED = new Set(['shown', 'failed'])
