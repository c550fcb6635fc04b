// Editions that are begun while a layer is pruned. Their loads compare each tile with the version before, and find it
// unchanged: that version must not go a moment later.
import { TilecouchError, editionId, isExactTime } from '../../core/index.js'
import { Follower } from '../store/follow.js'

export class Arrivals {
  #follower
  #resets = -1 // the first is its beginning

  /**
   * @param {import('../store/index.js').Store} store
   * @param {string} layer
   * @param {(time: string) => void} onEdition
   */
  constructor (store, layer, onEdition) {
    const prefix = editionId(layer, '')
    this.url = store.url
    this.#follower = new Follower(store, {
      onChange: ({ id, deleted }) => {
        const time = id.startsWith(prefix) && !deleted ? id.slice(prefix.length) : ''
        if (isExactTime(time)) onEdition(time)
      },
      onReset: () => { this.#resets++ }
    })
  }

  async open () {
    await this.#follower.start()
    return this
  }

  /** Throws when something may have been missed. */
  check () {
    if (this.#resets > 0) throw new TilecouchError('PLACE_LOST', { url: this.url })
  }

  close () {
    return this.#follower.close()
  }
}
