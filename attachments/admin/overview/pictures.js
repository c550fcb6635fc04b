// A picture of each layer: a tile of the deepest zoom at which the layer is one tile, else one from the middle of its
// first zoom. All that are wanted at once are found by two requests.
import { element } from '../../../client/timeline/dom.js'
import { soon } from '../../dom.js'

const LARGEST = 500_000 // bytes of a tile, on average
const FAR = 1000 // rows that are skipped at most to come to the middle
const VIEW = '_design/versions/_view/by_area/queries'

export class Pictures {
  #couch
  #signal
  /** Addresses that were found. @type {Map<string, string>} */
  #known = new Map()
  /** @type {Map<string, HTMLElement>} */
  #wanted = new Map()
  #find = soon(() => this.#look().catch(() => {})) // pictures less

  /** @param {import('../couch.js').Couch} couch @param {AbortSignal} signal */
  constructor (couch, signal) {
    this.#couch = couch
    this.#signal = signal
  }

  /** @param {{layer: string, format?: string}} doc @returns {HTMLElement} */
  of ({ layer, format }) {
    const place = element('span', { class: 'picture' })
    if (format === 'pbf') return place
    const known = this.#known.get(layer)
    if (known) show(place, known)
    else {
      this.#wanted.set(layer, place)
      this.#find()
    }
    return place
  }

  async #look () {
    const wanted = [...this.#wanted]
    this.#wanted.clear()
    const layers = wanted.map(([layer]) => layer)
    const zooms = await this.#ask(layers.map(layer => ({ startkey: [layer], endkey: [layer, {}], group_level: 2 })))
    const found = zooms.flatMap(({ rows }) => placeOf(rows))
    const queries = found.map(({ key, skip }) =>
      ({ startkey: key, endkey: [...key, {}], reduce: false, skip, limit: 1 }))
    const tiles = queries.length ? await this.#ask(queries) : []
    for (const { rows: [row] } of tiles) {
      if (row) this.#known.set(row.key[0], `${this.#couch.db}/${encodeURIComponent(row.id)}/tile`)
    }
    for (const [layer, place] of wanted) {
      const url = this.#known.get(layer)
      if (url) show(place, url)
    }
  }

  async #ask (queries) {
    const body = { queries: queries.map(query => ({ ...query, update: false })) }
    return (await this.#couch.ask(VIEW, { method: 'POST', body, signal: this.#signal })).results
  }
}

function show (place, src) {
  const image = element('img', { alt: '', src, loading: 'lazy', on: { error: () => image.remove() } })
  place.replaceChildren(image)
}

/** @param {{key: any[], value: {count: number, sum: number}}[]} rows by zoom */
function placeOf (rows) {
  const small = rows.filter(({ value }) => value.count > 0 && value.sum / value.count <= LARGEST)
  const one = small.filter(({ value }) => value.count === 1).pop() ?? small[0]
  return one ? [{ key: one.key, skip: Math.min(FAR, one.value.count >> 1) }] : []
}
