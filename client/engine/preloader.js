// Fetches the images that the next steps of the clock probably need, within a budget, when no other request is running.
import { neighbours } from './resolve.js'

export class Preloader {
  /** Whether the clock moved forward last: changes on that side are loaded first. */
  forward = true
  #images
  #neededAt
  #options
  #user = {}
  /** @type {import('./version-index.js').Version[]} */
  #startedVersions = []

  /**
   * @param {import('./image-cache.js').ImageCache} images
   * @param {(times: (string | null)[]) => import('./version-index.js').Version[]} neededAt versions that the view needs
   *   at these times and that are not loaded
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
      // the image is requested again when a tile shows it
      this.#images.load(version, { urgent: false, user: this.#user }).catch(() => {})
    }
  }

  /** Loads the images of these times, also if the clock moves. @param {(string | null)[]} times */
  async load (times, signal) {
    if (signal.aborted) return
    const user = {}
    const versions = this.#neededAt(times)
    const stop = () => { for (const version of versions) this.#images.release(version, user, { abort: true }) }
    signal.addEventListener('abort', stop)
    await Promise.allSettled(versions.map(version => this.#images.load(version, { urgent: false, user })))
    signal.removeEventListener('abort', stop)
  }

  /** Cancels the requests that have not begun. */
  drop () {
    for (const version of this.#startedVersions.splice(0)) this.#images.release(version, this.#user)
  }
}
