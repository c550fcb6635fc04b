// Editions that are begun while a layer is pruned. Their loads compare each tile with the version before, and where nothing
// has changed they store nothing: that version must not go a moment later.
import { editionId, isExactTime } from '../../core/index.js'

export class Arrivals {
  #layer
  /** @type {string | number | undefined} */
  #since

  /** @param {import('../store/couch.js').Couch} couch @param {string} layer @param {AbortSignal} [signal] */
  constructor (couch, layer, signal) {
    this.couch = couch
    this.#layer = layer
    this.signal = signal
  }

  /** To be awaited before anything is reckoned. */
  async open () {
    const { update_seq: since } = await this.couch.request({ path: '', signal: this.signal })
    this.#since = since
    return this
  }

  /** The times of those that were written since the last look. @returns {Promise<string[]>} */
  async look () {
    const { results, last_seq: last } = await this.couch.changes({ since: this.#since }, { selector: { type: 'edition', layer: this.#layer }, signal: this.signal })
    this.#since = last
    const prefix = editionId(this.#layer, '')
    return results.filter(({ deleted, id }) => !deleted && id.startsWith(prefix)).map(({ id }) => id.slice(prefix.length)).filter(isExactTime)
  }
}
