// Compares the tiles of a load with earlier manifests. At the end, settles tiles that others have written meanwhile.
import { batchesOf } from '../../core/lists.js'
import { parseTileId, tileId } from '../../core/index.js'
import { canContinue } from '../../core/feed-position.js'
import { fingerprint } from '../../core/fingerprint.js'
import { ignoring } from '../../core/promises.js'
import { GONE, TileSet, contentOf, placeOfTile, tilesOfPlace } from '../../core/store/blocks.js'
import { settleAll, tilesOf } from '../store/settle.js'
import { baselineDefaults, feedPositionOf, tilesSince, trustedNow, writesBetween } from './baseline.js'

const COMPARED = 1000 // tiles compared at once with those of another load

/** @typedef {ReturnType<import('../../core/store/statements.js').LayerStatements['readFacts']>} FactsOfPlace */

/**
 * @typedef {object} Taken a tile for which another load has another image
 * @property {string} id
 * @property {string} outcome of this load
 * @property {boolean} isGone for this load
 * @property {string} otherRun
 */

export class Comparison {
  /** Written tiles by their outcome. @type {Record<string, TileSet>} */
  #written = { create: new TileSet(), advance: new TileSet(), backfill: new TileSet() }
  /** The sum over the written revisions: two sets of revisions are equal if their sums are. */
  #revisionSum = 0
  /** The facts about the last place. @type {{place: string, facts: FactsOfPlace} | undefined} */
  #last

  /**
   * @param {import('../store/index.js').Store} store
   * @param {{layer: string, time: string, statements: import('../../core/store/statements.js').LayerStatements,
   *   editions: any[], from?: any, signal?: AbortSignal}} load
   * from: where an earlier run began, if it was killed after it had written its manifest
   */
  static async begin (store, { layer, time, statements, editions, from, signal }) {
    const { couch } = store
    const place = await feedPositionOf(couch, signal)
    const isNew = !statements.manifests.length || from
    // tiles are not counted: other loads of this process may write tiles of this layer with the same client
    const otherWrites = couch.countWrites(id => !id.startsWith(`${layer}:`))
    const trusted = isNew ? undefined : await trustedNow(couch, layer, editions, place, signal)
    return new Comparison(store, { layer, time, statements, signal, place, otherWrites, trusted, from })
  }

  /** @param {import('../store/index.js').Store} store @param {any} parts */
  constructor (store, { layer, time, statements, signal, place, otherWrites, trusted, from }) {
    this.store = store
    this.couch = store.couch
    this.from = from
    this.layer = layer
    this.time = time
    this.statements = statements
    this.signal = signal
    this.place = place
    /** Counts documents other than tiles: blocks, the progress of this load, design documents. */
    this.otherWrites = otherWrites
    this.records = from ? new Map() : statements.records
    /** @type {import('./baseline.js').Trusted | undefined} */
    this.trusted = trusted
    /** Tiles that differ from all manifests. @type {Set<string>} */
    this.differing = trusted?.differing ?? new Set()
  }

  /**
   * Whether a tile is as the manifests say. If no other program has written it since, this needs no request.
   * @param {import('../store/tile.js').Tile} tile
   */
  async isKnown ({ id, z, x, y, digest }) {
    const { trusted, differing, statements, time } = this
    if (!trusted || statements.isBeingRemoved || differing.has(id)) return false
    const factsOf = await this.#factsAt(z, x, y, id)
    const facts = factsOf(id)
    const isLater = (a, b) => a.time > b.time || (a.time === b.time && a.run > b.run)
    const validStatements = facts.statements.filter(statement => !facts.isRemoved(statement.time, statement.run))
    if (!validStatements.length) return false
    const newest = validStatements.reduce((last, statement) => isLater(statement, last) ? statement : last)
    return trusted.runs.has(newest.run) && newest.time <= time && newest.content === contentOf(digest)
  }

  /** The facts about all tiles of a place, kept until the next place: sources go from place to place. */
  #factsAt (z, x, y, id) {
    const place = placeOfTile(z, x, y)
    if (this.#last?.place !== place) this.#last = { place, facts: this.statements.readFacts([id]) }
    return this.#last.facts
  }

  /** Records the outcome of a tile. @param {import('../store/tile.js').Tile} tile @param {string} outcome */
  note ({ id, z, x, y, hasLaterVersion }, outcome) {
    this.#written[outcome]?.add(z, x, y)
    if (hasLaterVersion) {
      if (this.differing.size <= baselineDefaults.most) this.differing.add(id)
    } else if (outcome === 'create' || outcome === 'advance') this.differing.delete(id)
  }

  /** The outcome of a tile of this load. @param {string} id */
  outcomeOf (id) {
    const { z, x, y } = parseTileId(id)
    return this.#outcomeAt(z, x, y) ?? 'unchanged'
  }

  /** The outcome of a tile, if it was written. */
  #outcomeAt (z, x, y) {
    return Object.keys(this.#written).find(outcome => this.#written[outcome].has(z, x, y))
  }

  /** Records that a document of a tile was written. */
  noteRevision (id, rev) {
    this.#revisionSum = addRevision(this.#revisionSum, id, rev)
  }

  /**
   * Settles the tiles that others have changed meanwhile. To be called after the manifest was written.
   * @param {object} parts
   * @param {string} parts.run of the manifest
   * @param {number} parts.documents of tiles that this load has written
   * @param {(z: number, x: number, y: number) => boolean} parts.isSelected
   * @param {(only: (z: number, x: number, y: number) => boolean, tiles: string[]) => Promise<any>} parts.again writes
   *   some tiles of the source once more
   * @param {(tiles: string[]) => Promise<any>} parts.withdraw withdraws the statements of this load about some tiles
   * @returns {Promise<{baseline: any, taken: Taken[]}>} baseline: for the next load, if there
   *   can be one; taken: tiles for which a load at the same time has another image for this time
   */
  async end ({ run, documents, isSelected, again, withdraw }) {
    const { couch, statements, signal, place, from } = this
    const ownWrites = documents + this.otherWrites.documents // counted first: a later write may be behind the position
    const now = await feedPositionOf(couch, signal)
    const isAllOwn = !from && writesBetween(place, now) === ownWrites
    const { changed, isExact } = isAllOwn
      ? { changed: new Set(), isExact: true }
      : await this.#changedSince(from ?? place, now)
    // other documents than tiles (the progress of this load, another layer) are no reason to read the tiles again
    const isAlone = !from && isExact && now.copies === 1
    await statements.refresh()
    const isNew = record => record.run !== run && this.records.get(record.id) !== statements.records.get(record.id)
    const newRecords = [...statements.manifests, ...statements.removals].filter(isNew)
    const taken = await this.#takenTiles(run, newRecords, withdraw)
    await this.#settle({ run, changed, newRecords, isSelected, again })
    const baseline = isAlone && !taken.length ? await this.#baseline(run, now) : undefined
    // the other load may have withdrawn its statement since: then that load is refused, not this one
    if (taken.length) await statements.refresh()
    const isTaken = ({ id, otherRun }) => !statements.isRemoved(id, this.time, otherRun)
    return { baseline, taken: taken.filter(isTaken) }
  }

  /** Stops counting writes. */
  close () {
    this.otherWrites.end()
  }

  async #baseline (run, now) {
    const { statements } = this
    if (this.differing.size > baselineDefaults.most) return undefined
    // another load may have written its manifest, but not settled its tiles yet
    const editions = await this.store.editions(this.layer)
    const isUnsettled = ({ time, finished }) =>
      !finished && time !== this.time && statements.manifests.some(manifest => manifest.time === time)
    if (editions.some(isUnsettled)) return undefined
    const storedRuns = statements.runs
    const trusted = new Set([...this.trusted?.runs ?? [], run])
    const runs = [...trusted].filter(trustedRun => storedRuns.has(trustedRun)).sort().slice(-baselineDefaults.runs)
    return { runs, differing: [...this.differing], since: now.since, identity: now.identity, purged: now.purged }
  }

  /** The load that writes its manifest second sees both manifests and is refused. If both do, the later run is. */
  async #takenTiles (run, newRecords, withdraw) {
    const { statements, time } = this
    const otherManifests = newRecords.filter(record => record.id.startsWith('manifest:') && record.time === time)
    const ownManifest = statements.manifests.find(manifest => manifest.run === run && manifest.time === time)
    if (!otherManifests.length || !ownManifest) return []
    const otherRuns = new Set(otherManifests.map(manifest => manifest.run))
    const taken = []
    const toWithdraw = []
    for await (const ids of batchesOf(tilesOf(statements, ownManifest), { most: COMPARED, bytes: Infinity })) {
      const factsOf = await statements.readFacts(ids)
      for (const id of ids) {
        const statementsOfTime = factsOf(id).statements
          .filter(statement => statement.time === time && !statements.isRemoved(id, time, statement.run))
        const ownStatement = statementsOfTime.find(statement => statement.run === run)
        // an edition that lacks this tile does not refuse an image for its time
        const otherStatement = statementsOfTime.find(statement =>
          otherRuns.has(statement.run) && statement.content !== ownStatement?.content && statement.content !== GONE)
        if (!ownStatement || !otherStatement) continue
        const isGone = ownStatement.content === GONE
        taken.push({ id, outcome: this.outcomeOf(id), isGone, otherRun: otherStatement.run })
        if (run > otherStatement.run) toWithdraw.push(id) // otherwise the other run is the later one, and counts anyway
      }
    }
    if (toWithdraw.length) await withdraw(toWithdraw)
    return taken
  }

  /**
   * Tiles that others wrote. isExact: there are none, and each document of this load is still as it was written.
   * @returns {Promise<{changed: Set<string> | undefined, isExact: boolean}>}
   */
  async #changedSince (from, now) {
    if (!canContinue(from, now)) return { changed: undefined, isExact: false }
    let revisionSum = 0
    const isOwn = ({ z, x, y }, { id, changes }) => {
      if (!this.#outcomeAt(z, x, y)) return false
      revisionSum = addRevision(revisionSum, id, changes[0].rev)
      return true
    }
    const changed = await tilesSince(this.couch, this.layer, from.since, { signal: this.signal, isOwn })
    return { changed, isExact: changed?.size === 0 && revisionSum === this.#revisionSum }
  }

  async #settle ({ run, changed, newRecords, isSelected, again }) {
    const { statements, layer, couch, signal } = this
    const hasChanges = changed?.size !== 0 || newRecords.length > 0
    if (!hasChanges && !statements.limits.isPart) return
    const ownManifest = statements.manifests.find(manifest => manifest.run === run && manifest.time === this.time)
    if (!ownManifest) return
    const manifests = newRecords.filter(({ id }) => id.startsWith('manifest:'))
    const places = new Map()
    for (const manifest of manifests) {
      const blocks = await statements.blocksOf(manifest).catch(ignoring('NOT_FOUND')) // a part is not replicated yet
      places.set(manifest, blocks ?? {})
    }
    const isTouchedBy = (record, id, { z, x, y }) => record.touches
      ? record.touches(id, z, x, y)
      : places.get(record)[placeOfTile(z, x, y)] || (record.complete && record.selects(z, x, y))
    const isTileTouched = id =>
      !changed || changed.has(id) || newRecords.some(record => isTouchedBy(record, id, parseTileId(id)))
    const touchedTiles = async function * () {
      if (statements.limits.isPart) yield * tilesOfSharedBlocks(statements, ownManifest)
      if (!hasChanges) return
      for await (const id of tilesOf(statements, ownManifest)) if (isTileTouched(id)) yield id
      if (!ownManifest.complete) return
      // a complete manifest states that all other tiles in its area are gone
      const isInSelection = id => { const { z, x, y } = parseTileId(id); return isSelected(z, x, y) }
      for (const id of changed ?? []) if (isInSelection(id)) yield id
      for (const manifest of manifests) {
        for await (const id of tilesOf(statements, manifest)) if (isInSelection(id)) yield id
      }
    }
    const unknown = new Set()
    await settleAll(couch, layer, touchedTiles(), {
      statements,
      signal,
      onSettled (settled) {
        const isOwn = statement => statement.run === run && statement.content !== GONE
        for (const [id, tile] of settled) if (tile.unknown.some(isOwn)) unknown.add(id)
      }
    })
    // the bytes of these tiles were removed meanwhile: write them again from the source
    if (unknown.size) await again((z, x, y) => unknown.has(`${layer}:${z}:${x}:${y}`), [...unknown])
  }
}

const addRevision = (sum, id, rev) =>
  (sum + Number.parseInt(fingerprint(`${id} ${rev}`).slice(0, 12), 16)) % 2 ** 48

/**
 * The tiles of all places outside the mirrored parts at which another manifest names a block of this one. Blocks are
 * named by their bytes. This load has written a block that the mirror left out, so the other manifest counts there now.
 * @returns {AsyncGenerator<string>} ids of heads
 */
async function * tilesOfSharedBlocks (statements, ownManifest) {
  const otherManifests = statements.manifests.filter(manifest => manifest !== ownManifest)
  for (const [place, names] of Object.entries(await statements.blocksOf(ownManifest))) {
    if (statements.limits.hasBlocks(place)) continue
    const namesOfOthers = await Promise.all(otherManifests.map(manifest => statements.namesAt(manifest, place)))
    if (!namesOfOthers.flat().some(name => names.includes(name))) continue
    for (const { z, x, y } of tilesOfPlace(place)) yield tileId(statements.layer, z, x, y)
  }
}
