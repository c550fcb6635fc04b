// A picture of each layer: a tile of the deepest zoom at which the layer is one tile, else one from the middle of its
// first zoom. All that are wanted at once are found by two requests.
import { soon } from '../../dom.js'
import { html, useEffect, useState } from '../../html.js'
import { useApp } from '../app.js'

const LARGEST = 500_000 // bytes of a tile, on average
const FAR = 1000 // rows that are skipped at most to come to the middle
const VIEW = '_design/versions/_view/by_area/queries'

/** Of each store. @type {WeakMap<import('../couch.js').Couch, Finder>} */
const finders = new WeakMap()

export function Picture ({ layer, format }) {
  const { couch } = useApp()
  const [src, setSrc] = useState('')
  useEffect(() => {
    if (format === 'pbf') return
    const finder = finders.get(couch) ?? new Finder(couch)
    finders.set(couch, finder)
    return finder.find(layer, setSrc)
  }, [layer, format])
  return html`<span class="picture">
    ${src && html`<img alt="" src=${src} loading="lazy" onError=${() => setSrc('')} />`}
  </span>`
}

class Finder {
  #couch
  /** Addresses that were found. @type {Map<string, string>} */
  #known = new Map()
  /** @type {Map<string, Set<(src: string) => void>>} */
  #wanted = new Map()
  #findSoon = soon(() => this.#look().catch(() => {})) // pictures less

  /** @param {import('../couch.js').Couch} couch */
  constructor (couch) {
    this.#couch = couch
  }

  /** @param {string} layer @param {(src: string) => void} onFound @returns {() => void} it is not wanted any more */
  find (layer, onFound) {
    const known = this.#known.get(layer)
    if (known) onFound(known)
    const listeners = this.#wanted.get(layer) ?? new Set()
    this.#wanted.set(layer, listeners.add(onFound))
    if (!known) this.#findSoon()
    return () => listeners.delete(onFound)
  }

  async #look () {
    const layers = [...this.#wanted.keys()].filter(layer => !this.#known.has(layer))
    if (!layers.length) return
    const zooms = await this.#ask(layers.map(layer => ({ startkey: [layer], endkey: [layer, {}], group_level: 2 })))
    const found = zooms.flatMap(({ rows }) => placeOf(rows))
    const queries = found.map(({ key, skip }) =>
      ({ startkey: key, endkey: [...key, {}], reduce: false, skip, limit: 1 }))
    const tiles = queries.length ? await this.#ask(queries) : []
    for (const { rows: [row] } of tiles) {
      if (row) this.#known.set(row.key[0], `${this.#couch.db}/${encodeURIComponent(row.id)}/tile`)
    }
    for (const layer of layers) {
      const src = this.#known.get(layer)
      if (src) for (const tell of this.#wanted.get(layer) ?? []) tell(src)
      if (!src) this.#wanted.delete(layer)
    }
  }

  async #ask (queries) {
    const body = { queries: queries.map(query => ({ ...query, update: false })) }
    return (await this.#couch.ask(VIEW, { body })).results
  }
}

/** @param {{key: any[], value: {count: number, sum: number}}[]} rows by zoom */
function placeOf (rows) {
  const small = rows.filter(({ value }) => value.count > 0 && value.sum / value.count <= LARGEST)
  const one = small.filter(({ value }) => value.count === 1).pop() ?? small[0]
  return one ? [{ key: one.key, skip: Math.min(FAR, one.value.count >> 1) }] : []
}
