// Fetches the images that the next steps of the clock probably need, within a budget, when no other request is running.
import { neighbours } from './resolve.js'

export class Preloader {
  /** Which way the clock moved last: that side comes first. */
  forward = true
  #images
  #neededAt
  #options
  #user = {}
  /** @type {import('./version-index.js').Version[]} */
  #startedVersions = []

  /**
   * @param {import('./image-cache.js').ImageCache} images
   * @param {(times: (string | null)[]) => import('./version-index.js').Version[]} neededAt what a time needs and is not
   *   there yet, in view
   * @param {{preload: number, preloadSize: number}} options
   */
  constructor (images, neededAt, options) {
    this.#images = images
    this.#neededAt = neededAt
    this.#options = options
  }

  /** @param {{time: string}[]} changes of the view */
  run (changes, time) {
    this.drop()
    let bytes = 0
    for (const version of this.#neededAt(neighbours(changes, time, this.#options.preload, this.forward))) {
      if ((bytes += version.bytes) > this.#options.preloadSize) break
      this.#startedVersions.push(version)
      // asked for again when it is wanted
      this.#images.load(version, { urgent: false, user: this.#user }).catch(() => {})
    }
  }

  /** Whatever the clock does meanwhile. @param {(string | null)[]} times */
  async load (times, signal) {
    if (signal.aborted) return
    const user = {}
    const versions = this.#neededAt(times)
    const stop = () => { for (const version of versions) this.#images.release(version, user, { abort: true }) }
    signal.addEventListener('abort', stop)
    await Promise.allSettled(versions.map(version => this.#images.load(version, { urgent: false, user })))
    signal.removeEventListener('abort', stop)
  }

  /** What has not begun need not begin. */
  drop () {
    for (const version of this.#startedVersions.splice(0)) this.#images.release(version, this.#user)
  }
}
