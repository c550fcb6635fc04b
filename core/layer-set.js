// Some layers of a store, by names and patterns: `osm`, `survey-*`, `*` for every layer, `!basemap` for all but that
// one.
import { TilecouchError } from './errors.js'
import { isLayer } from './ids.js'

const PATTERN = /^[a-z0-9*][a-z0-9_*-]{0,62}$/
const MOST_STARS = 4 // in a pattern: more take long to compare with names that somebody makes up

/** Whether a text is a name, a pattern or an exception of these. @param {any} text */
export const isPattern = text => typeof text === 'string' && (isLayer(text.replace(/^!/, '')) || isStarred(text.replace(/^!/, '')))

const isStarred = text => PATTERN.test(text) && text.includes('*') && text.split('*').length <= MOST_STARS + 1

export class LayerSet {
  #names = new Set()
  /** @type {RegExp[]} */
  #patterns = []
  /** @type {LayerSet | null} */
  #except = null

  /** @param {string[]} texts names and patterns; exceptions win, wherever they stand */
  constructor (texts) {
    const kept = texts.filter(text => !`${text}`.startsWith('!'))
    for (const text of kept) this.#add(text)
    const others = texts.filter(text => !kept.includes(text))
    if (others.length) this.#except = new LayerSet(others.map(text => text.slice(1)))
    this.texts = texts
  }

  #add (text) {
    if (isLayer(text)) this.#names.add(text)
    else if (isStarred(text)) {
      this.#patterns.push(new RegExp(`^${text.replace(/\*+/g, '[a-z0-9_-]*')}$`))
    } else throw new TilecouchError('BAD_LAYER', { value: text })
  }

  has (name) {
    return (this.#names.has(name) || this.#patterns.some(pattern => pattern.test(name))) && !this.#except?.has(name)
  }

  /** Whether it is every layer, also one that is yet to come. */
  get isAll () {
    return this.#except === null && this.texts.includes('*')
  }

  /** Those that are named in full. */
  get names () {
    return [...this.#names]
  }
}
