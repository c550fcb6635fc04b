// Fetches expired tiles again, as a seed does, layer by layer and many tiles at once.
import { seed } from '../seed/index.js'

/** Errors of one layer: the others go on. */
const OF_ONE_LAYER = new Set([
  'NO_UPSTREAM', 'SEED_FORBIDDEN', 'BAD_UPSTREAM', 'LAYER_NOT_FOUND', 'UPSTREAM_ADDRESS', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED', 'UPSTREAM_BUSY', 'UPSTREAM_REFUSED'
])

export class RefreshExpired {
  /** @type {Map<string, import('./find.js').Expired[]>} by layer */
  #waiting = new Map()
  #resting = new Set() // layers whose upstream is in trouble
  takesGone = true

  /**
   * @param {import('../store/index.js').Store} store
   * @param {import('./index.js').Parts} parts
   */
  constructor (store, { tally, limits, dryRun, signal, seeding, onTrouble, onProgress }) {
    this.store = store
    this.tally = tally
    this.limits = limits
    this.dryRun = dryRun
    this.signal = signal
    this.seeding = seeding
    this.onTrouble = onTrouble
    this.onProgress = onProgress
  }

  /** @param {import('./find.js').Expired[]} tiles */
  async take (tiles) {
    if (this.dryRun) return
    for (const tile of tiles) {
      const { layer } = tile
      if (this.#resting.has(layer)) {
        this.tally.left++
        continue
      }
      const waiting = this.#waiting.get(layer) ?? []
      this.#waiting.set(layer, waiting)
      waiting.push(tile)
      if (waiting.length >= this.limits.refresh) await this.#ask(layer)
    }
  }

  async finish () {
    for (const layer of [...this.#waiting.keys()]) await this.#ask(layer)
  }

  async #ask (layer) {
    const tiles = /** @type {import('./find.js').Expired[]} */ (this.#waiting.get(layer))
    this.#waiting.delete(layer)
    const count = new Map()
    for (const { z } of tiles) count.set(z, (count.get(z) ?? 0) + 1)
    const { tally, signal } = this
    let asked
    try {
      asked = await seed(this.store, layer, {
        ...this.seeding,
        only: { count, async * tiles () { yield * tiles } },
        signal,
        onFailure: ({ id, code, reason }) => tally.note('failed', id, `${reason} [${code}]`),
        onTrouble: error => this.onTrouble?.(error),
        onProgress: () => this.onProgress?.(tally)
      })
    } catch (error) {
      asked = error.summary
      if (OF_ONE_LAYER.has(error.code) && !signal?.aborted) {
        this.#resting.add(layer)
        tally.troubles.push({ layer, code: error.code, reason: error.message })
        tally.left += tiles.length - (asked?.tiles ?? 0)
      } else throw error
    } finally {
      for (const field of ['fresh', 'fetched', 'changed', 'unchanged', 'missing', 'outside']) tally[field] += asked?.[field] ?? 0
    }
  }
}
