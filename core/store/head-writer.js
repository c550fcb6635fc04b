// Writes versions of tiles: new heads, and heads that are overwritten after their content was copied to the past. Every
// step may be repeated. If the program is killed between two steps, no version is lost.
//
// The quick way, for nearly all versions: the time is later than every statement about the tile, so the head alone
// decides.
//   1. new heads, and copies of the heads that will be overwritten, are sent together; these overwrite nothing
//   2. heads that have a copy are overwritten (#overwriteHeads), at the revision that was copied
//   3. tiles with a conflict are read and decided again
// All other tiles are settled by settle.js: an older time, no head, or a later statement of another edition.
import { TilecouchError } from '../errors.js'
import { TILE_ATTACHMENT, compareIds, headId, parseTileId } from '../ids.js'
import { newRun } from '../runs.js'
import { GONE, contentOf } from './blocks.js'
import { lastPastId, pastOf, readPastIds, shownBy, tileDocument } from './documents.js'
import { isRefusal } from '../couch/answers.js'
import { StatementsByLayer, isOfTime } from './statements.js'
import { seenIn, versionIn } from './plan.js'
import { settleTiles } from './settle.js'

/**
 * @typedef {object} Tile a version on its way into the store
 * @property {string} id of its head
 * @property {string} layer
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {string} time
 * @property {string} [expires]
 * @property {Record<string, any>} [origin]
 * @property {string} [type] content type
 * @property {Uint8Array} [bytes] undefined when gone
 * @property {string | null} digest as CouchDB writes it; null when gone
 * @property {string} [expectedRev] revision of the head; with another one the tile is skipped as unchanged
 * @property {number} attempts rounds of conflict
 * @property {boolean} [mustSettle] the head alone is not enough to decide
 * @property {boolean} [hasLaterVersion] a later version exists that is in no manifest
 * @property {'create' | 'advance'} [tried] action of an earlier request, which may have failed
 *
 * @typedef {'unchanged' | 'create' | 'advance' | 'backfill'} Outcome
 * @typedef {{tile: Tile, action: string, doc?: any}} Step doc: the head
 * @typedef {import('./settle.js').TileAccess} TileAccess
 */

export const ATTEMPTS = 8 // rounds of conflict before the error CONTENDED
const SMALL = 8000 // bytes of a tile up to which base64 is faster than multipart
const MOST_SEEN = 16 // single writes without a change that a head remembers
const WITHOUT_WRITE = new Set(['settle', 'unchanged']) // actions of steps that write nothing

export class HeadWriter {
  #hasBegun = false
  #isNewGround // whether the last tiles were all new to the store
  #expectsChanges // heads are read with their bytes, because most will be overwritten

  /**
   * @param {import('../couch/client.js').CouchClient} couch
   * @param {object} options
   * @param {string} options.stored time at which the tiles are stored
   * @param {AbortSignal} [options.signal]
   * @param {TileAccess['send']} options.send takes attachments as bytes or base64
   * @param {TileAccess['fetch']} [options.fetch]
   * @param {(rows: any[]) => void} [options.check] throws BAD_ANSWER if bytes do not match their digests
   * @param {TileAccess['replace']} [options.replace]
   * @param {(tile: any, outcome: Outcome | TilecouchError) => void} options.report
   * @param {string} [options.run]
   * @param {boolean} [options.inManifest] a manifest will have the statements: unchanged heads need no note
   * @param {boolean} [options.expectsChanges] most tiles differ from their heads: equal ones were left out
   * @param {StatementsByLayer} [options.statements] of editions
   */
  constructor (couch, {
    stored, signal, send, check, replace, report, run = newRun(), inManifest = false, expectsChanges = false,
    fetch = (revisions, until) => couch.revisions(revisions, { signal: until }),
    statements = new StatementsByLayer(couch, signal)
  }) {
    this.couch = couch
    this.stored = stored
    this.signal = signal
    this.report = report
    this.run = run
    this.inManifest = inManifest
    this.statements = statements
    this.access = { couch, send, fetch, replace }
    this.check = check
    this.#isNewGround = !expectsChanges
    this.#expectsChanges = expectsChanges
  }

  /** @param {Tile[]} tiles */
  async store (tiles) {
    let pending = tiles
    while (pending.length) {
      // several versions of one tile are written in several rounds, the oldest first
      const sorted = [...pending].sort((a, b) => compareIds(a.id, b.id) || compareIds(a.time, b.time))
      const isFirst = (tile, index) => tile.id !== sorted[index - 1]?.id
      const conflicting = await this.#writeRound(sorted.filter(isFirst))
      const contended = conflicting.filter(tile => ++tile.attempts >= ATTEMPTS)
      for (const tile of contended) this.#fail(tile, 'CONTENDED', { attempts: ATTEMPTS })
      const laterVersions = sorted.filter((tile, index) => !isFirst(tile, index))
      pending = [...conflicting.filter(tile => !contended.includes(tile)), ...laterVersions]
    }
  }

  #fail (tile, code, details) {
    this.report(tile, new TilecouchError(code, { id: tile.id, ...details }))
  }

  /** Decides and writes each tile once. Returns the tiles that must be decided again. */
  async #writeRound (tiles) {
    await this.#readStatements(tiles)
    const unclear = tiles.filter(tile => this.#mustSettle(tile))
    const steps = await this.#decide(tiles.filter(tile => !unclear.includes(tile)))
    const writes = steps.filter(({ action }) => !WITHOUT_WRITE.has(action))
    for (const step of steps) this.#endWithoutWrite(step, unclear)
    const conflicting = []
    const copies = await this.#copyHeads(writes.filter(({ action }) => action === 'advance'), conflicting)
    const copiedSteps = await this.#writeFirst(writes, copies, conflicting)
    await this.#overwriteHeads(copiedSteps, conflicting)
    await this.#settle(await this.#tilesWithExpectedHead(unclear))
    if (writes.length && !this.inManifest) await this.#settleNews(writes.map(({ tile }) => tile))
    return conflicting
  }

  /** Reads the statements of all layers of the tiles. They decide which tiles must be settled. */
  async #readStatements (tiles) {
    const layers = [...new Set(tiles.map(({ layer }) => layer))].map(layer => this.statements.ofLayer(layer))
    // a load reads statements when it begins and when it ends; single writes may go on for long
    const isFresh = this.#hasBegun && !this.inManifest
    this.#hasBegun = true
    await Promise.all(layers.map(statements => isFresh ? statements.refresh() : statements.open()))
    for (const statements of layers) if (statements.limits.isMirrored) await statements.claim()
    // the run of a single write is greater than all earlier runs, even if the clocks of two machines differ
    const greatestRun = layers.reduce((latest, { lastRun }) => lastRun > latest ? lastRun : latest, '')
    if (!this.inManifest && this.run <= greatestRun) this.run = newRun(greatestRun)
  }

  /**
   * Reports the outcome of a step for which nothing is to be written. A tile that must be settled is added to the
   * unclear ones. Example: the head shows the same image since an earlier time, and the step is "unchanged".
   */
  #endWithoutWrite ({ tile, action, doc }, unclear) {
    if (action === 'settle') {
      tile.mustSettle = true
      unclear.push(tile)
    // "unchanged" may mean that an earlier request succeeded but its answer was lost
    } else if (action === 'unchanged') this.report(tile, (tile.time === doc?.time && tile.tried) || 'unchanged')
  }

  /** Leaves out the tiles whose head has not the expected revision. Reports them as unchanged. */
  async #tilesWithExpectedHead (tiles) {
    const expecting = tiles.filter(({ expectedRev }) => expectedRev)
    if (!expecting.length) return tiles
    const rows = await this.couch.docs(expecting.map(({ id }) => id), { signal: this.signal })
    const unexpected = expecting.filter(({ expectedRev }, index) => rows[index].doc?._rev !== expectedRev)
    for (const tile of unexpected) this.report(tile, 'unchanged')
    return tiles.filter(tile => !unexpected.includes(tile))
  }

  // A load reads the statements of other writers when it ends. A single write reads them now: if two write at the same
  // time, the one that reads later sees both.
  async #settleNews (tiles) {
    const layers = [...new Set(tiles.map(({ layer }) => layer))]
    const hasNews = await Promise.all(layers.map(layer => this.statements.ofLayer(layer).refresh()))
    const ids = tiles.filter(({ layer }) => hasNews[layers.indexOf(layer)]).map(({ id }) => id)
    if (!ids.length) return
    const readFacts = tileIds => this.statements.readFacts(tileIds)
    await settleTiles(this.access, ids, { readFacts, signal: this.signal })
  }

  /** Whether an edition has a statement for this time or a later one, or a removal of the tile has not ended. */
  #mustSettle (tile) {
    if (tile.mustSettle || tile.expectedRev) return Boolean(tile.mustSettle)
    const statements = this.statements.ofLayer(tile.layer)
    return tile.time <= statements.latest || statements.isTileBeingRemoved(tile)
  }

  async #decide (tiles) {
    if (!tiles.length) return []
    if (this.#isNewGround && tiles.length > 1 && await this.#isEmptyRange(tiles)) {
      return tiles.map(tile => ({ tile, action: this.#firstAction(tile) }))
    }
    const rows = await this.#readHeads(tiles, this.#expectsChanges)
    const headless = rows.filter(({ doc }) => !doc).map(({ id }) => id)
    // the past of a head that was deleted or purged still exists
    const orphaned = new Set((await readPastIds(this.couch, headless, this.signal)).map(headId))
    this.#isNewGround = headless.length === tiles.length && !orphaned.size
    const uncleanIds = await this.#idsWithRemovedPast(tiles.filter((_, index) => rows[index].doc))
    const steps = rows.map(({ doc }, index) => {
      const tile = tiles[index]
      if (tile.expectedRev && tile.expectedRev !== doc?._rev) return { tile, doc, action: 'unchanged' }
      if (!doc) return { tile, action: orphaned.has(tile.id) ? 'settle' : this.#firstAction(tile) }
      const isRemoved = uncleanIds.has(tile.id) || this.#isRemoved(tile, doc)
      return { tile, doc, action: isRemoved ? 'settle' : this.#actionFor(tile, doc) }
    })
    const headCount = tiles.length - headless.length
    const changed = steps.filter(({ action }) => action === 'advance').length
    // a single write notes in an unchanged head that it found no change; this needs no bytes
    if (headCount && this.inManifest) this.#expectsChanges = 2 * changed > headCount
    return steps
  }

  /** Reads the heads of tiles. */
  #readHeads (tiles, attachments) {
    const ids = tiles.map(({ id }) => id)
    const { signal, check } = this
    return this.couch.docs(ids, { signal, ...(attachments && { attachments, check, base64: areSmall(tiles) }) })
  }

  /** Ids of tiles whose past has a removed version. A writer that was killed after copying a head may leave one. */
  async #idsWithRemovedPast (tiles) {
    const ids = tiles.filter(({ layer }) => this.statements.ofLayer(layer).removals.length).map(({ id }) => id)
    const isDoubtful = id => {
      const { layer, z, x, y, time = '' } = parseTileId(id)
      const { removals } = this.statements.ofLayer(layer)
      return removals.some(removal => isOfTime(removal, time) && removal.touches(headId(id), z, x, y))
    }
    const doubtful = (await readPastIds(this.couch, ids, this.signal)).filter(isDoubtful)
    if (!doubtful.length) return new Set()
    const pasts = await this.couch.docs(doubtful, { signal: this.signal })
    const removed = pasts.filter(({ doc }) => doc && this.#isRemoved({ id: headId(doc._id), layer: doc.layer }, doc))
    return new Set(removed.map(({ id }) => headId(id)))
  }

  /** Whether the version of a tile that a document has is removed. */
  #isRemoved ({ id, layer }, doc) {
    return this.statements.ofLayer(layer).isRemoved(id, doc.time, versionIn(doc).run)
  }

  /** The action for a tile that has a head. */
  #actionFor ({ time, digest }, doc) {
    // an invalid time of a head, which another program wrote, is never earlier
    const isEarlier = doc.time < time
    const isSame = digest === shownBy(doc)
    const isSeenLater = seenIn(doc).some(([seenAt]) => seenAt >= time)
    if (isSeenLater || !(isEarlier || (isSame && doc.time === time))) return 'settle'
    if (!isSame) return 'advance'
    return isEarlier && !this.inManifest ? 'confirm' : 'unchanged'
  }

  /** The action for the first version of a tile. "Gone" is not written if the manifest has it. */
  #firstAction ({ digest }) {
    return digest === null && this.inManifest ? 'unchanged' : 'create'
  }

  // A load writes new tiles in the order of their ids. One request shows that the range has no documents to compare
  // with. If another writer adds one meanwhile, the conflict leads back here.
  async #isEmptyRange (tiles) {
    if (tiles[0].tried) return false
    const endkey = lastPastId(tiles.map(({ id }) => id))
    const rows = await this.couch.page({ startkey: tiles[0].id, endkey, limit: 1 }, this.signal)
    return rows.length === 0
  }

  // copies of the heads to be overwritten, with their bytes, at the revision that was decided on
  async #copyHeads (steps, conflicting) {
    const copies = new Map()
    const unread = steps.filter(({ doc }) => !hasBytes(doc))
    const rows = unread.length ? await this.#readHeads(unread.map(({ tile }) => tile), true) : []
    const docByStep = new Map(unread.map((step, index) => [step, rows[index]?.doc]))
    for (const step of steps) {
      const doc = docByStep.has(step) ? docByStep.get(step) : step.doc
      if (doc?._rev === step.doc._rev) copies.set(step, pastOf(doc))
      else conflicting.push(step.tile)
    }
    return copies
  }

  /** Step 1: all writes that overwrite nothing. Returns the advances whose copy is stored. */
  async #writeFirst (steps, copies, conflicting) {
    const writes = []
    const copiedSteps = []
    for (const step of steps) {
      if (copies.has(step)) writes.push({ step, doc: copies.get(step) })
      else if (step.action === 'create') writes.push({ step, doc: this.#headDocument(step.tile) })
      else if (step.action === 'confirm') writes.push({ step, doc: this.#confirmedHead(step) })
      // else the head changed before it was copied: the tile is in `conflicting`
    }
    const existingCopies = []
    await this.#write(writes, ({ step, doc }, result) => {
      const isCopy = copies.has(step)
      if (result.ok && isCopy) copiedSteps.push(step)
      else if (result.ok) this.report(step.tile, step.action === 'confirm' ? 'unchanged' : step.action)
      else if (result.error !== 'conflict') this.#handleError(step.tile, result, conflicting)
      else if (isCopy) existingCopies.push({ step, doc })
      else conflicting.push(step.tile)
    })
    await this.#compareExisting(existingCopies, copiedSteps, conflicting)
    return copiedSteps
  }

  // An existing copy was made by an earlier request or left by a removal. If it differs, the head must stay and the
  // tile is settled. An image that was moved from another time differs. So does the version of another run, which may
  // have been removed.
  async #compareExisting (existingCopies, copiedSteps, conflicting) {
    if (!existingCopies.length) return
    const rows = await this.couch.docs(existingCopies.map(({ doc }) => doc._id), { signal: this.signal })
    existingCopies.forEach(({ step, doc }, index) => {
      const copy = rows[index]?.doc
      const isSame = copy && shownBy(copy) === shownBy(step.doc) && copy.contested === doc.contested &&
        versionIn(copy).run === versionIn(doc).run && hasSeenAll(copy, doc)
      if (isSame) return copiedSteps.push(step)
      step.tile.mustSettle = true
      conflicting.push(step.tile)
    })
  }

  /** Step 2: overwrites the heads that have a copy. */
  async #overwriteHeads (steps, conflicting) {
    const writes = steps.map(step => ({ step, doc: { ...this.#headDocument(step.tile), _rev: step.doc._rev } }))
    await this.#write(writes, ({ step }, result) => {
      if (result.ok) this.report(step.tile, 'advance')
      else if (result.error === 'conflict') {
        step.tile.mustSettle = true // the head that was copied may have been removed
        conflicting.push(step.tile)
      } else this.#handleError(step.tile, result, conflicting)
    })
  }

  /** A tile as a head document. */
  #headDocument (tile) {
    return { ...tileDocument(tile, { current: true, stored: this.stored }), run: this.run }
  }

  /** The head with a note that this write found it unchanged. Its image stays a stub. */
  #confirmedHead ({ tile, doc: { _revisions, _conflicts, ...doc } }) {
    return { ...doc, seen: [...seenIn(doc), [tile.time, this.run]].slice(-MOST_SEEN) }
  }

  async #write (writes, handle) {
    if (!writes.length) return
    writes.sort((a, b) => compareIds(a.doc._id, b.doc._id))
    for (const { step } of writes) if (step.action !== 'confirm') step.tile.tried = step.action
    const results = await this.access.send(writes.map(({ doc }) => doc), this.signal)
    if (results.length !== writes.length) {
      throw new TilecouchError('BAD_ANSWER', { url: this.couch.url, why: 'results are missing' })
    }
    // CouchDB answers in the order of the request, but does not promise it
    const byId = new Map(results.map(result => [result.id, result]))
    for (const write of writes) handle(write, byId.get(write.doc._id) ?? { error: 'no answer', reason: 'no answer' })
  }

  #handleError (tile, { error, reason }, conflicting) {
    if (isRefusal(error)) this.#fail(tile, 'REFUSED', { reason: reason || error })
    else conflicting.push(tile) // a shard failed: read again, as after a conflict
  }

  async #settle (tiles) {
    if (!tiles.length) return
    const byId = new Map(tiles.map(tile => [tile.id, tile]))
    /** @type {Map<string, any>} */
    const incoming = new Map(tiles.map(tile => [tile.id, this.#incomingOf(tile)]))
    const settled = await settleTiles(this.access, [...byId.keys()], {
      readFacts: tileIds => this.statements.readFacts(tileIds),
      incomingOf: id => [incoming.get(id)],
      refuse: (id, versions, facts) => this.#refuse(byId.get(id), incoming.get(id), versions, facts),
      signal: this.signal
    })
    for (const [id, { error, done: writes, before: stored }] of settled) {
      const tile = byId.get(id)
      const { runs } = this.statements.ofLayer(tile.layer)
      tile.hasLaterVersion = stored.some(({ time, run, seen }) =>
        (time > tile.time && !runs.has(run)) || seen.some(([seenAt]) => seenAt > tile.time))
      const timeWrites = writes.filter(step => step.done === 'put' && step.version?.time === tile.time)
      const created = timeWrites.find(({ from }) => from && !from.rev)
      const headAction = stored.length ? 'advance' : 'create'
      const action = created?.id.includes('@') ? 'backfill' : headAction
      this.report(tile, error ?? (created ? action : tile.tried ?? 'unchanged'))
    }
  }

  /** @returns {import('./plan.js').Incoming} */
  #incomingOf (tile) {
    const document = this.#headDocument(tile)
    const { inManifest } = this
    const content = contentOf(tile.digest)
    return { time: tile.time, content, run: document.run, seen: [], inManifest, documentOf: () => document }
  }

  /** Refuses a second content for a time. The same content takes the run of the existing statement. */
  #refuse ({ id, time }, incoming, versions, { statements, isRemoved }) {
    const { content } = incoming
    // under the run of the write: the run of one of two leaves may have been removed, and that leaf must not stay
    const confirmations = versions.flatMap(version =>
      version.seen.map(([seenAt, run]) => ({ time: seenAt, run, content: version.content })))
    const contents = [...versions, ...confirmations, ...statements]
      .filter(entry => entry.time === time && !isRemoved(entry.time, entry.run))
    // an edition that lacks this tile does not forbid an image for its time
    const isSilence = entry => entry.content === GONE && statements.includes(entry)
    const isTaken = contents.some(entry => entry.content !== content && !isSilence(entry))
    if (isTaken) return new TilecouchError('VERSION_TAKEN', { id, time })
    const [sameContent] = contents.filter(entry => entry.content === content).sort((a, b) => compareIds(b.run, a.run))
    if (sameContent && !incoming.inManifest) incoming.run = sameContent.run
    return undefined
  }
}

const areSmall = tiles => tiles.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0) < SMALL * tiles.length

/** Whether a head was read with its bytes, if it has any. */
const hasBytes = doc => !doc._attachments?.[TILE_ATTACHMENT]?.stub

/** Whether a copy has the notes of all single writes that found the version unchanged. */
function hasSeenAll (copy, doc) {
  const seen = new Set(versionIn(copy).seen.map(String))
  return versionIn(doc).seen.every(entry => seen.has(String(entry)))
}
