// Reads the change feed of a store while others write to it, so that the result is the store as it was at one
// moment. Existing documents come page by page. Later changes are only recorded, until the feed answers that nothing
// has changed since the last place: at that moment everything was as recorded. The shards of one answer are not read at
// one moment; the empty next answer shows that none of them changed in between.
import { headId, isAdministrative, isTileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { TemporaryDatabase } from '../formats/spool.js'

/** @typedef {import('../../core/mirror/peer.js').Row} Row */

export class SnapshotReader {
  total = /** @type {number | undefined} */ (undefined) // changes at the beginning, as the feed says
  read = 0

  /**
   * @param {import('../../core/mirror/peer.js').Peer} peer
   * @param {{since: string | number, limits: typeof import('./index.js').backupDefaults, signal: AbortSignal}} options
   */
  constructor (peer, { since, limits, signal }) {
    this.peer = peer
    this.since = since
    this.limits = limits
    this.signal = signal
  }

  #page () {
    const page = this.peer.changes({ since: this.since, limit: this.limits.page, signal: this.signal })
    page.catch(() => {}) // it is awaited later, maybe after another failure
    return page
  }

  /** Reads the existing documents. @param {(rows: Row[]) => Promise<void>} take */
  async readExisting (take) {
    for (let next = this.#page(); ;) {
      const { rows, last, pending } = await next
      this.total ??= rows.length + pending
      this.read += rows.length
      this.since = last
      const isOver = rows.length < this.limits.page || this.read >= this.total
      if (!isOver) next = this.#page()
      await take(rows.filter(isBackedUp))
      if (isOver) return
    }
  }

  /**
   * Reads the changes after the existing documents, up to one moment.
   * @param {(rows: AsyncIterable<Row[]>) => Promise<void>} take
   * @returns {Promise<{moment: 'store' | 'tile', seq: string | number}>}
   */
  async readChanges (take) {
    const changed = await ChangedRows.open()
    try {
      const end = await this.#readWholeStore(changed) ?? await this.#readTileByTile(changed)
      await take(changed.pages(this.limits.page))
      return end
    } finally {
      await changed.close()
    }
  }

  async #readWholeStore (changed) {
    for (let attempt = 0; attempt < this.limits.quiet; attempt++) {
      const count = await this.#readToEnd(row => changed.add(row))
      if (!count) return { moment: /** @type {const} */ ('store'), seq: this.since }
    }
  }

  /**
   * Used if the store changes all the time. A tile that did not change between two readings was recorded as it was at
   * one moment.
   */
  async #readTileByTile (changed) {
    const seq = this.since // documents left out below come with the next backup
    const add = (tiles, row) => {
      const tile = tileOf(row.id)
      if (tile) tiles.set(tile, [...tiles.get(tile) ?? [], row])
      // a layer exists before its tiles; an edition ends after them, and comes with the next backup
      else if (row.id.startsWith('layer:') && !row.deleted) changed.add(row)
    }
    /** @type {Map<string, Row[]>} tiles that have changed, each with its rows */
    let changing = new Map()
    await this.#readToEnd(row => add(changing, row))
    for (let attempt = 0; changing.size; attempt++) {
      if (attempt > this.limits.tries) {
        const why = `the tile ${[...changing.keys()][0]} changed all the time`
        throw new TilecouchError('BACKUP_OVERTAKEN', { url: this.peer.name, why })
      }
      const changedAgain = new Map()
      await this.#readToEnd(row => add(changedAgain, row))
      const unstable = new Map()
      for (const [tile, rows] of changing) {
        if (changedAgain.has(tile)) unstable.set(tile, [...rows, ...changedAgain.get(tile)])
        else for (const row of rows) changed.add(row)
      }
      changing = unstable
    }
    this.since = seq
    return { moment: /** @type {const} */ ('tile'), seq }
  }

  /** Reads to the end of the feed. @returns {Promise<number>} changes */
  async #readToEnd (add) {
    for (let count = 0; ;) {
      const { rows, last } = await this.#page()
      const selectedRows = rows.filter(isBackedUp)
      for (const row of selectedRows) add(row)
      this.since = last
      count += selectedRows.length
      if (rows.length < this.limits.page) return count
    }
  }
}

/** Administrative documents are about the running of the store, and are not backed up. @param {Row} row */
const isBackedUp = ({ id }) => !isAdministrative(id)

/** The id of the tile's head; undefined for other documents. */
const tileOf = id => isTileId(id) ? headId(id) : undefined

/** Keeps the last row of each changed document on disk, since writers may be faster than the backup. */
class ChangedRows {
  #temporary
  #insert
  #page

  static open () {
    return TemporaryDatabase.open(temporary => new ChangedRows(temporary))
  }

  /** @param {TemporaryDatabase} temporary */
  constructor (temporary) {
    this.#temporary = temporary
    temporary.db.exec('CREATE TABLE changed (id TEXT PRIMARY KEY, row TEXT) WITHOUT ROWID; BEGIN')
    this.#insert = temporary.db.prepare('INSERT OR REPLACE INTO changed VALUES (?, ?)')
    this.#page = temporary.db.prepare('SELECT id, row FROM changed WHERE id > ? ORDER BY id LIMIT ?').raw()
  }

  add (row) {
    this.#temporary.work(() => this.#insert.run([row.id, JSON.stringify(row)]))
  }

  async * pages (size) {
    for (let last = ''; ;) {
      const rows = this.#temporary.work(() => /** @type {any[]} */ (this.#page.all(last, size)))
      if (!rows.length) return
      yield rows.map(([, row]) => JSON.parse(row))
      last = rows[rows.length - 1][0]
    }
  }

  close () {
    return this.#temporary.close()
  }
}
