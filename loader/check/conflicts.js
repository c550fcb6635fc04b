// Resolves conflicts between stores that were loaded independently: one revision of each document stays, and no version
// is lost. Then every tile is settled by all statements about it. The result depends only on the documents, so that
// each of the stores can do it, in any order.
import { chunks } from '../../core/lists.js'
import { byLayer } from '../../core/ids.js'
import { checkLayer, formatReference, headId, isTileId, layerId, parseTileId, soundOf } from '../../core/index.js'
import { LayerStatements } from '../../core/store/statements.js'
import { lostStatements } from '../maintain/prune/mark.js'
import { changesOf, repeat } from '../maintain/repeat.js'
import { editionDocuments } from '../store/layers.js'
import { tombstone } from '../store/revisions.js'
import { everyTile, settleAll, deterministicAccess, tilesOf } from '../store/settle.js'
import { Tally } from '../maintain/tally.js'
import { isMergeable, mergeDocuments } from './merge.js'
import { LastCheck } from './last.js'
import { checkDocument } from './tile.js'
import { sections } from './walk.js'

/** Documents with several living leaves, and their number. */
export const CONFLICTS = '_design/versions/_view/conflicts'

const resolveDefaults = {
  page: 500, // conflicts read at once
  tiles: 100, // tiles settled together
  passes: 5, // over the store, since conflicts may appear meanwhile
  look: 60000 // milliseconds between two passes of a live run if the change feed shows nothing
}

const MOST_SEEN = 10_000 // documents that are remembered, so that each is counted once

/**
 * @typedef {object} ResolveSummary
 * @property {number} conflicts documents with several living leaves
 * @property {number} ended losing leaves that were deleted; their versions are kept elsewhere
 * @property {number} past versions copied to the past
 * @property {number} contested past versions that moved to an earlier second, since another image has their time
 * @property {number} promoted past versions that became heads, since they were newer
 * @property {number} merged documents of layers, editions and the store
 * @property {number} settled tiles without a conflict whose versions did not follow from the statements about them
 * @property {number} unknown statements of editions whose bytes are missing in this store
 * @property {number} left documents of other programs, which stay as they are
 * @property {number} refused documents that the store did not take
 * @property {{id: string, what: string, reason: string}[]} named the first of the unknown, left and refused
 *
 * @typedef {object} ResolveOptions
 * @property {string[]} [layers] only these (default: everything)
 * @property {boolean} [live] repeats until the signal
 * @property {boolean} [dryRun] counts, and writes nothing
 * @property {AbortSignal} [signal]
 * @property {(tally: ResolveSummary) => void} [onProgress]
 * @property {(state: {state: 'following' | 'away', error?: string, reason?: string}) => void} [onState]
 *   of a live run
 * @property {Partial<typeof resolveDefaults & typeof import('../maintain/repeat.js').repeatDefaults>} [limits]
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {ResolveOptions} [options]
 * @returns {Promise<ResolveSummary>}
 */
export async function resolve (store, { layers, live = false, onState, limits, ...options } = {}) {
  layers?.forEach(checkLayer)
  const { signal } = options
  const resolver = new Resolver(store, { ...options, layers, limits: { ...resolveDefaults, ...limits } })
  const pause = () => resolver.limits.look
  if (live) await repeat(() => resolver.run(), { pause, wake: changesOf(store, signal), signal, onState, limits })
  else await resolver.run()
  return { ...resolver.tally }
}

class ResolveTally extends Tally {
  conflicts = 0
  ended = 0
  past = 0
  contested = 0
  promoted = 0
  merged = 0
  settled = 0
  unknown = 0
  left = 0
  refused = 0
}

class Resolver {
  tally = new ResolveTally()
  #isConflict = false // whether the tiles that are being settled already count as conflicts
  #seen = new Set() // noted documents

  /** @param {import('../store/index.js').Store} store @param {any} options */
  constructor (store, { layers, dryRun = false, signal, onProgress, limits }) {
    this.couch = store.couch
    this.layers = layers
    this.dryRun = dryRun
    this.signal = signal
    this.onProgress = onProgress
    this.limits = limits
    const onSettled = (_, done) => this.#count(done)
    this.last = new LastCheck(store.couch, { signal })
    this.settler = new Settler(store, { dryRun, signal, onSettled, note: this.#note })
  }

  #note = (kind, id, reason) => {
    const key = `${kind} ${id}`
    if (this.#seen.has(key)) return
    if (this.#seen.size < MOST_SEEN) this.#seen.add(key)
    this.tally.note(kind, id, reason)
  }

  /** Resolves conflicts until none is left that can be resolved, then settles the other tiles. */
  async run () {
    const { dryRun, limits, tally } = this
    const changes = () => tally.ended + tally.past + tally.contested + tally.promoted + tally.merged
    for (let pass = 0; pass < limits.passes; pass++) {
      const changesBefore = changes()
      await this.#resolveAll()
      if (dryRun || changes() === changesBefore) break
    }
    const written = await this.last.read()
    await this.settler.run(this.layers, written)
    const isClean = !tally.left && !tally.refused && !tally.unknown
    if (!dryRun) await this.last.write({ isClean: isClean && !this.layers })
  }

  async #resolveAll () {
    const { couch, layers, limits, signal, tally, dryRun } = this
    for await (const page of conflicts(couch, { layers, page: limits.page, signal })) {
      tally.conflicts += page.length
      const tiles = new Set()
      const mergeableIds = []
      for (const { id } of page) {
        if (isTileId(id)) tiles.add(headId(id))
        else if (isMergeable(id)) mergeableIds.push(id)
        else if (!id.startsWith('_design/')) this.#note('left', id, 'it is no document of a tile store')
      }
      await mergeDocuments(couch, mergeableIds, { tally, dryRun, signal, note: this.#note })
      const ids = [...tiles]
      for (const chunk of chunks(ids, limits.tiles)) await this.#resolveTiles(chunk)
    }
  }

  async #resolveTiles (ids) {
    this.#isConflict = true
    for (const [layer, idsOfLayer] of byLayer(ids)) await this.settler.settle(layer, () => idsOfLayer)
    this.#isConflict = false
    if (this.dryRun) for (const id of ids) this.settler.rehearsed.add(id)
    this.onProgress?.(this.tally)
  }

  /** @param {import('../../core/store/settle.js').Settled['done']} done */
  #count (done) {
    const { tally } = this
    if (!this.#isConflict) tally.settled++
    for (const { id, end, version, from } of done) {
      if (end) tally.ended++
      else if (version?.contested) tally.contested++
      else if (id.includes('@')) tally.past++
      else if (from?.id?.includes('@')) tally.promoted++
    }
    this.onProgress?.(tally)
  }
}

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {{layers?: string[], page: number, signal?: AbortSignal}} options
 * @returns {AsyncGenerator<{id: string}[]>} pages
 */
async function * conflicts (couch, { layers, page, signal }) {
  const ranges = layers?.map(layer => ({ startkey: [layer], endkey: [layer, {}] })) ?? [{}]
  for (const range of ranges) yield * couch.viewPages(CONFLICTS, range, { page, signal })
}

/** The number of documents of a layer with several living leaves. @param {import('../store/couch.js').Couch} couch */
export async function countConflicts (couch, layer) {
  const [row] = await couch.view(CONFLICTS, { startkey: [layer], endkey: [layer, {}] })
  return row?.value ?? 0
}

/**
 * Settles the tiles of a store: see core/store/settle.js.
 * @typedef {object} SettlerOptions
 * @property {boolean} [dryRun]
 * @property {AbortSignal} [signal]
 * @property {(id: string, done: import('../../core/store/settle.js').Settled['done']) => void} [onSettled] a tile was
 * written
 * @property {(what: 'left' | 'refused' | 'unknown', id: string, reason: string) => void} note
 */
export class Settler {
  /** @type {Map<string, LayerStatements>} */
  #statements = new Map()
  /** Tiles that were looked at in a dry run. @type {Set<string>} */
  rehearsed = new Set()

  /** @param {import('../store/index.js').Store} store @param {SettlerOptions} options */
  constructor (store, options) {
    this.store = store
    this.couch = store.couch
    this.access = deterministicAccess(store.couch)
    this.options = options
  }

  /** @param {string[] | undefined} layers @param {import('./last.js').Written} [written] limits the run to these */
  async run (layers, written) {
    const docs = layers ? new Map() : await this.#findLayers(written)
    for (const layer of layers ?? docs.keys()) {
      const writtenIds = written?.get(layer)
      if (written && !writtenIds) continue // no document of it was written: its manifests need not be read
      await this.settle(layer, statements => this.#idsToSettle(statements, writtenIds), docs.get(layer))
      if (!this.options.dryRun) await this.#endEditions(layer)
    }
  }

  /** Deletes the document of an edition that one master removed while another loaded it again. @param {string} layer */
  async #endEditions (layer) {
    const statements = this.#statements.get(layer)
    if (!statements?.removals.length) return
    const isRemoved = ({ time, run }) => run && statements.isRunRemoved(time, run)
    const removedEditions = (await editionDocuments(this.couch, layer)).filter(isRemoved)
    if (!removedEditions.length) return
    const tombstones = removedEditions.map(({ _id, _rev }) => tombstone(_id, _rev)) // the same in every store
    await this.couch.bulk(tombstones, { newEdits: false })
  }

  /**
   * Finds layers with a document, and layers with tiles only: their document may not have arrived yet.
   * @returns {Promise<Map<string, any>>} their documents
   */
  async #findLayers (written) {
    const layers = new Map()
    if (written) for (const layer of written.keys()) layers.set(layer, undefined)
    else {
      for await (const section of sections(this.couch, this.options.signal)) {
        if ('layer' in section) layers.set(section.layer, undefined)
      }
    }
    for (const doc of await this.store.layers()) layers.set(doc.layer, doc)
    return layers
  }

  /**
   * @param {string} layer
   * @param {(statements: LayerStatements) => Iterable<string> | AsyncIterable<string>} idsOf heads
   * @param {any} [layerDoc] document of the layer
   */
  async settle (layer, idsOf, layerDoc) {
    const { couch, access, options: { dryRun, signal } } = this
    const statements = this.#statements.get(layer) ?? new LayerStatements(couch, layer)
    this.#statements.set(layer, statements)
    const doc = layerDoc ?? soundOf([await couch.get(layerId(layer))], 'layer')[0]
    const onSettled = settled => this.#report(settled, { limits: statements.limits, doc })
    await settleAll(couch, layer, idsOf(statements), { statements, access, dryRun, signal, onSettled })
  }

  async * #idsToSettle (statements, written) {
    const { couch, options: { signal } } = this
    await statements.refresh()
    const manifests = written?.manifestsIn(statements)
    if (!written || written.isAll || manifests.some(({ complete }) => complete)) {
      // a complete edition makes every tile that it does not name gone
      return yield * everyTile(couch, statements, signal)
    }
    yield * written.tiles
    const statedTiles = async function * () {
      for (const manifest of manifests) yield * tilesOf(statements, manifest)
      yield * written.tilesInBlocks(statements)
    }
    for await (const id of statedTiles()) if (!written.tiles.has(id)) yield id
  }

  /**
   * @param {Map<string, import('../../core/store/settle.js').Settled>} settled
   * @param {Parameters<typeof lostStatements>[2]} layer
   */
  #report (settled, layer) {
    const { onSettled, note } = this.options
    for (const [id, outcome] of settled) {
      const { done, error, odd } = outcome
      if (this.rehearsed.has(id)) continue
      const [problem = []] = odd ? checkDocument(odd).problems : []
      if (odd) note('left', odd._id, `it is no valid tile: ${problem.filter(Boolean).join(', ')}`)
      else if (error) note('refused', id, error.message)
      else if (done.length) onSettled?.(id, done)
      for (const { time } of lostStatements(id, outcome, layer)) {
        const edition = formatReference(parseTileId(id).layer, time)
        note('unknown', id, `the image that ${edition} has is missing: load that edition again`)
      }
    }
  }
}
