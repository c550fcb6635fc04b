// The features of a vector layer in words: what lies at a place, and what changed between two times.
import { element } from '../../client/timeline/dom.js'
import { button } from '../dom.js'

const NAMES = ['name', 'name:latin', 'name:en', 'title', 'ref'] // attributes that say what a feature is called
const LONGEST = 200 // characters of a value

/** What a feature is called, if anything. */
export const nameOf = ({ properties }) => {
  const key = NAMES.find(name => typeof properties[name] === 'string' && properties[name])
  return key && String(properties[key])
}

/** @param {{id?: number, sourceLayer: string, properties: Record<string, any>}[]} features @param {any} words */
export function featureList (features, words) {
  if (!features.length) return null
  return element('section', { class: 'features' },
    element('h3', null, words.here),
    features.map((feature, at) => {
      const name = nameOf(feature)
      return element('details', { open: at === 0 },
        element(
          'summary',
          null,
          element('strong', null, name ?? feature.sourceLayer),
          name ? ` · ${feature.sourceLayer}` : ''
        ),
        element('dl', null, Object.entries(feature.properties).flatMap(([key, value]) =>
          [element('dt', null, key), element('dd', null, String(value).slice(0, LONGEST))])))
    }))
}

/** In the card of a range: which features were added, removed or changed; marked on the map, and to be saved. */
export class FeatureChanges {
  element = element('section', { class: 'features', hidden: true })
  #layer
  #words
  #stop = new AbortController()
  #asked = ''
  #isMarked = true
  /** @type {import('./differences.js').Found | null} */
  #found = null

  /** @param {import('./vector-layer.js').VectorLayer} layer @param {any} words */
  constructor (layer, words) {
    this.#layer = layer
    this.#words = words
  }

  /**
   * @param {{from: string | null, to: string | null} | null} shown
   * @param {unknown[] | null} tiles that differ; null while that is not known
   * @param {boolean} isMarked whether they are marked on the map
   */
  update (shown, tiles, isMarked) {
    if (!shown || !tiles) return this.close()
    this.element.hidden = false
    const asked = JSON.stringify([shown, tiles])
    if (asked !== this.#asked) this.#look(shown, asked)
    this.#isMarked = isMarked
    this.#mark()
  }

  close () {
    this.element.hidden = true
    this.#asked = ''
    this.#stop.abort()
    this.#found = null
    this.#mark()
  }

  async #look ({ from, to }, asked) {
    this.#asked = asked
    this.#stop.abort()
    this.#stop = new AbortController()
    const { signal } = this.#stop
    this.#found = null
    this.#mark()
    this.element.replaceChildren(element('p', { class: 'hint' }, this.#words.looking))
    try {
      const found = await this.#layer.differences(from, to, signal)
      if (signal.aborted) return
      this.#found = found
      this.#write(found, `${this.#layer.options.layer}-${from}-${to ?? 'newest'}`)
      this.#mark()
    } catch (error) {
      if (signal.aborted) return
      this.#asked = ''
      this.element.replaceChildren(element('p', { class: 'hint' }, this.#words.failed(error.message)))
    }
  }

  #write ({ counts, features }, name) {
    const words = this.#words
    if (!features.length) return this.element.replaceChildren(element('p', { class: 'hint' }, words.alike))
    const { kinds } = words
    const used = Object.keys(kinds).filter(kind => [...counts.values()].some(one => one[kind]))
    this.element.replaceChildren(
      element('table', null,
        element('caption', { class: 'unseen' }, words.caption),
        element('thead', null, element('tr', null, element('th', { scope: 'col' }, words.layer),
          used.map(kind => element('th', { scope: 'col', class: kind }, kinds[kind])))),
        element('tbody', null, [...counts].map(([layer, numbers]) => element('tr', null, element(
          'th', { scope: 'row' }, layer
        ),
          used.map(kind => element('td', null, numbers[kind].toLocaleString(document.documentElement.lang))))))),
      button(words.save, () => save(features, name), { class: 'secondary', 'data-does': 'save-features' }))
  }

  #mark () {
    this.#layer.mark(this.#isMarked ? this.#found : null)
  }
}

function save (features, name) {
  const url = URL.createObjectURL(
    new Blob([JSON.stringify({ type: 'FeatureCollection', features })], { type: 'application/geo+json' })
  )
  element('a', { href: url, download: `${name.replace(/:/g, '')}.geojson` }).click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
