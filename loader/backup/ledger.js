// What a database has to hold when it is restored: of each document what the newest page that names it says. It need not fit into memory.
import { Scratch } from '../scratch.js'

/** @typedef {{rev: string, digests: string}} Leaf */

export class Ledger {
  #scratch
  #rank
  #known
  #forget
  #insert
  #leaves
  #see
  #unseen

  static open () {
    return Scratch.open(scratch => new Ledger(scratch))
  }

  /** Use `Ledger.open`. @param {Scratch} scratch */
  constructor (scratch) {
    this.#scratch = scratch
    const { db } = scratch
    db.exec('CREATE TABLE leaves (id TEXT, rev TEXT, rank INTEGER, deleted INTEGER, digests TEXT, bytes INTEGER, seen INTEGER, PRIMARY KEY (id, rev)) WITHOUT ROWID; BEGIN')
    this.#rank = db.prepare('SELECT rank FROM leaves WHERE id = ? LIMIT 1').raw()
    this.#known = db.prepare('SELECT 1 FROM leaves WHERE id = ? AND rev = ?').raw()
    this.#forget = db.prepare('DELETE FROM leaves WHERE id = ?')
    this.#insert = db.prepare('INSERT INTO leaves VALUES (?, ?, ?, ?, ?, ?, 0)')
    this.#leaves = db.prepare('SELECT rev, digests FROM leaves WHERE id = ?').raw()
    this.#see = db.prepare('UPDATE leaves SET seen = 1 WHERE id = ?')
    this.#unseen = db.prepare('SELECT DISTINCT id FROM leaves WHERE seen = 0 LIMIT ?').raw()
  }

  /**
   * @param {any} doc
   * @param {number} rank of the page; where another one says something of the same document, the higher is right
   * @returns {'stands' | 'superseded' | 'twice'} as far as is known; twice: that page has the very revision already
   */
  add (doc, rank) {
    const { _id: id, _rev: rev, _deleted: gone = false, _attachments: attachments = {} } = doc
    return this.#scratch.work(() => {
      const known = /** @type {any} */ (this.#rank.get([id]))?.[0]
      if (known > rank) return 'superseded'
      if (known < rank) this.#forget.run([id])
      else if (known === rank && this.#known.get([id, rev])) return 'twice'
      const bytes = Object.values(attachments).reduce((sum, { length }) => sum + length, 0)
      this.#insert.run([id, rev, rank, gone ? 1 : 0, digestsOf(doc), bytes])
      return 'stands'
    })
  }

  /** Whether such a document of that page stands. */
  has (id, rank) {
    return /** @type {any} */ (this.#scratch.work(() => this.#rank.get([id])))?.[0] === rank
  }

  /** A revision that the database does not take. */
  drop (id, rev) {
    this.#scratch.work(() => this.#scratch.db.prepare('DELETE FROM leaves WHERE id = ? AND rev = ?').run([id, rev]))
  }

  /** @param {string} id @returns {Leaf[]} */
  leaves (id) {
    return this.#scratch.work(() => /** @type {any[]} */ (this.#leaves.all([id]))).map(([rev, digests]) => ({ rev, digests }))
  }

  see (id) {
    this.#scratch.work(() => this.#see.run([id]))
  }

  /** Documents that were never seen. @param {number} most @returns {string[]} */
  unseen (most) {
    return this.#scratch.work(() => /** @type {any[]} */ (this.#unseen.all([most]))).map(([id]) => id)
  }

  /** @returns {{documents: number, revisions: number, deleted: number, tiles: number, bytes: number}} documents: that are not deleted; tiles: their versions */
  counts () {
    return this.#scratch.work(() => {
      const one = sql => /** @type {any} */ (this.#scratch.db.prepare(sql).raw().get([]))
      const [revisions, bytes] = one('SELECT count(*), coalesce(sum(bytes), 0) FROM leaves')
      const [all] = one('SELECT count(DISTINCT id) FROM leaves')
      const [documents] = one('SELECT count(DISTINCT id) FROM leaves WHERE deleted = 0')
      const [tiles] = one("SELECT count(DISTINCT id) FROM leaves WHERE deleted = 0 AND id LIKE '%:%:%:%' AND id NOT LIKE 'edition:%'")
      return { documents, revisions, deleted: all - documents, tiles, bytes }
    })
  }

  close () {
    return this.#scratch.close()
  }
}

/** What the attachments of a document are, in one text. */
export const digestsOf = ({ _attachments: attachments = {} }) =>
  Object.entries(attachments).map(([name, { digest }]) => `${name} ${digest}`).sort().join('\n')
