// Fetches in advance what the next steps of the clock are likely to need, within a budget, when nothing else is to do.
import { neighbours } from './resolve.js'

export class Preloader {
  /** Which way the clock moved last: that side comes first. */
  forward = true
  #images
  #neededAt
  #options
  #user = {}
  /** @type {import('./version-index.js').Version[]} */
  #wanted = []

  /**
   * @param {import('./tile-store.js').TileStore} images
   * @param {(times: (string | null)[]) => import('./version-index.js').Version[]} neededAt what a time needs and is not there yet, in view
   * @param {{preload: number, preloadSize: number}} options
   */
  constructor (images, neededAt, options) {
    this.#images = images
    this.#neededAt = neededAt
    this.#options = options
  }

  /**
   * @param {{time: string}[]} changes of the view
   * @param {string | null} time
   */
  run (changes, time) {
    this.drop()
    let bytes = 0
    for (const version of this.#neededAt(neighbours(changes, time, this.#options.preload, this.forward))) {
      if ((bytes += version.bytes) > this.#options.preloadSize) break
      this.#load(version).catch(() => {}) // asked for again when it is wanted
    }
  }

  /** @param {(string | null)[]} times */
  async load (times) {
    await Promise.allSettled(this.#neededAt(times).map(version => this.#load(version)))
  }

  /** What has not begun need not begin. */
  drop () {
    for (const version of this.#wanted.splice(0)) this.#images.release(version, this.#user)
  }

  #load (version) {
    this.#wanted.push(version)
    return this.#images.load(version, { urgent: false, user: this.#user })
  }
}
