// What has expired, told tile by tile and left as it is.
import { toSeconds } from '../../core/index.js'

export const MOST_LISTED = 1000 // tiles kept for the summary unless told otherwise; all are counted

export class Listing {
  takesGone = false

  /** @param {import('../expire.js').Parts} parts */
  constructor ({ tally, limit = MOST_LISTED, now, onTile }) {
    this.tally = tally
    this.limit = limit
    this.at = toSeconds(now())
    this.onTile = onTile
  }

  /** @param {import('./find.js').Expired[]} tiles */
  async take (tiles) {
    const { listed } = this.tally
    for (const { id, expires, size } of tiles.slice(0, this.limit - listed.length)) {
      const tile = { id, expires, seconds: this.at - toSeconds(expires), bytes: size }
      listed.push(tile)
      this.onTile?.(tile)
    }
  }

  async finish () {}
}
