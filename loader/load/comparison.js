// What a load compares its tiles with, and what it has to look at again when it is done.
import { parseTileId } from '../../core/index.js'
import { canContinue } from '../../core/feed-position.js'
import { GONE, TileSet, contentOf, placeOfTile } from '../../core/store/blocks.js'
import { takesOut } from '../../core/store/statements.js'
import { settleAll, tilesOf } from '../store/settle.js'
import { baselineDefaults, feedPositionOf, tilesSince, trustedNow, writesBetween } from './baseline.js'

/** @typedef {ReturnType<import('../../core/store/statements.js').LayerStatements['knownOf']>} KnownOf */

export class Comparison {
  #written = new TileSet()
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
    const trusted = isNew ? undefined : await trustedNow(couch, layer, editions, place, signal)
    return new Comparison(store, { layer, time, statements, signal, place, trusted, from })
  }

  /** @param {import('../store/index.js').Store} store @param {any} parts */
  constructor (store, { layer, time, statements, signal, place, trusted, from }) {
    this.store = store
    this.couch = store.couch
    this.from = from
    this.layer = layer
    this.time = time
    this.statements = statements
    this.signal = signal
    this.place = place
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
    const own = knownOf(id)
    const isLater = (a, b) => a.time > b.time || (a.time === b.time && a.run > b.run)
    const left = own.statements.filter(one => !own.isRemoved(one.time, one.run))
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
    if (outcome !== 'unchanged') this.#written.add(z, x, y)
    if (hasLaterVersion) {
      if (this.differing.size <= baselineDefaults.most) this.differing.add(id)
    } else if (outcome === 'create' || outcome === 'advance') this.differing.delete(id)
  }

  /**
   * After the manifest was written: settles what others have touched meanwhile.
   * @param {object} parts
   * @param {string} parts.run of the manifest
   * @param {number} parts.documents that this load has written
   * @param {(z: number, x: number, y: number) => boolean} parts.isSelected
   * @param {(only: (z: number, x: number, y: number) => boolean, tiles: string[]) => Promise<any>} parts.again writes
   *   some tiles of the source once more
   * @returns {Promise<any>} the baseline of the next load, if there can be one
   */
  async end ({ run, documents, isSelected, again }) {
    const { couch, layer, statements, signal, place, from } = this
    const now = await feedPositionOf(couch, signal)
    const isAlone = !from && writesBetween(place, now) === documents
    const changed = isAlone ? new Set() : await this.#changedSince(from ?? place, now)
    await statements.refresh()
    const isNews = record => record.run !== run && this.records.get(record.id) !== statements.records.get(record.id)
    const news = [...statements.manifests, ...statements.removals].filter(isNews)
    if (changed?.size !== 0 || news.length) await this.#settle({ run, changed, news, isSelected, again })
    if (!isAlone || this.differing.size > baselineDefaults.most) return undefined
    // another load may have written its manifest, and not settled its tiles yet
    const editions = await this.store.editions(layer)
    if (editions.some(({ time, finished }) => !finished && time !== this.time)) return undefined
    const there = statements.runs
    const trusted = new Set([...this.trusted?.runs ?? [], run])
    const runs = [...trusted].filter(one => there.has(one)).sort().slice(-baselineDefaults.runs)
    return { runs, differing: [...this.differing], since: now.since, identity: now.identity, purged: now.purged }
  }

  /** @returns {Promise<Set<string> | undefined>} */
  async #changedSince (from, now) {
    if (!canContinue(from, now)) return undefined
    const isOwn = ({ z, x, y }) => this.#written.has(z, x, y)
    return tilesSince(this.couch, this.layer, from.since, { signal: this.signal, isOwn })
  }

  async #settle ({ run, changed, news, isSelected, again }) {
    const { statements, layer, couch, signal } = this
    const own = statements.manifests.find(manifest => manifest.run === run && manifest.time === this.time)
    if (!own) return
    const manifests = news.filter(({ id }) => id.startsWith('manifest:'))
    const places = new Map()
    for (const manifest of manifests) places.set(manifest, await statements.blocksOf(manifest))
    const isTouchedBy = (record, id, { z, x, y }) => record.touches
      ? record.touches(id, z, x, y)
      : places.get(record)[placeOfTile(z, x, y)] || (record.complete && record.selects(z, x, y))
    const isTouched = id =>
      !changed || changed.has(id) || news.some(record => isTouchedBy(record, id, parseTileId(id)))
    const touched = async function * () {
      for await (const id of tilesOf(statements, own)) if (isTouched(id)) yield id
      if (!own.complete) return
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
