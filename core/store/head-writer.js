// Stores one batch of versions: reads what the heads are, decides, writes. Every step may be repeated, and whatever is
// killed between two of them, no version is lost.
//
// The quick way, which nearly every version takes: its time is later than all that is known of its tile, so that the head
// alone decides.
//   1. new heads, and copies of the heads that will be overwritten, go out together: none of them destroys anything
//   2. only heads whose copy stands are overwritten, at the revision that was copied
//   3. whatever met a conflict is read again and decided again
// Everything else (an older time, a tile that lost its head, what another edition said of a later time) is settled: settle.js.
import { TilecouchError } from '../errors.js'
import { compareIds, headId, parseTileId, pastRange } from '../ids.js'
import { newRun } from '../runs.js'
import { decide } from '../versions.js'
import { GONE, contentOf } from './blocks.js'
import { pastOf, shownBy, tileDocument, versionOf } from './documents.js'
import { readPastIds } from './leaves.js'
import { isRefusal } from '../couch/answers.js'
import { StatementsByLayer, isOfTime } from './statements.js'
import { seenIn, settleTiles, versionIn } from './settle.js'

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
 * @property {string} [stored] when another store learnt it, or another layer
 * @property {Record<string, any>} [others] fields of other writers
 * @property {string} [type] content type
 * @property {Uint8Array} [bytes] none when gone
 * @property {string | null} digest as CouchDB writes it; null when gone
 * @property {string} [expectedRev] the revision of the head that it is to follow; where another one stands it is left out, as unchanged
 * @property {number} attempts rounds of conflict
 * @property {boolean} [mustSettle] the head alone does not decide
 * @property {boolean} [hasLaterVersion] a later version was found that no manifest tells of
 * @property {'create' | 'advance' | 'backfill'} [tried] what a request that held it was to do, perhaps in vain
 *
 * @typedef {import('../couch/client.js').CouchClient} Couch
 */
/** @typedef {'unchanged' | 'create' | 'advance' | 'backfill'} Outcome */
/** @typedef {{tile: Tile, action: string, head?: any, doc?: any}} Step */

export const ATTEMPTS = 8 // rounds of conflict before a tile is given up as contended
const MOST_SEEN = 16 // single writes that a head remembers of those that found it unchanged

export class HeadWriter {
  #hasBegun = false

  /**
   * @param {Couch} couch
   * @param {object} options
   * @param {string} options.stored when the store learnt it
   * @param {AbortSignal} [options.signal]
   * @param {import('./settle.js').TileAccess['send']} options.send attachments' `data` is as `docs` and the tiles have it
   * @param {import('./settle.js').TileAccess['fetch']} [options.fetch] see TileAccess
   * @param {import('./settle.js').TileAccess['replace']} [options.replace] see TileAccess
   * @param {(tile: any, outcome: Outcome | TilecouchError) => void} options.report
   * @param {string} [options.run] that says all this
   * @param {boolean} [options.inManifest] a manifest will say the same: what is unchanged need not be noted with the tile
   * @param {StatementsByLayer} [options.statements] what editions have said
   */
  constructor (couch, { stored, signal, send, fetch, replace, report, run = newRun(), inManifest = false, statements = new StatementsByLayer(couch, signal) }) {
    this.couch = couch
    this.send = send
    this.stored = stored
    this.signal = signal
    this.report = report
    this.run = run
    this.inManifest = inManifest
    this.statements = statements
    this.newGround = true // whether the last tiles looked at were all new to the store
    this.access = { couch, send, fetch: fetch ?? ((asked, until) => couch.revisions(asked, { signal: until })), replace }
  }

  /** @param {Tile[]} tiles */
  async store (tiles) {
    let pending = tiles
    while (pending.length) {
      // several versions of one tile go round by round, oldest first
      const { first, later } = firstOfEach([...pending].sort((a, b) => compareIds(a.id, b.id) || compareIds(a.time, b.time)))
      const again = await this.#round(first)
      const contended = again.filter(tile => ++tile.attempts >= ATTEMPTS)
      for (const tile of contended) this.report(tile, new TilecouchError('CONTENDED', { id: tile.id, attempts: ATTEMPTS }))
      pending = [...again.filter(tile => !contended.includes(tile)), ...later]
    }
  }

  /**
   * One decision and one write for each tile. Answers those that must be decided again.
   * @param {Tile[]} tiles
   */
  async #round (tiles) {
    // a load looks once, and again when it is done; single writes may go on for long, and are said as they go
    const isFresh = this.#hasBegun && !this.inManifest
    this.#hasBegun = true
    await Promise.all([...new Set(tiles.map(({ layer }) => layer))].map(layer => isFresh ? this.statements.of(layer).refresh() : this.statements.of(layer).open()))
    // what is written after something was said is said after it, whatever the clocks of two machines say
    const last = tiles.reduce((latest, { layer }) => this.statements.of(layer).lastRun > latest ? this.statements.of(layer).lastRun : latest, '')
    if (!this.inManifest && this.run <= last) this.run = newRun(last)
    const slow = tiles.filter(tile => this.#mustSettle(tile))
    const steps = await this.#decide(tiles.filter(tile => !slow.includes(tile)))
    const again = []
    const work = []
    for (const step of steps) {
      if (step.action === 'settle') {
        step.tile.mustSettle = true
        slow.push(step.tile)
      } else if (step.action === 'taken') this.report(step.tile, new TilecouchError('VERSION_TAKEN', { id: step.tile.id, time: step.tile.time }))
      // "unchanged" because an earlier try of ours got through although its answer did not
      else if (step.action === 'unchanged') this.report(step.tile, (step.tile.time === step.head?.time && step.tile.tried) || 'unchanged')
      else work.push(step)
    }
    const safe = await this.#writeFirst(work, await this.#copies(work.filter(({ action }) => action === 'advance'), again), again)
    await this.#writeHeads(safe, again)
    const meant = await this.#standing(slow)
    if (meant.length) await this.#settle(meant)
    if (work.length && !this.inManifest) await this.#lookAgain(work.map(({ tile }) => tile))
    return again
  }

  /** Without those whose head is not the one that they are to follow any more. @param {Tile[]} tiles */
  async #standing (tiles) {
    const followers = tiles.filter(({ expectedRev }) => expectedRev)
    if (!followers.length) return tiles
    const rows = await this.couch.docs(followers.map(({ id }) => id), { signal: this.signal })
    const others = followers.filter(({ expectedRev }, index) => rows[index].doc?._rev !== expectedRev)
    for (const tile of others) this.report(tile, 'unchanged')
    return tiles.filter(tile => !others.includes(tile))
  }

  // A load looks at what others have said when it is done. A single write is said with its version, and so it looks now: of two
  // at once the one that looks later sees both
  async #lookAgain (tiles) {
    const layers = [...new Set(tiles.map(({ layer }) => layer))]
    const news = await Promise.all(layers.map(layer => this.statements.of(layer).refresh()))
    const ids = tiles.filter(({ layer }) => news[layers.indexOf(layer)]).map(({ id }) => id)
    if (ids.length) await settleTiles(this.access, ids, { knownOf: some => this.statements.knownOf(some), signal: this.signal })
  }

  /** Whether an edition has said something of this time or a later one, or a removal is on its way. @param {Tile} tile */
  #mustSettle ({ layer, time, mustSettle, expectedRev }) {
    const statements = this.statements.of(layer)
    return Boolean(mustSettle) || (!expectedRev && (time <= statements.latest || statements.isBeingRemoved))
  }

  /** @param {Tile[]} tiles */
  async #decide (tiles) {
    if (!tiles.length) return []
    if (this.newGround && tiles.length > 1 && await this.#isEmptyRange(tiles)) return tiles.map(tile => ({ tile, head: null, action: this.#first(tile) }))
    const rows = await this.couch.docs(tiles.map(tile => tile.id), { signal: this.signal })
    const headless = rows.filter(({ doc }) => !doc).map(({ id }) => id)
    // a head that somebody deleted or purged leaves its past behind
    const orphaned = new Set((await readPastIds(this.couch, headless, this.signal)).map(headId))
    this.newGround = headless.length === tiles.length && !orphaned.size
    const unclean = await this.#withRemovedPast(tiles.filter((_, index) => rows[index].doc))
    return rows.map(({ doc }, index) => {
      const tile = tiles[index]
      const head = doc ? versionOf(doc) : null
      if (tile.expectedRev && tile.expectedRev !== head?.rev) return { tile, head, action: 'unchanged' }
      if (!head) return { tile, head, action: orphaned.has(tile.id) ? 'settle' : this.#first(tile) }
      const action = decide(tile, head)
      if (unclean.has(tile.id) || this.statements.of(tile.layer).isRemoved(tile.id, head.time, versionIn(doc).run)) return { tile, head, action: 'settle' }
      if (action === 'ask' || action === 'taken' || versionIn(doc).seen.some(([time]) => time >= tile.time)) return { tile, head, action: 'settle' }
      return { tile, head, doc, action: action === 'unchanged' && tile.time > head.time && !this.inManifest ? 'confirm' : action }
    })
  }

  /**
   * Tiles with a past version that was removed: who was killed right after copying a head may have written it when the removal
   * had passed. Who writes the tile next looks.
   * @param {Tile[]} tiles
   */
  async #withRemovedPast (tiles) {
    const ids = tiles.filter(({ layer }) => this.statements.of(layer).removals.length).map(({ id }) => id)
    const isDoubtful = id => {
      const { layer, z, x, y, time = '' } = parseTileId(id)
      return this.statements.of(layer).removals.some(removal => isOfTime(removal, time) && removal.touches(headId(id), z, x, y))
    }
    const doubtful = (await readPastIds(this.couch, ids, this.signal)).filter(isDoubtful)
    if (!doubtful.length) return new Set()
    const pasts = await this.couch.docs(doubtful, { signal: this.signal })
    return new Set(pasts.filter(({ doc }) => doc && this.statements.of(doc.layer).isRemoved(headId(doc._id), doc.time, versionIn(doc).run)).map(({ id }) => headId(id)))
  }

  /** The first that is said of a tile. An edition need not write that there is none, its manifest says so. @param {Tile} tile */
  #first ({ digest }) {
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
    if (!steps.length) return copies
    const rows = await this.couch.docs(steps.map(step => step.tile.id), { attachments: true, signal: this.signal })
    steps.forEach((step, index) => {
      const doc = rows[index]?.doc
      if (doc?._rev === step.head.rev) copies.set(step, pastOf(doc))
      else again.push(step.tile)
    })
    return copies
  }

  /** Step 1: everything that destroys nothing. Answers the advances whose copy stands. */
  async #writeFirst (work, copies, again) {
    const writes = []
    const safe = []
    for (const step of work) {
      if (copies.has(step)) writes.push({ step, doc: copies.get(step) })
      else if (step.action === 'create') writes.push({ step, doc: this.#document(step.tile) })
      else if (step.action === 'confirm') writes.push({ step, doc: this.#confirmed(step) })
      // else it was changed while it was copied: in `again`
    }
    const standing = []
    await this.#write(writes, ({ step, doc }, result) => {
      const copy = copies.has(step)
      if (result.ok) copy ? safe.push(step) : this.report(step.tile, step.action === 'confirm' ? 'unchanged' : step.action)
      else if (result.error !== 'conflict') this.#refused(step.tile, result, again)
      else if (copy) standing.push({ step, doc })
      else again.push(step.tile)
    })
    await this.#compareStanding(standing, safe, again)
    return safe
  }

  // A copy that is there already: an earlier try made it, or a removal left it. If it holds something else, the head must stay
  // and the tile is settled. The same image that was loaded for another time, and had to move here, is something else, and so is
  // what another run said: that run may have been removed.
  async #compareStanding (standing, safe, again) {
    if (!standing.length) return
    const rows = await this.couch.docs(standing.map(({ doc }) => doc._id), { signal: this.signal })
    standing.forEach(({ step, doc }, index) => {
      const stands = rows[index]?.doc
      if (stands && shownBy(stands) === step.head.digest && stands.contested === doc.contested && versionIn(stands).run === versionIn(doc).run && saysAsMuch(stands, doc)) return safe.push(step)
      step.tile.mustSettle = true
      again.push(step.tile)
    })
  }

  /** Step 2: the heads. */
  async #writeHeads (steps, again) {
    const writes = steps.map(step => ({ step, doc: { ...this.#document(step.tile), _rev: step.head.rev } }))
    await this.#write(writes, ({ step }, result) => {
      if (result.ok) this.report(step.tile, 'advance')
      else if (result.error === 'conflict') {
        step.tile.mustSettle = true // its copy may stand for a head that was removed meanwhile
        again.push(step.tile)
      } else this.#refused(step.tile, result, again)
    })
  }

  /** As a head. */
  #document (tile) {
    return { ...tileDocument(tile, { current: true, stored: this.stored }), run: this.run }
  }

  /** The head, which also says that it was found unchanged. Its image stays where it is. @param {Step} step */
  #confirmed ({ tile, doc: { _revisions, _conflicts, ...doc } }) {
    return { ...doc, seen: [...seenIn(doc), [tile.time, this.run]].slice(-MOST_SEEN) }
  }

  async #write (writes, handle) {
    if (!writes.length) return
    writes.sort((a, b) => compareIds(a.doc._id, b.doc._id))
    for (const { step } of writes) if (step.action !== 'confirm') step.tile.tried = step.action
    const results = await this.send(writes.map(write => write.doc), this.signal)
    if (results.length !== writes.length) throw new TilecouchError('BAD_ANSWER', { url: this.couch.url, why: 'results are missing' })
    // CouchDB answers in the order of the request, but does not promise it
    const byId = new Map(results.map(result => [result.id, result]))
    for (const write of writes) handle(write, byId.get(write.doc._id) ?? { error: 'no answer', reason: 'no answer' })
  }

  #refused (tile, { error, reason }, again) {
    if (isRefusal(error)) {
      this.report(tile, new TilecouchError('REFUSED', { id: tile.id, reason: reason || error }))
    } else again.push(tile) // a shard in trouble: the same as a conflict, read again
  }

  /** @param {Tile[]} tiles of different places */
  async #settle (tiles) {
    const byId = new Map(tiles.map(tile => [tile.id, tile]))
    const incoming = new Map(tiles.map(tile => [tile.id, [this.#incomingOf(tile)]]))
    const settled = await settleTiles(this.access, [...byId.keys()], {
      knownOf: some => this.statements.knownOf(some),
      incomingOf: id => incoming.get(id) ?? [],
      refuse: (id, versions, known) => this.#refuse(/** @type {Tile} */ (byId.get(id)), incoming, versions, known),
      signal: this.signal
    })
    for (const [id, { error, done, before }] of settled) {
      const tile = /** @type {Tile} */ (byId.get(id))
      const { runs } = this.statements.of(tile.layer)
      tile.hasLaterVersion = before.some(({ time, run, seen }) => (time > tile.time && !runs.has(run)) || seen.some(([at]) => at > tile.time))
      const own = done.find(({ done: how, want, from }) => how === 'put' && want?.time === tile.time && from && !from.rev)
      const isHead = own && !own.id.includes('@')
      const outcome = error ?? (!own ? tile.tried ?? 'unchanged' : !isHead ? 'backfill' : before.length ? 'advance' : 'create')
      this.report(tile, outcome)
    }
  }

  /** @param {Tile} tile @returns {import('./settle.js').Incoming} */
  #incomingOf (tile) {
    const document = this.#document(tile)
    return { time: tile.time, content: contentOf(tile.digest), run: document.run, seen: [], inManifest: this.inManifest, documentOf: () => document }
  }

  /** Of another content at this time, the first stays. What stands already is not said twice. */
  #refuse (tile, incoming, versions, { statements, isRemoved }) {
    const { id, time, digest } = tile
    const content = contentOf(digest)
    // under its own run: of two leaves, one may be of a run that was removed, and must not be the one that stays
    const all = [
      ...versions.flatMap(version => [version, ...version.seen.map(([at, run]) => ({ time: at, run, content: version.content }))]),
      ...statements
    ].filter(one => one.time === time && !isRemoved(one.time, one.run))
    // an edition that said "no tile" does not keep an image from its time
    if (all.some(one => one.content !== content && !(one.content === GONE && statements.includes(one)))) return new TilecouchError('VERSION_TAKEN', { id, time })
    const same = all.filter(one => one.content === content).sort((a, b) => compareIds(b.run, a.run))[0]
    if (same) incoming.set(id, (incoming.get(id) ?? []).map(own => own.inManifest ? own : { ...own, run: same.run }))
    return undefined
  }
}

/** Whether a copy tells of all single writes that found the version unchanged. */
function saysAsMuch (stands, doc) {
  const told = new Set(versionIn(stands).seen.map(String))
  return versionIn(doc).seen.every(one => told.has(String(one)))
}

function firstOfEach (tiles) {
  const first = []
  const later = []
  for (const tile of tiles) (first.at(-1)?.id === tile.id ? later : first).push(tile)
  return { first, later }
}
