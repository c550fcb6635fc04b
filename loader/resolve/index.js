// Puts right what masters that were loaded apart have made of one another: of several living leaves of a document one stays,
// and no version is lost. Then every tile is settled by what all editions, removals and versions say of it. What comes of it
// depends on what is stored alone, so that it may run at every master, in any order.
import { checkLayer, formatReference, headId, isTileId } from '../../core/index.js'
import { byLayer } from '../../core/ids.js'
import { peerOf } from '../mirror/peer.js'
import { changesOf, repeat } from '../repeat.js'
import { placeNow } from '../load/others.js'
import { isGood } from '../../core/place.js'
import { conflicts } from './find.js'
import { Papers } from './papers.js'
import { Settler } from './settler.js'

export { countConflicts } from './find.js'

export const resolveDefaults = {
  page: 500, // conflicts read at once
  tiles: 100, // tiles looked at together, with all that is said of their past
  batch: 200, // documents a request
  bytes: 4 * 1024 * 1024, // of tiles a request
  passes: 5, // over the store: while something is put right, something else may come
  look: 60000 // milliseconds after which a look is taken although nothing was heard of
}

const MOST_TOLD = 100 // documents named in a summary

/**
 * @typedef {object} Tally
 * @property {number} conflicts documents that were found with several living leaves
 * @property {number} ended leaves that lost, and stand elsewhere
 * @property {number} past versions copied to the past
 * @property {number} contested among the past: those that had to move to an earlier second, since another image has theirs
 * @property {number} promoted past versions that became heads, since they were newer
 * @property {number} merged layers, editions and marks that were put together
 * @property {number} settled tiles without a conflict whose versions did not follow from what was said
 * @property {number} unknown statements of editions whose bytes are nowhere in this store
 * @property {number} left documents left as they are: nobody of ours has written them
 * @property {number} refused what the store did not take
 *
 * @typedef {Tally & {named: {id: string, what: 'left' | 'refused' | 'unknown', reason: string}[]}} ResolveSummary
 *
 * @typedef {object} ResolveOptions
 * @property {string[]} [layers] only these; else everything
 * @property {boolean} [live] goes on until the signal
 * @property {boolean} [dryRun] counts, and writes nothing
 * @property {AbortSignal} [signal]
 * @property {(tally: Tally) => void} [onProgress]
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
  return pass.summary
}

class Pass {
  /** @type {ResolveSummary} */
  summary = { conflicts: 0, ended: 0, past: 0, contested: 0, promoted: 0, merged: 0, settled: 0, unknown: 0, left: 0, refused: 0, named: [] }
  #isConflict = false // of what is settled now: it is counted as one already
  #seen = new Set() // documents that are left or were refused: told once

  /** @param {import('../store/index.js').Store} store @param {any} options */
  constructor (store, { layers, dryRun, signal, onProgress, limits }) {
    this.couch = store.couch
    this.layers = layers
    this.dryRun = dryRun
    this.signal = signal
    this.onProgress = onProgress
    this.limits = limits
    const parts = {
      tally: this.summary, limits, dryRun, signal,
      onLeft: (id, reason) => this.#tell('left', id, reason),
      onRefused: (id, reason) => this.#tell('refused', id, reason)
    }
    const peer = peerOf(this.couch)
    this.papers = new Papers(this.couch, peer, parts)
    this.settler = new Settler(store, {
      dryRun,
      signal,
      onSettled: (_, done) => this.#count(done),
      onLeft: (id, reason) => this.#tell('left', id, reason),
      onRefused: (id, reason) => this.#tell('refused', id, reason),
      onUnknown: (id, { layer, time }) => this.#tell('unknown', id, `the image that ${formatReference(layer, time)} has is nowhere: load that edition again`)
    })
  }

  #tell (what, id, reason) {
    if (this.#seen.has(`${what} ${id}`)) return
    if (this.#seen.size < MOST_TOLD * 100) this.#seen.add(`${what} ${id}`)
    this.summary[what]++
    if (this.summary.named.length < MOST_TOLD) this.summary.named.push({ id, what, reason })
  }

  /** Until there is nothing left that can be put right. */
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
    this.onProgress?.(this.summary)
  }

  /** @type {Awaited<ReturnType<typeof placeNow>> | undefined} */
  #place

  /** What masters have said of each other's tiles. The first time every tile is looked at, then those that were written. */
  async #settle () {
    const place = await placeNow(this.couch, this.signal)
    const since = this.#place && isGood(this.#place, place) ? this.#place.since : undefined
    await this.settler.run(this.layers, since)
    if (!this.dryRun) this.#place = place
  }

  /** @param {import('../../core/store/settle.js').Settled['done']} done */
  #count (done) {
    const { summary } = this
    if (!this.#isConflict) summary.settled++
    for (const { id, end, want, from } of done) {
      if (end) summary.ended++
      else if (want?.contested) summary.contested++
      else if (id.includes('@')) summary.past++
      else if (from?.id?.includes('@')) summary.promoted++
    }
    this.onProgress?.(summary)
  }

  get #done () {
    const { ended, past, promoted, merged } = this.summary
    return ended + past + promoted + merged
  }

  async #once () {
    const { layers, limits, signal } = this
    for await (const page of conflicts(this.couch, { layers, page: limits.page, signal })) {
      this.summary.conflicts += page.length
      const tiles = new Set()
      const papers = []
      for (const { id } of page) {
        if (isTileId(id)) tiles.add(headId(id))
        else if (Papers.has(id)) papers.push(id)
        else if (!id.startsWith('_design/')) this.#tell('left', id, 'it is no document of a tile store')
      }
      await this.papers.resolve(papers)
      const ids = [...tiles]
      for (let at = 0; at < ids.length; at += limits.tiles) {
        await this.#tiles(ids.slice(at, at + limits.tiles))
      }
    }
  }
}
