// Writes versions of tiles: new heads, and heads that are overwritten after their content was copied to the past. Every
// step may be repeated, and whatever is killed between two of them, no version is lost.
//
// The quick way, for nearly all versions: the time is later than all that is known of the tile, so that the head alone
// decides.
//   1. new heads, and copies of the heads that will be overwritten, are sent together: none of them destroys anything
//   2. heads that have a copy are overwritten (#overwriteHeads), at the revision that was copied
//   3. what met a conflict is read again and decided again
// All others (an older time, a tile without a head, a later statement of another edition) are settled: settle.js.
import { TilecouchError } from '../errors.js'
import { TILE_ATTACHMENT, compareIds, headId, parseTileId, pastRange } from '../ids.js'
import { newRun } from '../runs.js'
import { decide } from '../versions.js'
import { GONE, contentOf } from './blocks.js'
import { pastOf, readPastIds, shownBy, tileDocument, versionOf } from './documents.js'
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
 * @property {string} [stored] when another store or another layer stored it
 * @property {Record<string, any>} [others] fields of other writers
 * @property {string} [type] content type
 * @property {Uint8Array} [bytes] none when gone
 * @property {string | null} digest as CouchDB writes it; null when gone
 * @property {string} [expectedRev] of the head; where that is another one, the tile is left out, as unchanged
 * @property {number} attempts rounds of conflict
 * @property {boolean} [mustSettle] the head alone does not decide
 * @property {boolean} [hasLaterVersion] one that is in no manifest
 * @property {'create' | 'advance' | 'backfill'} [tried] what an earlier request was to do, perhaps in vain
 *
 * @typedef {'unchanged' | 'create' | 'advance' | 'backfill'} Outcome
 * @typedef {{tile: Tile, action: string, head?: any, doc?: any}} Step
 * @typedef {import('./settle.js').TileAccess} TileAccess
 */

export const ATTEMPTS = 8 // rounds of conflict before a tile is given up as contended
const SMALL = 8000 // bytes of a tile up to which base64, as it is written again, is read faster than parts
const MOST_SEEN = 16 // single writes that a head remembers of those that found it unchanged
const WITHOUT_WRITE = new Set(['settle', 'taken', 'unchanged']) // actions of a step for which nothing is written

export class HeadWriter {
  #hasBegun = false
  #isNewGround // whether the last tiles were all new to the store
  #expectsChanges // heads are read with their bytes, as most of them will be overwritten

  /**
   * @param {import('../couch/client.js').CouchClient} couch
   * @param {object} options
   * @param {string} options.stored time at which the store learns it
   * @param {AbortSignal} [options.signal]
   * @param {TileAccess['send']} options.send takes attachments as `docs` and the tiles have them
   * @param {TileAccess['fetch']} [options.fetch]
   * @param {(rows: any[]) => void} [options.check] throws BAD_ANSWER when bytes do not match their digests
   * @param {TileAccess['replace']} [options.replace]
   * @param {(tile: any, outcome: Outcome | TilecouchError) => void} options.report
   * @param {string} [options.run]
   * @param {boolean} [options.inManifest] a manifest will say the same: what is unchanged need not be noted in its head
   * @param {boolean} [options.expectsChanges] most tiles differ from their heads: the others were left out
   * @param {StatementsByLayer} [options.statements] of editions
   */
  constructor (couch, {
    stored, signal, send, check, replace, report, run = newRun(), inManifest = false, expectsChanges = false,
    fetch = (asked, until) => couch.revisions(asked, { signal: until }),
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
      const isFirst = (tile, at) => tile.id !== sorted[at - 1]?.id
      const again = await this.#round(sorted.filter(isFirst))
      const contended = again.filter(tile => ++tile.attempts >= ATTEMPTS)
      for (const tile of contended) this.#fail(tile, 'CONTENDED', { attempts: ATTEMPTS })
      const later = sorted.filter((tile, at) => !isFirst(tile, at))
      pending = [...again.filter(tile => !contended.includes(tile)), ...later]
    }
  }

  #fail (tile, code, details) {
    this.report(tile, new TilecouchError(code, { id: tile.id, ...details }))
  }

  /** One decision and one write for each tile. Answers those that must be decided again. */
  async #round (tiles) {
    await this.#readStatements(tiles)
    const unclear = tiles.filter(tile => this.#mustSettle(tile))
    const steps = await this.#decide(tiles.filter(tile => !unclear.includes(tile)))
    const writes = steps.filter(({ action }) => !WITHOUT_WRITE.has(action))
    for (const step of steps) this.#endWithoutWrite(step, unclear)
    const again = []
    const copies = await this.#copies(writes.filter(({ action }) => action === 'advance'), again)
    const copied = await this.#writeFirst(writes, copies, again)
    await this.#overwriteHeads(copied, again)
    await this.#settle(await this.#withExpectedHead(unclear))
    if (writes.length && !this.inManifest) await this.#lookAgain(writes.map(({ tile }) => tile))
    return again
  }

  /** Reads the statements of all layers of the tiles. They decide which tiles must be settled. */
  async #readStatements (tiles) {
    const layers = [...new Set(tiles.map(({ layer }) => layer))].map(layer => this.statements.of(layer))
    // a load reads statements once, and again when it ends; single writes may go on for long
    const isFresh = this.#hasBegun && !this.inManifest
    this.#hasBegun = true
    await Promise.all(layers.map(statements => isFresh ? statements.refresh() : statements.open()))
    for (const statements of layers) if (statements.limits.isMirrored) await statements.claim()
    // the run of a single write is greater than those before it, whatever the clocks of two machines say
    const last = layers.reduce((latest, { lastRun }) => lastRun > latest ? lastRun : latest, '')
    if (!this.inManifest && this.run <= last) this.run = newRun(last)
  }

  /**
   * Reports the outcome of a step for which nothing is to be written. A tile that must be settled is added to the
   * unclear ones. Example: the head shows the same image since an earlier time, and the step is "unchanged".
   */
  #endWithoutWrite ({ tile, action, head }, unclear) {
    if (action === 'settle') {
      tile.mustSettle = true
      unclear.push(tile)
    } else if (action === 'taken') this.#fail(tile, 'VERSION_TAKEN', { time: tile.time })
    // "unchanged" because an earlier try of ours got through although its answer did not
    else if (action === 'unchanged') this.report(tile, (tile.time === head?.time && tile.tried) || 'unchanged')
  }

  /** Without those whose head has another revision than expected. */
  async #withExpectedHead (tiles) {
    const expecting = tiles.filter(({ expectedRev }) => expectedRev)
    if (!expecting.length) return tiles
    const rows = await this.couch.docs(expecting.map(({ id }) => id), { signal: this.signal })
    const others = expecting.filter(({ expectedRev }, index) => rows[index].doc?._rev !== expectedRev)
    for (const tile of others) this.report(tile, 'unchanged')
    return tiles.filter(tile => !others.includes(tile))
  }

  // A load reads the statements of others when it ends. A single write is its own statement, and so it reads them now:
  // of two at once, the one that reads later sees both
  async #lookAgain (tiles) {
    const layers = [...new Set(tiles.map(({ layer }) => layer))]
    const news = await Promise.all(layers.map(layer => this.statements.of(layer).refresh()))
    const ids = tiles.filter(({ layer }) => news[layers.indexOf(layer)]).map(({ id }) => id)
    if (!ids.length) return
    await settleTiles(this.access, ids, { knownOf: some => this.statements.knownOf(some), signal: this.signal })
  }

  /** Whether an edition has a statement about this time or a later one, or a removal is under way. */
  #mustSettle ({ layer, time, mustSettle, expectedRev }) {
    const { latest, isBeingRemoved } = this.statements.of(layer)
    return Boolean(mustSettle) || (!expectedRev && (time <= latest || isBeingRemoved))
  }

  async #decide (tiles) {
    if (!tiles.length) return []
    if (this.#isNewGround && tiles.length > 1 && await this.#isEmptyRange(tiles)) {
      return tiles.map(tile => ({ tile, head: null, action: this.#firstAction(tile) }))
    }
    const rows = await this.#heads(tiles, this.#expectsChanges)
    const headless = rows.filter(({ doc }) => !doc).map(({ id }) => id)
    // a head that somebody deleted or purged leaves its past behind
    const orphaned = new Set((await readPastIds(this.couch, headless, this.signal)).map(headId))
    this.#isNewGround = headless.length === tiles.length && !orphaned.size
    const unclean = await this.#withRemovedPast(tiles.filter((_, index) => rows[index].doc))
    const steps = rows.map(({ doc }, index) => {
      const tile = tiles[index]
      const head = doc ? versionOf(doc) : null
      if (tile.expectedRev && tile.expectedRev !== head?.rev) return { tile, head, action: 'unchanged' }
      if (!head) return { tile, head, action: orphaned.has(tile.id) ? 'settle' : this.#firstAction(tile) }
      const { run, seen } = versionIn(doc)
      const action = decide(tile, head)
      const isRemoved = unclean.has(tile.id) || this.statements.of(tile.layer).isRemoved(tile.id, head.time, run)
      if (isRemoved || action === 'ask' || action === 'taken' || seen.some(([time]) => time >= tile.time)) {
        return { tile, head, action: 'settle' }
      }
      const isConfirmed = action === 'unchanged' && tile.time > head.time && !this.inManifest
      return { tile, head, doc, action: isConfirmed ? 'confirm' : action }
    })
    const headCount = tiles.length - headless.length
    const changed = steps.filter(({ action }) => action === 'advance').length
    // a single write notes in the head that it was found unchanged, and leaves its bytes where they are
    if (headCount && this.inManifest) this.#expectsChanges = 2 * changed > headCount
    return steps
  }

  /** The heads of tiles. */
  #heads (tiles, attachments) {
    const ids = tiles.map(({ id }) => id)
    const { signal, check } = this
    return this.couch.docs(ids, { signal, ...(attachments && { attachments, check, base64: areSmall(tiles) }) })
  }

  /** Tiles with a past version that was removed: a writer that was killed after copying a head may have left it. */
  async #withRemovedPast (tiles) {
    const ids = tiles.filter(({ layer }) => this.statements.of(layer).removals.length).map(({ id }) => id)
    const isDoubtful = id => {
      const { layer, z, x, y, time = '' } = parseTileId(id)
      const { removals } = this.statements.of(layer)
      return removals.some(removal => isOfTime(removal, time) && removal.touches(headId(id), z, x, y))
    }
    const doubtful = (await readPastIds(this.couch, ids, this.signal)).filter(isDoubtful)
    if (!doubtful.length) return new Set()
    const pasts = await this.couch.docs(doubtful, { signal: this.signal })
    const isRemoved = doc => this.statements.of(doc.layer).isRemoved(headId(doc._id), doc.time, versionIn(doc).run)
    return new Set(pasts.filter(({ doc }) => doc && isRemoved(doc)).map(({ id }) => headId(id)))
  }

  /** For the first version of a tile. That there is no tile need not be written where a manifest says so. */
  #firstAction ({ digest }) {
    return digest === null && this.inManifest ? 'unchanged' : 'create'
  }

  // Loads walk new ground in order of ids: one look at the range tells that there is nothing to compare with. Should
  // somebody else write there meanwhile, the conflict leads back here. Of one tile, its head tells as much.
  async #isEmptyRange (tiles) {
    if (tiles[0].tried) return false
    // not the past of the last tile: that of row 1 comes after row 10
    const endkey = tiles.map(({ id }) => pastRange(id).endkey).reduce((a, b) => compareIds(a, b) > 0 ? a : b)
    const rows = await this.couch.page({ startkey: tiles[0].id, endkey, limit: 1 }, this.signal)
    return rows.length === 0
  }

  // The heads to be overwritten, with their bytes, at the very revision the decision was made on
  async #copies (steps, again) {
    const copies = new Map()
    const unread = steps.filter(({ doc }) => !hasBytes(doc))
    const rows = unread.length ? await this.#heads(unread.map(({ tile }) => tile), true) : []
    const read = new Map(unread.map((step, index) => [step, rows[index]?.doc]))
    for (const step of steps) {
      const doc = read.has(step) ? read.get(step) : step.doc
      if (doc?._rev === step.head.rev) copies.set(step, pastOf(doc))
      else again.push(step.tile)
    }
    return copies
  }

  /** Step 1: everything that destroys nothing. Answers the advances whose copy is stored. */
  async #writeFirst (work, copies, again) {
    const writes = []
    const copied = []
    for (const step of work) {
      if (copies.has(step)) writes.push({ step, doc: copies.get(step) })
      else if (step.action === 'create') writes.push({ step, doc: this.#document(step.tile) })
      else if (step.action === 'confirm') writes.push({ step, doc: this.#confirmed(step) })
      // else it was changed while it was copied: in `again`
    }
    const existing = []
    await this.#write(writes, ({ step, doc }, result) => {
      const isCopy = copies.has(step)
      if (result.ok && isCopy) copied.push(step)
      else if (result.ok) this.report(step.tile, step.action === 'confirm' ? 'unchanged' : step.action)
      else if (result.error !== 'conflict') this.#refused(step.tile, result, again)
      else if (isCopy) existing.push({ step, doc })
      else again.push(step.tile)
    })
    await this.#compareExisting(existing, copied, again)
    return copied
  }

  // A copy that is there already: an earlier try made it, or a removal left it. If it differs, the head must stay and
  // the tile is settled. An image that was loaded for another time, and had to move here, differs; and so does the
  // version of another run, which may have been removed.
  async #compareExisting (existing, copied, again) {
    if (!existing.length) return
    const rows = await this.couch.docs(existing.map(({ doc }) => doc._id), { signal: this.signal })
    existing.forEach(({ step, doc }, index) => {
      const other = rows[index]?.doc
      const isSame = other && shownBy(other) === step.head.digest && other.contested === doc.contested &&
        versionIn(other).run === versionIn(doc).run && hasSeenAll(other, doc)
      if (isSame) return copied.push(step)
      step.tile.mustSettle = true
      again.push(step.tile)
    })
  }

  /** Step 2. */
  async #overwriteHeads (steps, again) {
    const writes = steps.map(step => ({ step, doc: { ...this.#document(step.tile), _rev: step.head.rev } }))
    await this.#write(writes, ({ step }, result) => {
      if (result.ok) this.report(step.tile, 'advance')
      else if (result.error === 'conflict') {
        step.tile.mustSettle = true // its copy may be of a head that was removed meanwhile
        again.push(step.tile)
      } else this.#refused(step.tile, result, again)
    })
  }

  /** As a head. */
  #document (tile) {
    return { ...tileDocument(tile, { current: true, stored: this.stored }), run: this.run }
  }

  /** The head, with the note that it was found unchanged. Its image stays where it is. */
  #confirmed ({ tile, doc: { _revisions, _conflicts, ...doc } }) {
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

  #refused (tile, { error, reason }, again) {
    if (isRefusal(error)) this.#fail(tile, 'REFUSED', { reason: reason || error })
    else again.push(tile) // a shard in trouble: the same as a conflict, read again
  }

  async #settle (tiles) {
    if (!tiles.length) return
    const byId = new Map(tiles.map(tile => [tile.id, tile]))
    /** @type {Map<string, any>} */
    const incoming = new Map(tiles.map(tile => [tile.id, this.#incomingOf(tile)]))
    const settled = await settleTiles(this.access, [...byId.keys()], {
      knownOf: some => this.statements.knownOf(some),
      incomingOf: id => [incoming.get(id)],
      refuse: (id, versions, known) => this.#refuse(byId.get(id), incoming.get(id), versions, known),
      signal: this.signal
    })
    for (const [id, { error, done, before }] of settled) {
      const tile = byId.get(id)
      const { runs } = this.statements.of(tile.layer)
      tile.hasLaterVersion = before.some(({ time, run, seen }) =>
        (time > tile.time && !runs.has(run)) || seen.some(([at]) => at > tile.time))
      const written = done.filter(step => step.done === 'put' && step.want?.time === tile.time)
      const createdDoc = written.find(({ from }) => from && !from.rev)
      const headAction = before.length ? 'advance' : 'create'
      const action = createdDoc?.id.includes('@') ? 'backfill' : headAction
      this.report(tile, error ?? (createdDoc ? action : tile.tried ?? 'unchanged'))
    }
  }

  /** @returns {import('./plan.js').Incoming} */
  #incomingOf (tile) {
    const document = this.#document(tile)
    const { inManifest } = this
    const content = contentOf(tile.digest)
    return { time: tile.time, content, run: document.run, seen: [], inManifest, documentOf: () => document }
  }

  /** Refuses another content for a time that has one. The same content takes the run of the statement that is there. */
  #refuse ({ id, time }, incoming, versions, { statements, isRemoved }) {
    const { content } = incoming
    // under its own run: of two leaves, one may be of a run that was removed, and must not be the one that stays
    const confirmed = versions.flatMap(version =>
      version.seen.map(([at, run]) => ({ time: at, run, content: version.content })))
    const all = [...versions, ...confirmed, ...statements]
      .filter(one => one.time === time && !isRemoved(one.time, one.run))
    // an edition without this tile does not keep an image from its time
    const isSilence = one => one.content === GONE && statements.includes(one)
    const isTaken = all.some(one => one.content !== content && !isSilence(one))
    if (isTaken) return new TilecouchError('VERSION_TAKEN', { id, time })
    const [same] = all.filter(one => one.content === content).sort((a, b) => compareIds(b.run, a.run))
    if (same && !incoming.inManifest) incoming.run = same.run
    return undefined
  }
}

const areSmall = tiles => tiles.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0) < SMALL * tiles.length

/** Whether a head was read with its bytes, if it has any. */
const hasBytes = doc => !doc._attachments?.[TILE_ATTACHMENT]?.stub

/** Whether a copy names all single writes that found the version unchanged. */
function hasSeenAll (copy, doc) {
  const seen = new Set(versionIn(copy).seen.map(String))
  return versionIn(doc).seen.every(one => seen.has(String(one)))
}
