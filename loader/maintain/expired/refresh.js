// Fetches expired tiles again, as a seed does, layer by layer and many tiles at once.
import { seed } from '../../load/seed/index.js'

/** Errors of one layer: the others go on. */
const OF_ONE_LAYER = new Set([
  'NO_UPSTREAM', 'SEED_FORBIDDEN', 'BAD_UPSTREAM', 'LAYER_NOT_FOUND',
  'UPSTREAM_ADDRESS', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED', 'UPSTREAM_BUSY', 'UPSTREAM_REFUSED'
])

export class RefreshExpired {
  /** By layer. @type {Map<string, import('./find.js').Expired[]>} */
  #waiting = new Map()
  #failed = new Set() // layers whose upstream is in trouble
  takesGone = true

  /** @param {import('../../store/index.js').Store} store @param {import('./index.js').Parts} options */
  constructor (store, options) {
    this.store = store
    this.options = options
  }

  /** @param {import('./find.js').Expired[]} tiles */
  async take (tiles) {
    const { dryRun, limits, tally } = this.options
    if (dryRun) return
    for (const tile of tiles) {
      const { layer } = tile
      if (this.#failed.has(layer)) {
        tally.left++
        continue
      }
      const waiting = this.#waiting.get(layer) ?? []
      this.#waiting.set(layer, waiting)
      waiting.push(tile)
      if (waiting.length >= limits.refresh) await this.#fetch(layer)
    }
  }

  async finish () {
    for (const layer of [...this.#waiting.keys()]) await this.#fetch(layer)
  }

  async #fetch (layer) {
    const tiles = /** @type {import('./find.js').Expired[]} */ (this.#waiting.get(layer))
    this.#waiting.delete(layer)
    const count = new Map()
    for (const { z } of tiles) count.set(z, (count.get(z) ?? 0) + 1)
    const { tally, seeding, signal, onTrouble, onProgress } = this.options
    let summary
    try {
      summary = await seed(this.store, layer, {
        ...seeding,
        only: { count, async * tiles () { yield * tiles } },
        signal,
        onTrouble,
        onFailure: ({ id, code, reason }) => tally.note('failed', id, `${reason} [${code}]`),
        onProgress: () => onProgress?.(tally)
      })
    } catch (error) {
      summary = error.summary
      if (!OF_ONE_LAYER.has(error.code) || signal?.aborted) throw error
      this.#failed.add(layer)
      tally.troubles.push({ layer, code: error.code, reason: error.message })
      tally.left += tiles.length - (summary?.tiles ?? 0)
    } finally {
      for (const field of ['fresh', 'fetched', 'changed', 'unchanged', 'missing', 'outside']) {
        tally[field] += summary?.[field] ?? 0
      }
    }
  }
}
