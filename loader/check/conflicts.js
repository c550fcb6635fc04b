// Resolves conflicts between stores that were loaded independently: one revision of each document stays, and no version is lost.
// Then every tile is settled by all statements about it. The result depends only on what is stored, so that each of the stores
// can do it, in any order.
import { byLayer } from '../../core/ids.js'
import { checkLayer, formatReference, headId, isTileId, layerId, parseTileId, soundOf } from '../../core/index.js'
import { canContinue } from '../../core/feed-position.js'
import { LayerStatements } from '../../core/store/statements.js'
import { feedPositionOf, tilesSince } from '../load/baseline.js'
import { peerOf } from '../mirror/peer.js'
import { lostStatements } from '../prune/mark.js'
import { changesOf, repeat } from '../repeat.js'
import { everyTile, settleAll, deterministicAccess, tilesOf } from '../store/settle.js'
import { Tally } from '../tally.js'
import { DocumentMerger } from './merge.js'
import { checkDocument } from './tile.js'
import { sections } from './walk.js'

/** Documents with several living leaves, and their number. */
export const CONFLICTS = '_design/lifecycle/_view/conflicts'

export const resolveDefaults = {
  page: 500, // conflicts read at once
  tiles: 100, // tiles settled together
  passes: 5, // over the store: new conflicts may come meanwhile
  look: 60000 // milliseconds between two passes of a live run when the feed shows no change
}

const MOST_SEEN = 10_000 // documents that are remembered, so that each is counted once

/**
 * @typedef {object} ResolveSummary
 * @property {number} conflicts documents with several living leaves
 * @property {number} ended losing leaves that were deleted; their versions are kept elsewhere
 * @property {number} past versions copied to the past
 * @property {number} contested among the past: those that had to move to an earlier second, since another image has theirs
 * @property {number} promoted past versions that became heads, since they were newer
 * @property {number} merged documents of layers, editions and the store
 * @property {number} settled tiles without a conflict whose versions did not follow from the statements about them
 * @property {number} unknown statements of editions whose bytes are nowhere in this store
 * @property {number} left documents left as they are: another program wrote them
 * @property {number} refused documents that the store did not take
 * @property {{id: string, what: string, reason: string}[]} named the first of the unknown, left and refused
 *
 * @typedef {object} ResolveOptions
 * @property {string[]} [layers] only these; else everything
 * @property {boolean} [live] goes on until the signal
 * @property {boolean} [dryRun] counts, and writes nothing
 * @property {AbortSignal} [signal]
 * @property {(tally: ResolveSummary) => void} [onProgress]
 * @property {(state: {state: 'following' | 'away', error?: any}) => void} [onState] of a live one
 * @property {Partial<typeof resolveDefaults & typeof import('../repeat.js').repeatDefaults>} [limits]
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {ResolveOptions} [options]
 * @returns {Promise<ResolveSummary>}
 */
export async function resolve (store, { layers, live = false, dryRun = false, signal, onProgress, onState, limits } = {}) {
  layers?.forEach(checkLayer)
  const pass = new Pass(store, { layers, dryRun, signal, onProgress, limits: { ...resolveDefaults, ...limits } })
  if (live) await repeat(() => pass.run(), { pause: () => pass.limits.look, wake: changesOf(store, signal), signal, onState, limits })
  else await pass.run()
  return { ...pass.tally }
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

class Pass {
  tally = new ResolveTally()
  #isConflict = false // the tiles that are settled now are counted as conflicts already
  #seen = new Set() // documents that are left or were refused: counted once

  /** @param {import('../store/index.js').Store} store @param {any} options */
  constructor (store, { layers, dryRun, signal, onProgress, limits }) {
    this.couch = store.couch
    this.layers = layers
    this.dryRun = dryRun
    this.signal = signal
    this.onProgress = onProgress
    this.limits = limits
    const parts = {
      tally: this.tally, dryRun, signal,
      onLeft: (id, reason) => this.#tell('left', id, reason),
      onRefused: (id, reason) => this.#tell('refused', id, reason)
    }
    const peer = peerOf(this.couch)
    this.merger = new DocumentMerger(this.couch, peer, parts)
    this.settler = new Settler(store, {
      dryRun,
      signal,
      onSettled: (_, done) => this.#count(done),
      onLeft: (id, reason) => this.#tell('left', id, reason),
      onRefused: (id, reason) => this.#tell('refused', id, reason),
      onUnknown: (id, { layer, time }) => this.#tell('unknown', id, `the image that ${formatReference(layer, time)} has is missing: load that edition again`)
    })
  }

  #tell (what, id, reason) {
    if (this.#seen.has(`${what} ${id}`)) return
    if (this.#seen.size < MOST_SEEN) this.#seen.add(`${what} ${id}`)
    this.tally.note(what, id, reason)
  }

  /** Until no conflict is left that can be resolved. */
  async run () {
    for (let turn = 0; turn < this.limits.passes; turn++) {
      const before = this.#done
      await this.#once()
      if (this.dryRun || this.#done === before) break
    }
    await this.#settle()
  }

  /** @param {string[]} ids of heads */
  async #tiles (ids) {
    this.#isConflict = true
    for (const [layer, own] of byLayer(ids)) await this.settler.settle(layer, () => own)
    this.#isConflict = false
    if (this.dryRun) for (const id of ids) this.settler.rehearsed.add(id)
    this.onProgress?.(this.tally)
  }

  /** @type {Awaited<ReturnType<typeof feedPositionOf>> | undefined} */
  #place

  /** Settles tiles without conflicts: the first time every tile, then those that were written. */
  async #settle () {
    const place = await feedPositionOf(this.couch, this.signal)
    const since = this.#place && canContinue(this.#place, place) ? this.#place.since : undefined
    await this.settler.run(this.layers, since)
    if (!this.dryRun) this.#place = place
  }

  /** @param {import('../../core/store/settle.js').Settled['done']} done */
  #count (done) {
    const { tally } = this
    if (!this.#isConflict) tally.settled++
    for (const { id, end, want, from } of done) {
      if (end) tally.ended++
      else if (want?.contested) tally.contested++
      else if (id.includes('@')) tally.past++
      else if (from?.id?.includes('@')) tally.promoted++
    }
    this.onProgress?.(tally)
  }

  get #done () {
    const { ended, past, promoted, merged } = this.tally
    return ended + past + promoted + merged
  }

  async #once () {
    const { layers, limits, signal } = this
    for await (const page of conflicts(this.couch, { layers, page: limits.page, signal })) {
      this.tally.conflicts += page.length
      const tiles = new Set()
      const others = []
      for (const { id } of page) {
        if (isTileId(id)) tiles.add(headId(id))
        else if (DocumentMerger.has(id)) others.push(id)
        else if (!id.startsWith('_design/')) this.#tell('left', id, 'it is no document of a tile store')
      }
      await this.merger.resolve(others)
      const ids = [...tiles]
      for (let at = 0; at < ids.length; at += limits.tiles) {
        await this.#tiles(ids.slice(at, at + limits.tiles))
      }
    }
  }
}

/** @typedef {{id: string, layer: string | null, revs: string[]}} Conflict revs: the leaves that CouchDB does not show */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {{layers?: string[], page: number, signal?: AbortSignal}} options
 * @returns {AsyncGenerator<Conflict[]>} pages
 */
export async function * conflicts (couch, { layers, page, signal }) {
  const ranges = layers?.map(layer => ({ startkey: [layer], endkey: [layer, {}] })) ?? [{}]
  for (const range of ranges) {
    for await (const rows of couch.viewPages(CONFLICTS, range, { page, signal })) yield rows.map(({ id, key: [layer], value }) => ({ id, layer, revs: value }))
  }
}

/**
 * How many documents of a layer have several living leaves.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @returns {Promise<number>}
 */
export async function countConflicts (couch, layer) {
  const [row] = await couch.view(CONFLICTS, { startkey: [layer], endkey: [layer, {}] })
  return row?.value ?? 0
}

/** Settles the tiles of a store: see core/store/settle.js. */
/**
 * @typedef {object} SettlerParts
 * @property {boolean} [dryRun]
 * @property {AbortSignal} [signal]
 * @property {(id: string, done: import('../../core/store/settle.js').Settled['done']) => void} onSettled a tile that was written
 * @property {(id: string, reason: string) => void} onLeft
 * @property {(id: string, reason: string) => void} onRefused
 * @property {(id: string, statement: {layer: string, time: string}) => void} onUnknown
 */

export class Settler {
  /** @type {Map<string, LayerStatements>} */
  #said = new Map()
  /** Layers that were met -> their documents. @type {Map<string, any>} */
  #named = new Map()
  /** Tiles of a dry run that were looked at. @type {Set<string>} */
  rehearsed = new Set()

  /** @param {import('../store/index.js').Store} store @param {SettlerParts} parts */
  constructor (store, parts) {
    this.store = store
    this.couch = store.couch
    this.access = deterministicAccess(store.couch)
    this.parts = parts
  }

  /** @param {string[] | undefined} layers @param {string | number} [since] what has changed since that place alone */
  async run (layers, since) {
    const docs = layers ? new Map() : await this.#layers(since)
    for (const layer of layers ?? docs.keys()) await this.settle(layer, said => this.#ids(said, since), docs.get(layer))
  }

  /** Those that have a document, and those that have tiles alone: its document may not have come yet. */
  async #layers (since) {
    if (since === undefined) for await (const section of sections(this.couch, this.parts.signal)) if ('layer' in section) this.#named.set(section.layer, undefined)
    for (const doc of await this.store.layers()) this.#named.set(doc.layer, doc)
    return this.#named
  }

  /** @param {string} layer @param {(said: LayerStatements) => Iterable<string> | AsyncIterable<string>} idsOf of heads @param {any} [known] its document */
  async settle (layer, idsOf, known) {
    const { couch, access, parts: { dryRun, signal } } = this
    const said = this.#said.get(layer) ?? new LayerStatements(couch, layer)
    this.#said.set(layer, said)
    const doc = known ?? soundOf([await couch.get(layerId(layer))], 'layer')[0]
    await settleAll(couch, layer, idsOf(said), { statements: said, access, dryRun, signal, onSettled: settled => this.#tell(settled, doc) })
  }

  async * #ids (said, since) {
    const { layer, records: before } = said
    await said.refresh()
    const news = [...said.manifests, ...said.removals].filter(({ id }) => before.get(id) !== said.records.get(id))
    const changed = since === undefined || news.some(({ id }) => id.startsWith('removed:')) ? undefined : await tilesSince(this.couch, layer, since, { signal: this.parts.signal })
    if (!changed) return yield * everyTile(this.couch, said, this.parts.signal)
    yield * changed
    for (const record of news) {
      // of what a complete edition does not name it said something, too
      if (record.complete) return yield * everyTile(this.couch, said, this.parts.signal)
      for await (const id of tilesOf(said, record)) if (!changed.has(id)) yield id
    }
  }

  /** @param {Map<string, import('../../core/store/settle.js').Settled>} settled @param {any} doc of the layer */
  #tell (settled, doc) {
    const { onSettled, onLeft, onRefused, onUnknown } = this.parts
    for (const [id, one] of settled) {
      const { done, error, odd } = one
      if (this.rehearsed.has(id)) continue
      if (odd) onLeft(odd._id, `it is no valid tile: ${checkDocument(odd).problems[0]?.filter(Boolean).join(', ')}`)
      else if (error) onRefused(id, error.message)
      else if (done.length) onSettled(id, done)
      for (const { time } of lostStatements(doc, one)) onUnknown(id, { layer: parseTileId(id).layer, time })
    }
  }
}
