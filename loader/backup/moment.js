// The changes of a store that is written to all the time, read so that what comes of it is the store as it was at one moment.
//
// Documents that were there when the reading began come page by page. What changes meanwhile is only noted, until the feed
// answers that nothing has changed since the place that was read up to: at that moment everything was as it is noted. Shards of
// one answer are not read at one moment; that the next answer is empty says that none of them moved in between.
import { TilecouchError, headId, isTileId } from '../../core/index.js'
import { Scratch } from '../scratch.js'

/** @typedef {import('../../core/mirror/peer.js').Row} Row */

export class Moments {
  /** Changes there were when the reading began, as the feed said. @type {number | undefined} */
  total
  read = 0

  /**
   * @param {import('../../core/mirror/peer.js').Peer} peer
   * @param {{since: string | number, limits: typeof import('./index.js').backupDefaults, signal: AbortSignal, onTry?: () => void}} options
   */
  constructor (peer, { since, limits, signal, onTry }) {
    this.peer = peer
    this.since = since
    this.limits = limits
    this.signal = signal
    this.onTry = onTry
  }

  #page () {
    const page = this.peer.changes({ since: this.since, limit: this.limits.page, signal: this.signal })
    page.catch(() => {}) // it is looked at later, maybe after something else has failed
    return page
  }

  /** What was there when it began. @param {(rows: Row[]) => Promise<void>} take */
  async begin (take) {
    for (let next = this.#page(); ;) {
      const { rows, last, pending } = await next
      this.total ??= rows.length + pending
      this.read += rows.length
      this.since = last
      const isOver = rows.length < this.limits.page || this.read >= this.total
      if (!isOver) next = this.#page()
      await take(rows)
      if (isOver) return
    }
  }

  /**
   * What has changed since, up to a moment.
   * @param {(rows: AsyncIterable<Row[]>) => Promise<void>} take
   * @returns {Promise<{moment: 'store' | 'tile', seq: string | number}>}
   */
  async settle (take) {
    const noted = await Noted.open()
    try {
      const end = await this.#quiet(noted) ?? await this.#tileByTile(noted)
      await take(noted.pages(this.limits.page))
      return end
    } finally {
      await noted.close()
    }
  }

  async #quiet (noted) {
    for (let attempt = 0; attempt < this.limits.quiet; attempt++) {
      this.onTry?.()
      if (!await this.#readOn(row => noted.add(row))) return { moment: /** @type {const} */ ('store'), seq: this.since }
    }
  }

  /** It is never quiet as a whole, but each tile by itself is: what has not moved from one reading to the next is one moment of it. */
  async #tileByTile (noted) {
    const seq = this.since // what is left out below is for the next backup
    const add = (tiles, row) => {
      const tile = tileOf(row.id)
      if (tile) tiles.set(tile, [...tiles.get(tile) ?? [], row])
      // a layer is there before its tiles, and an edition is at its end after them
      else if (row.id.startsWith('layer:') && !row.deleted) noted.add(row)
    }
    /** @type {Map<string, Row[]>} tiles that moved since, each with what became of it */
    let moving = new Map()
    await this.#readOn(row => add(moving, row))
    for (let attempt = 0; moving.size; attempt++) {
      if (attempt > this.limits.tries) throw new TilecouchError('BACKUP_OVERTAKEN', { url: this.peer.name, why: `the tile ${[...moving.keys()][0]} never stood still` })
      const again = new Map()
      await this.#readOn(row => add(again, row))
      const still = new Map()
      for (const [tile, rows] of moving) {
        if (again.has(tile)) still.set(tile, [...rows, ...again.get(tile)])
        else for (const row of rows) noted.add(row)
      }
      moving = still
    }
    this.since = seq
    return { moment: /** @type {const} */ ('tile'), seq }
  }

  /** To the end of the feed. @returns {Promise<number>} changes */
  async #readOn (add) {
    for (let count = 0; ;) {
      const { rows, last } = await this.#page()
      for (const row of rows) add(row)
      this.since = last
      count += rows.length
      if (rows.length < this.limits.page) return count
    }
  }
}

/** The tile that a document is of, by the id of its head; nothing for others. */
const tileOf = id => isTileId(id) ? headId(id) : undefined

/** Rows of the feed, of each document the last, however many: a writer may be quicker than a backup. */
class Noted {
  #scratch
  #insert
  #page

  static open () {
    return Scratch.open(scratch => new Noted(scratch))
  }

  /** @param {Scratch} scratch */
  constructor (scratch) {
    this.#scratch = scratch
    scratch.db.exec('CREATE TABLE noted (id TEXT PRIMARY KEY, row TEXT) WITHOUT ROWID; BEGIN')
    this.#insert = scratch.db.prepare('INSERT OR REPLACE INTO noted VALUES (?, ?)')
    this.#page = scratch.db.prepare('SELECT id, row FROM noted WHERE id > ? ORDER BY id LIMIT ?').raw()
  }

  /** @param {Row} row */
  add (row) {
    this.#scratch.work(() => this.#insert.run([row.id, JSON.stringify(row)]))
  }

  /** @param {number} size */
  async * pages (size) {
    for (let last = ''; ;) {
      const found = this.#scratch.work(() => /** @type {any[]} */ (this.#page.all(last, size)))
      if (!found.length) return
      yield found.map(([, row]) => JSON.parse(row))
      last = found[found.length - 1][0]
    }
  }

  close () {
    return this.#scratch.close()
  }
}
