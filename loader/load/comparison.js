// What a load compares its tiles with, and what it has to look at again when it is done.
import { batchesOf } from '../../core/lists.js'
import { parseTileId, tileId } from '../../core/index.js'
import { canContinue } from '../../core/feed-position.js'
import { fingerprint } from '../../core/fingerprint.js'
import { GONE, TileSet, contentOf, placeOfTile, tilesOfPlace } from '../../core/store/blocks.js'
import { takesOut } from '../../core/store/statements.js'
import { settleAll, tilesOf } from '../store/settle.js'
import { baselineDefaults, feedPositionOf, tilesSince, trustedNow, writesBetween } from './baseline.js'

const COMPARED = 1000 // tiles at once, with what another load says of them

/** @typedef {ReturnType<import('../../core/store/statements.js').LayerStatements['knownOf']>} KnownOf */

/**
 * @typedef {object} Taken a tile that another load has another image for
 * @property {string} id
 * @property {string} outcome of this load
 * @property {boolean} isGone for this load
 * @property {string} otherRun
 */

export class Comparison {
  /** Tiles by what was written of them. @type {Record<string, TileSet>} */
  #written = { create: new TileSet(), advance: new TileSet(), backfill: new TileSet() }
  /** The sum over the revisions that were written: sets of revisions are equal if their sums are. */
  #revisionSum = 0
  /** What the manifests say of a place. @type {{place: string, known: KnownOf} | undefined} */
  #last

  /**
   * @param {import('../store/index.js').Store} store
   * @param {{layer: string, time: string, statements: import('../../core/store/statements.js').LayerStatements,
   *   editions: any[], from?: any, signal?: AbortSignal}} of
   * from: where an earlier run began, which was killed after it had written its manifest
   */
  static async begin (store, { layer, time, statements, editions, from, signal }) {
    const { couch } = store
    const place = await feedPositionOf(couch, signal)
    const isNew = !statements.manifests.length || from
    // other loads of this process may write tiles of this layer by the same client: those are not counted
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
    /** Documents beside the tiles: blocks, the progress of this load, design documents. */
    this.otherWrites = otherWrites
    this.records = from ? new Map() : statements.records
    /** @type {import('./baseline.js').Trusted | undefined} */
    this.trusted = trusted
    /** Tiles that differ from all manifests. @type {Set<string>} */
    this.differing = trusted?.differing ?? new Set()
  }

  /**
   * Whether nothing of a manifest was taken out.
   * @type {(manifest: import('../../core/store/statements.js').Manifest) => boolean}
   */
  isWhole = ({ time, run }) => !this.statements.removals.some(removal => takesOut(removal, time, run))

  /**
   * Whether a tile is as in the manifests: where nobody else has written since, the store need not be asked.
   * @param {import('../store/tile.js').Tile} tile
   */
  async isKnown ({ id, z, x, y, digest }) {
    const { trusted, differing, statements, time } = this
    if (!trusted || statements.isBeingRemoved || differing.has(id)) return false
    const knownOf = await this.#knownAt(z, x, y, id)
    const statementsOfTile = knownOf(id)
    const isLater = (a, b) => a.time > b.time || (a.time === b.time && a.run > b.run)
    const left = statementsOfTile.statements.filter(one => !statementsOfTile.isRemoved(one.time, one.run))
    if (!left.length) return false
    const newest = left.reduce((last, one) => isLater(one, last) ? one : last)
    return trusted.runs.has(newest.run) && newest.time <= time && newest.content === contentOf(digest)
  }

  /** What the manifests say of all tiles of a place: sources go from place to place. */
  #knownAt (z, x, y, id) {
    const place = placeOfTile(z, x, y)
    if (this.#last?.place !== place) this.#last = { place, known: this.statements.knownOf([id]) }
    return this.#last.known
  }

  /** What became of a tile. @param {import('../store/tile.js').Tile} tile @param {string} outcome */
  note ({ id, z, x, y, hasLaterVersion }, outcome) {
    this.#written[outcome]?.add(z, x, y)
    if (hasLaterVersion) {
      if (this.differing.size <= baselineDefaults.most) this.differing.add(id)
    } else if (outcome === 'create' || outcome === 'advance') this.differing.delete(id)
  }

  /** What was written of a tile, if anything. */
  #outcomeAt (z, x, y) {
    return Object.keys(this.#written).find(outcome => this.#written[outcome].has(z, x, y))
  }

  /** A document of a tile was written. */
  noteRevision (id, rev) {
    this.#revisionSum = addRevision(this.#revisionSum, id, rev)
  }

  /**
   * After the manifest was written: settles what others have touched meanwhile.
   * @param {object} parts
   * @param {string} parts.run of the manifest
   * @param {number} parts.documents of tiles that this load has written
   * @param {(z: number, x: number, y: number) => boolean} parts.isSelected
   * @param {(only: (z: number, x: number, y: number) => boolean, tiles: string[]) => Promise<any>} parts.again writes
   *   some tiles of the source once more
   * @param {(tiles: string[]) => Promise<any>} parts.withdraw what this load says of some tiles
   * @returns {Promise<{baseline: any, taken: Taken[]}>} baseline: of the next load, if there
   *   can be one; taken: tiles of which another load at the same time said something else for this time
   */
  async end ({ run, documents, isSelected, again, withdraw }) {
    const { couch, statements, signal, place, from } = this
    const ownWrites = documents + this.otherWrites.documents // what is under way now may be behind the position
    const now = await feedPositionOf(couch, signal)
    const isAllOwn = !from && writesBetween(place, now) === ownWrites
    const { changed, isExact } = isAllOwn
      ? { changed: new Set(), isExact: true }
      : await this.#changedSince(from ?? place, now)
    // what is written besides tiles (the progress of this load, another layer) is no reason to look at them again
    const isAlone = !from && isExact && now.copies === 1
    await statements.refresh()
    const isNews = record => record.run !== run && this.records.get(record.id) !== statements.records.get(record.id)
    const news = [...statements.manifests, ...statements.removals].filter(isNews)
    const taken = await this.#takenTiles(run, news, withdraw)
    await this.#settle({ run, changed, news, isSelected, again })
    const baseline = isAlone && !taken.length ? await this.#baseline(run, now) : undefined
    // the other load may have withdrawn its tile since: then that load is the one that is refused
    if (taken.length) await statements.refresh()
    const isTaken = ({ id, otherRun }) => !statements.isRemoved(id, this.time, otherRun)
    return { baseline, taken: taken.filter(isTaken) }
  }

  /** Stops counting. */
  close () {
    this.otherWrites.end()
  }

  async #baseline (run, now) {
    const { statements } = this
    if (this.differing.size > baselineDefaults.most) return undefined
    // another load may have written its manifest, and not settled its tiles yet
    const editions = await this.store.editions(this.layer)
    if (editions.some(({ time, finished }) => !finished && time !== this.time)) return undefined
    const storedRuns = statements.runs
    const trusted = new Set([...this.trusted?.runs ?? [], run])
    const runs = [...trusted].filter(one => storedRuns.has(one)).sort().slice(-baselineDefaults.runs)
    return { runs, differing: [...this.differing], since: now.since, identity: now.identity, purged: now.purged }
  }

  /** The load whose manifest is the second one sees both: it is refused. If both loads see both, the later run is. */
  async #takenTiles (run, news, withdraw) {
    const { statements, time } = this
    const others = news.filter(record => record.id.startsWith('manifest:') && record.time === time)
    const ownManifest = statements.manifests.find(manifest => manifest.run === run && manifest.time === time)
    if (!others.length || !ownManifest) return []
    const runs = new Set(others.map(other => other.run))
    const taken = []
    const toWithdraw = []
    for await (const ids of batchesOf(tilesOf(statements, ownManifest), { most: COMPARED, bytes: Infinity })) {
      const knownOf = await statements.knownOf(ids)
      for (const id of ids) {
        const ofTime = knownOf(id).statements
          .filter(one => one.time === time && !statements.isRemoved(id, time, one.run))
        const mine = ofTime.find(one => one.run === run)
        // an edition without this tile does not keep an image from its time
        const other = ofTime.find(one => runs.has(one.run) && one.content !== mine?.content && one.content !== GONE)
        if (!mine || !other) continue
        const { z, x, y } = parseTileId(id)
        const outcome = this.#outcomeAt(z, x, y) ?? 'unchanged'
        taken.push({ id, outcome, isGone: mine.content === GONE, otherRun: other.run })
        if (run > other.run) toWithdraw.push(id) // otherwise the other one counts as it is
      }
    }
    if (toWithdraw.length) await withdraw(toWithdraw)
    return taken
  }

  /**
   * Tiles that others wrote. isExact: those are none, and each document that this load wrote is as it wrote it.
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

  async #settle ({ run, changed, news, isSelected, again }) {
    const { statements, layer, couch, signal } = this
    const isTouched = changed?.size !== 0 || news.length > 0
    if (!isTouched && !statements.limits.isPart) return
    const ownManifest = statements.manifests.find(manifest => manifest.run === run && manifest.time === this.time)
    if (!ownManifest) return
    const manifests = news.filter(({ id }) => id.startsWith('manifest:'))
    const places = new Map()
    for (const manifest of manifests) places.set(manifest, await statements.blocksOf(manifest))
    const isTouchedBy = (record, id, { z, x, y }) => record.touches
      ? record.touches(id, z, x, y)
      : places.get(record)[placeOfTile(z, x, y)] || (record.complete && record.selects(z, x, y))
    const isTileTouched = id =>
      !changed || changed.has(id) || news.some(record => isTouchedBy(record, id, parseTileId(id)))
    const touched = async function * () {
      if (statements.limits.isPart) yield * tilesOfSharedBlocks(statements, ownManifest)
      if (!isTouched) return
      for await (const id of tilesOf(statements, ownManifest)) if (isTileTouched(id)) yield id
      if (!ownManifest.complete) return
      // all other tiles in its area are gone
      const isSilent = id => { const { z, x, y } = parseTileId(id); return isSelected(z, x, y) }
      for (const id of changed ?? []) if (isSilent(id)) yield id
      for (const manifest of manifests) {
        for await (const id of tilesOf(statements, manifest)) if (isSilent(id)) yield id
      }
    }
    const unknown = new Set()
    await settleAll(couch, layer, touched(), {
      statements,
      signal,
      onSettled (settled) {
        const isOwn = statement => statement.run === run && statement.content !== GONE
        for (const [id, one] of settled) if (one.unknown.some(isOwn)) unknown.add(id)
      }
    })
    // their bytes went with what was removed meanwhile: the source has them
    if (unknown.size) await again((z, x, y) => unknown.has(`${layer}:${z}:${x}:${y}`), [...unknown])
  }
}

const addRevision = (sum, id, rev) =>
  (sum + Number.parseInt(fingerprint(`${id} ${rev}`).slice(0, 12), 16)) % 2 ** 48

/**
 * The tiles of all places outside the mirrored parts at which another manifest names a block of this one. Blocks are
 * named by their bytes: this load has written a block that the mirror left out, so the other manifest counts there now.
 * @returns {AsyncGenerator<string>} ids of heads
 */
async function * tilesOfSharedBlocks (statements, ownManifest) {
  const others = statements.manifests.filter(manifest => manifest !== ownManifest)
  for (const [place, names] of Object.entries(await statements.blocksOf(ownManifest))) {
    if (statements.limits.hasBlocks(place)) continue
    const namesOfOthers = await Promise.all(others.map(manifest => statements.namesAt(manifest, place)))
    if (!namesOfOthers.flat().some(name => names.includes(name))) continue
    for (const { z, x, y } of tilesOfPlace(place)) yield tileId(statements.layer, z, x, y)
  }
}
