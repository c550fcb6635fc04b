// Lists the documents, revisions and digests that a database must hold after a restore, and compares the database with
// this list. The newest page with a document counts. The list is on disk, since it may not fit into memory.
import { isAdministrative, isTileId } from '../../core/index.js'
import { TemporaryDatabase } from '../formats/spool.js'

const PAGE = 1000 // documents compared at once
const MOST_NAMED = 20 // differences that are reported
const TABLE = `CREATE TABLE leaves (id TEXT, rev TEXT, rank INTEGER, deleted INTEGER, digests TEXT, bytes INTEGER,
  seen INTEGER, tile INTEGER, PRIMARY KEY (id, rev)) WITHOUT ROWID; BEGIN`
const TILES = 'SELECT count(DISTINCT id) FROM leaves WHERE deleted = 0 AND tile = 1'

export class ExpectedDocuments {
  #temporary
  #rank
  #selectLeaf
  #deleteDocument
  #deleteLeaf
  #insert
  #leaves
  #updateSeen

  static open () {
    return TemporaryDatabase.open(temporary => new ExpectedDocuments(temporary))
  }

  /** Use `ExpectedDocuments.open`. @param {TemporaryDatabase} temporary */
  constructor (temporary) {
    this.#temporary = temporary
    const { db } = temporary
    db.exec(TABLE)
    this.#rank = db.prepare('SELECT rank FROM leaves WHERE id = ? LIMIT 1').raw()
    this.#selectLeaf = db.prepare('SELECT 1 FROM leaves WHERE id = ? AND rev = ?').raw()
    this.#deleteDocument = db.prepare('DELETE FROM leaves WHERE id = ?')
    this.#deleteLeaf = db.prepare('DELETE FROM leaves WHERE id = ? AND rev = ?')
    this.#insert = db.prepare('INSERT INTO leaves VALUES (?, ?, ?, ?, ?, ?, 0, ?)')
    this.#leaves = db.prepare('SELECT rev, digests FROM leaves WHERE id = ?').raw()
    this.#updateSeen = db.prepare('UPDATE leaves SET seen = 1 WHERE id = ?')
  }

  /** @param {() => any} task with the database @returns {any} */
  #work (task) {
    return this.#temporary.work(task)
  }

  /**
   * @param {any} doc
   * @param {number} rank of the page: of several pages with a document, the one with the highest rank counts
   * @returns {'current' | 'superseded' | 'twice'} so far; twice: the page has the same revision already
   */
  add (doc, rank) {
    const { _id: id, _rev: rev, _deleted: gone = false, _attachments: attachments = {} } = doc
    return this.#work(() => {
      const storedRank = /** @type {any} */ (this.#rank.get([id]))?.[0]
      if (storedRank > rank) return 'superseded'
      if (storedRank < rank) this.#deleteDocument.run([id])
      else if (storedRank === rank && this.#selectLeaf.get([id, rev])) return 'twice'
      const bytes = Object.values(attachments).reduce((sum, { length }) => sum + length, 0)
      this.#insert.run([id, rev, rank, gone ? 1 : 0, digestsOf(doc), bytes, isTileId(id) ? 1 : 0])
      return 'current'
    })
  }

  /** Whether the page of this rank is the newest one with the document. */
  has (id, rank) {
    return this.#work(() => this.#rank.get([id]))?.[0] === rank
  }

  /** Forgets a revision that the database refused. */
  drop (id, rev) {
    this.#work(() => this.#deleteLeaf.run([id, rev]))
  }

  /** @param {string} id @returns {{rev: string, digests: string}[]} */
  leaves (id) {
    return this.#work(() => this.#leaves.all([id])).map(([rev, digests]) => ({ rev, digests }))
  }

  markSeen (id) {
    this.#work(() => this.#updateSeen.run([id]))
  }

  /** Documents that were not seen. @param {number} most @returns {string[]} */
  unseen (most) {
    const query = 'SELECT DISTINCT id FROM leaves WHERE seen = 0 LIMIT ?'
    return this.#work(() => this.#temporary.db.prepare(query).raw().all([most])).map(([id]) => id)
  }

  /** `tiles` counts versions. */
  counts () {
    return this.#work(() => {
      const readRow = sql => /** @type {any} */ (this.#temporary.db.prepare(sql).raw().get([]))
      const [revisions, bytes] = readRow('SELECT count(*), coalesce(sum(bytes), 0) FROM leaves')
      const [allDocuments] = readRow('SELECT count(DISTINCT id) FROM leaves')
      const [documents] = readRow('SELECT count(DISTINCT id) FROM leaves WHERE deleted = 0')
      const [tiles] = readRow(TILES)
      return { documents, revisions, deleted: allDocuments - documents, tiles, bytes }
    })
  }

  close () {
    return this.#temporary.close()
  }
}

/** Names and digests of a document's attachments as one text. */
const digestsOf = ({ _attachments: attachments = {} }) =>
  Object.entries(attachments).map(([name, { digest }]) => `${name} ${digest}`).sort().join('\n')

/**
 * Compares a database with the documents that it must hold.
 * @param {import('../../core/mirror/index.js').CouchPeer} peer
 * @param {ExpectedDocuments} expected
 * @param {{signal?: AbortSignal, onProgress?: (compared: number) => void}} [options]
 * @returns {Promise<{compared: number, differences: number, named: string[]}>}
 */
export async function compare (peer, expected, { signal, onProgress } = {}) {
  const comparison = { compared: 0, differences: 0, named: /** @type {string[]} */ ([]) }
  const addDifference = difference => {
    comparison.differences++
    if (comparison.named.length < MOST_NAMED) comparison.named.push(difference)
  }
  for (let since = /** @type {string | number} */ (0); ;) {
    const { rows, last } = await peer.changes({ since, limit: PAGE, signal })
    const copiedRows = rows.filter(({ id }) => !id.startsWith('_design/') && !isAdministrative(id))
    await comparePage(peer, expected, copiedRows, addDifference, signal)
    comparison.compared += copiedRows.length
    onProgress?.(comparison.compared)
    since = last
    if (rows.length < PAGE) break
  }
  for (const id of expected.unseen(MOST_NAMED)) addDifference(`${id} is missing`)
  return comparison
}

async function comparePage (peer, expected, rows, addDifference, signal) {
  const digestsByRevision = new Map()
  for (const { id, revs } of rows) {
    const leaves = expected.leaves(id)
    if (!leaves.length) addDifference(`${id} should not exist`)
    expected.markSeen(id)
    for (const { rev, digests } of leaves) {
      if (!revs.includes(rev)) addDifference(`${id} lacks its revision ${rev}`)
      else if (digests) digestsByRevision.set(`${id} ${rev}`, { id, rev, digests })
    }
    const otherRevs = leaves.length ? revs.filter(rev => !leaves.some(leaf => leaf.rev === rev)) : []
    for (const rev of otherRevs) addDifference(`${id} has another revision, ${rev}`)
  }
  const revisions = [...digestsByRevision.values()].map(({ id, rev }) => ({ id, rev }))
  const docs = await peer.couch.revisions(revisions, { attachments: false, signal })
  const docsByRevision = new Map(docs.map(doc => [`${doc._id} ${doc._rev}`, doc]))
  for (const [key, { id, digests }] of digestsByRevision) {
    const doc = docsByRevision.get(key)
    if (!doc) addDifference(`${key} cannot be read`)
    else if (digestsOf(doc) !== digests) addDifference(`${id} has other bytes`)
  }
}
