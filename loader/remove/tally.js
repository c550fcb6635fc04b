// What a removal did, or would do.

/**
 * @typedef {object} Tally
 * @property {number} tiles that lost something
 * @property {number} versions that went; with a whole layer: documents, so that one a head had fallen back to counts twice
 * @property {number} bytes of their images
 * @property {number} heads documents of heads that went, since nothing is left of their tiles
 * @property {number} fallen heads that fell back to the version before
 * @property {number} purged documents of which nothing is left, not even that they were deleted
 * @property {number} changed documents that somebody else wrote meanwhile: left for the next run
 * @property {number} refused documents that the store did not let go, or that nobody of ours has written
 * @property {{id: string, what: 'changed' | 'refused', reason: string}[]} named the first of the changed and the refused
 */

export class Count {
  /** @type {Tally} */
  tally = { tiles: 0, versions: 0, bytes: 0, heads: 0, fallen: 0, purged: 0, changed: 0, refused: 0, named: [] }

  /** @param {number} most documents that are named */
  constructor (most) {
    this.most = most
  }

  /** A tile from which versions went. @param {number[]} sizes of their images */
  went (sizes) {
    if (!sizes.length) return
    this.tally.tiles++
    this.tally.versions += sizes.length
    for (const size of sizes) this.tally.bytes += size
  }

  /** What was to be deleted and was not. @param {import('./documents.js').Ended} ended */
  kept ({ changed, refused }) {
    for (const id of changed) this.tell('changed', id, CHANGED)
    for (const { id, reason } of refused) this.tell('refused', id, reason)
  }

  /** @param {'changed' | 'refused'} what @param {string} id @param {string} reason */
  tell (what, id, reason) {
    this.tally[what]++
    if (this.tally.named.length < this.most) this.tally.named.push({ id, what, reason })
  }
}

export const CHANGED = 'somebody else wrote it meanwhile'
