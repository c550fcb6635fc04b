// What a database has to hold after a restore: every document, revision and digest, from the newest page that names the
// document. It is kept on disk, since it may not fit into memory, and the restored database is compared with it.
import { TemporaryDatabase } from '../spool.js'

export const compareDefaults = {
  page: 1000, // documents compared at once
  named: 20 // differences that are reported
}

/** @typedef {{rev: string, digests: string}} Leaf */

export class ExpectedDocuments {
  #scratch
  #rank
  #known
  #forget
  #insert
  #leaves
  #see
  #unseen

  static open () {
    return TemporaryDatabase.open(scratch => new ExpectedDocuments(scratch))
  }

  /** Use `ExpectedDocuments.open`. @param {TemporaryDatabase} scratch */
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
   * @param {number} rank of the page: of several pages with a document, the one with the highest rank counts
   * @returns {'current' | 'superseded' | 'twice'} so far; twice: the page has the same revision already
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
      return 'current'
    })
  }

  /** Whether the document counts as that page has it. */
  has (id, rank) {
    return /** @type {any} */ (this.#scratch.work(() => this.#rank.get([id])))?.[0] === rank
  }

  /** Forgets a revision that the database refused. */
  drop (id, rev) {
    this.#scratch.work(() => this.#scratch.db.prepare('DELETE FROM leaves WHERE id = ? AND rev = ?').run([id, rev]))
  }

  /** @param {string} id @returns {Leaf[]} */
  leaves (id) {
    return this.#scratch.work(() => /** @type {any[]} */ (this.#leaves.all([id]))).map(([rev, digests]) => ({ rev, digests }))
  }

  markSeen (id) {
    this.#scratch.work(() => this.#see.run([id]))
  }

  /** Documents that were not seen. @param {number} most @returns {string[]} */
  unseen (most) {
    return this.#scratch.work(() => /** @type {any[]} */ (this.#unseen.all([most]))).map(([id]) => id)
  }

  /**
   * @returns {{documents: number, revisions: number, deleted: number, tiles: number, bytes: number}} tiles: versions of
   *   tiles
   */
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

/** Names and digests of a document's attachments as one text. */
const digestsOf = ({ _attachments: attachments = {} }) =>
  Object.entries(attachments).map(([name, { digest }]) => `${name} ${digest}`).sort().join('\n')

/**
 * Compares a database with what it has to hold.
 * @param {import('../../core/mirror/index.js').CouchPeer} peer
 * @param {ExpectedDocuments} expected
 * @param {{signal?: AbortSignal, onProgress?: (compared: number) => void}} [options]
 * @returns {Promise<{compared: number, differences: number, named: string[]}>}
 */
export async function compare (peer, expected, { signal, onProgress } = {}) {
  const found = { compared: 0, differences: 0, named: /** @type {string[]} */ ([]) }
  const differ = what => {
    found.differences++
    if (found.named.length < compareDefaults.named) found.named.push(what)
  }
  for (let since = /** @type {string | number} */ (0); ;) {
    const { rows, last } = await peer.changes({ since, limit: compareDefaults.page, signal })
    const own = rows.filter(({ id }) => !id.startsWith('_design/'))
    await comparePage(peer, expected, own, differ, signal)
    found.compared += own.length
    onProgress?.(found.compared)
    since = last
    if (rows.length < compareDefaults.page) break
  }
  for (const id of expected.unseen(compareDefaults.named)) differ(`${id} is missing`)
  return found
}

async function comparePage (peer, expected, rows, differ, signal) {
  /** @type {Map<string, {id: string, rev: string, digests: string}>} */
  const wanted = new Map()
  for (const { id, revs } of rows) {
    const leaves = expected.leaves(id)
    if (!leaves.length) differ(`${id} should not exist`)
    expected.markSeen(id)
    for (const { rev, digests } of leaves) {
      if (!revs.includes(rev)) differ(`${id} lacks its revision ${rev}`)
      else if (digests) wanted.set(`${id} ${rev}`, { id, rev, digests })
    }
    for (const rev of revs) if (leaves.length && !leaves.some(leaf => leaf.rev === rev)) differ(`${id} has another revision, ${rev}`)
  }
  const docs = await peer.couch.revisions([...wanted.values()].map(({ id, rev }) => ({ id, rev })), { attachments: false, signal })
  const found = new Map(docs.map(doc => [`${doc._id} ${doc._rev}`, doc]))
  for (const [key, { id, digests }] of wanted) {
    const doc = found.get(key)
    if (!doc) differ(`${key} cannot be read`)
    else if (digestsOf(doc) !== digests) differ(`${id} has other bytes`)
  }
}
