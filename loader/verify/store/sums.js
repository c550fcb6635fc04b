// What the views of a layer sum up, beside what was counted: nobody sees a wrong sum, but estimates and totals stand on it.
import { BY_AREA } from '../../store/columns.js'
import { BY_TIME } from '../../store/reader.js'
import { BY_ZOOM } from '../../store/stats.js'
import { sequenceOf } from './by-tile.js'

/** @typedef {{tiles: number, bytes: number}} Sum */

export class Sums {
  #couch
  #layer
  #signal
  /** Of what each view sums up. @type {Record<string, Map<string, Sum>>} */
  #counted = { [BY_ZOOM]: new Map(), [BY_AREA]: new Map(), [BY_TIME]: new Map() }
  /** @type {Promise<string> | undefined} */
  #before

  /** @param {import('../../store/couch.js').Couch} couch @param {string} layer @param {AbortSignal} [signal] */
  constructor (couch, layer, signal) {
    this.#couch = couch
    this.#layer = layer
    this.#signal = signal
  }

  async begin () {
    await (this.#before ??= sequenceOf(this.#couch, this.#signal))
  }

  /** @param {any} doc a valid tile of the layer */
  add ({ z, current, _attachments: { tile } = /** @type {any} */ ({}) }) {
    const bytes = tile?.length ?? 0
    this.#count(BY_ZOOM, `${z} ${!tile ? 'gone' : current ? 'current' : 'past'}`, bytes)
    if (current && tile) this.#count(BY_AREA, `${z}`, bytes)
    this.#count(BY_TIME, '', bytes)
  }

  #count (view, key, bytes) {
    const sum = this.#counted[view].get(key) ?? { tiles: 0, bytes: 0 }
    sum.tiles++
    sum.bytes += bytes
    this.#counted[view].set(key, sum)
  }

  /**
   * After the last document, when all of them were valid.
   * @param {(view: string, why: string) => void} tell
   */
  async compare (tell) {
    const differing = []
    for (const [view, { level, of }] of Object.entries(views)) {
      const rows = await this.#rows(view, level)
      if (!rows) continue
      const counted = new Map(this.#counted[view])
      for (const { key, value } of rows) {
        const name = key.slice(1).join(' ')
        const [said, own] = [of(value), counted.get(name) ?? { tiles: 0, bytes: 0 }]
        counted.delete(name)
        if (said.tiles !== own.tiles || said.bytes !== own.bytes) differing.push({ view, why: `${name && `zoom ${name}: `}${said.tiles} with ${said.bytes} bytes, there are ${own.tiles} with ${own.bytes}` })
      }
      for (const [name, own] of counted) differing.push({ view, why: `${name && `zoom ${name}: `}nothing, there are ${own.tiles} with ${own.bytes} bytes` })
    }
    // while somebody writes neither is right
    if (differing.length && await this.#before === await sequenceOf(this.#couch, this.#signal)) for (const { view, why } of differing) tell(view, why)
  }

  async #rows (view, level) {
    try {
      return await this.#couch.view(view, { startkey: [this.#layer], endkey: [this.#layer, {}], group_level: level }, this.#signal)
    } catch (error) {
      if (error.code !== 'INDEX_MISSING') throw error
    }
  }
}

/** @type {Record<string, {level: number, of: (value: any) => Sum}>} */
const views = {
  [BY_ZOOM]: { level: 3, of: ([{ count, sum }]) => ({ tiles: count, bytes: sum }) },
  [BY_AREA]: { level: 2, of: ({ count, sum }) => ({ tiles: count, bytes: sum }) },
  [BY_TIME]: { level: 1, of: ({ count, sum }) => ({ tiles: count, bytes: sum }) }
}
