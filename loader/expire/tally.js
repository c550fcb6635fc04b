// What has expired, and what became of it.

const MOST_NAMED = 100 // tiles

export class Tally {
  expired = 0 // tiles
  bytes = 0 // of them
  gone = 0 // besides: heads that say "no tile here any more", and have expired as well
  /** @type {Record<string, {tiles: number, bytes: number, gone: number, first: string | null, last: string | null}>} by layer; first, last: when they expired */
  layers = {}
  /** @type {{layer: string, code: string, reason: string}[]} that cannot be refreshed */
  passedOver = []
  // listing
  /** @type {{id: string, expires: string, seconds: number, bytes: number}[]} the first */
  listed = []
  // refreshing
  fetched = 0 // got from the upstream, or confirmed by it
  changed = 0 // refreshing: became a version; removing: written by somebody else meanwhile
  unchanged = 0 // hold longer
  fresh = 0 // refreshed by somebody else meanwhile
  missing = 0 // the upstream has none any more: they stay
  outside = 0 // the upstream does not have such tiles
  failed = 0
  left = 0 // the upstream is in trouble
  /** @type {{layer: string, code: string, reason: string}[]} */
  troubles = []
  // removing
  removed = 0 // heads
  ended = 0 // tiles with a past that are gone from then on
  versions = 0 // documents that went
  freed = 0 // bytes of them
  refused = 0
  /** @type {{id: string, what: string, reason: string}[]} the first */
  named = []

  /** @param {import('./find.js').Expired} tile @param {boolean} takesGone */
  add ({ layer, gone, size, expires }, takesGone) {
    const of = this.layers[layer] ??= { tiles: 0, bytes: 0, gone: 0, first: null, last: null }
    if (gone) {
      this.gone++
      of.gone++
      if (!takesGone) return
    }
    this.expired++
    this.bytes += size
    of.tiles++
    of.bytes += size
    if (!of.first || expires < of.first) of.first = expires
    if (!of.last || expires > of.last) of.last = expires
  }

  /** @param {'failed' | 'refused'} what */
  tell (what, id, reason) {
    this[what]++
    this.name(id, what, reason)
  }

  name (id, what, reason) {
    if (this.named.length < MOST_NAMED) this.named.push({ id, what, reason })
  }
}
