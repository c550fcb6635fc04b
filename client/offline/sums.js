// Sums of a view over the columns of an area.
import { BY_AREA, REST_BY_AREA } from './listing.js'

const SPOTS = 40 // places of a sample
const SPOT = 4 // rows at each
const BREATH = 2000 // columns between two looks at whether the page wants to do something

/** @typedef {{z: number, x: number, y0: number, y1: number, count: number}} Summed */

export class Sums {
  count = 0
  bytes = 0
  /** @type {Summed[]} */
  ranges = []

  /** @param {import('./listing.js').Listing} listing @param {string} [kind] of what is no image of now */
  constructor (listing, kind) {
    this.listing = listing
    this.kind = kind
    this.view = kind === undefined ? BY_AREA : REST_BY_AREA
  }

  /** @param {{z: number, ySpan: number[]}[]} zooms with the rows that anything is in */
  async read (zooms) {
    if (!zooms.length) return this
    const { listing } = this
    const columns = await listing.columns(zooms.map(({ z }) => z), this.view, this.kind)
    const open = []
    let seen = 0
    for (const { z, ySpan: [first, last] } of zooms) {
      for (const [x, { count, sum }] of /** @type {Map<number, any>} */ (columns.get(z))) {
        if (++seen % BREATH === 0) await new Promise(resolve => { setTimeout(resolve) })
        for (const [y0, y1] of listing.runsOf(z, x)) {
          const range = { z, x, y0, y1, count: 0 }
          if (y0 <= first && y1 >= last) this.#add(range, count, sum)
          else if (y0 <= last && y1 >= first) open.push(range)
        }
      }
    }
    const answers = await listing.ask(this.view, open.map(range => this.#between(range)))
    for (const [at, [row]] of answers.entries()) if (row) this.#add(open[at], row.value.count, row.value.sum)
    return this
  }

  #add (range, count, bytes) {
    this.count += count
    this.bytes += bytes
    this.ranges.push({ ...range, count })
  }

  #key ({ z, x }, y) {
    return [this.listing.layer, z, ...(this.kind === undefined ? [] : [this.kind]), x, y]
  }

  #between (range) {
    return { startkey: this.#key(range, range.y0), endkey: this.#key(range, range.y1) }
  }

  /** Some documents from all over the area. @returns {Promise<{id: string, bytes: number}[]>} */
  async spots () {
    if (!this.count) return []
    const queries = []
    let [at, before] = [0, 0]
    for (let spot = 0; spot < SPOTS; spot++) {
      const place = Math.floor((spot + 0.5) * this.count / SPOTS)
      while (before + this.ranges[at].count <= place) before += this.ranges[at++].count
      queries.push({ ...this.#between(this.ranges[at]), reduce: false, skip: place - before, limit: SPOT })
    }
    const answers = await this.listing.ask(this.view, queries)
    // those of a small area meet
    return [...new Map(answers.flat().map(({ id, value }) => [id, { id, bytes: value }])).values()]
  }

  /** Where anything is, a page at a time. @returns {AsyncGenerator<{z: number, x: number, y: number}[]>} */
  async * places () {
    const { spans } = this.listing.limits
    for (let at = 0; at < this.ranges.length; at += spans) {
      const some = this.ranges.slice(at, at + spans)
      const answers = await this.listing.ask(this.view, some.map(range => ({ ...this.#between(range), reduce: false })))
      yield answers.flat().map(({ key }) => ({ z: key[1], x: key[3], y: key[4] }))
    }
  }

  /** How many of these places have anything. @param {{z: number, x: number, y: number}[]} places */
  async countOf (places) {
    const answers = await this.listing.ask(this.view, places.map(({ z, x, y }) => this.#between({ z, x, y0: y, y1: y })))
    return answers.filter(([row]) => row?.value.count).length
  }
}
