// The words of the page in the language of the reader: the first of the browser's languages that the page has, else
// English. `?lang=de` in the address overrules it. Only this language is loaded: words.de.json.
//
// A text is a string. With {placeholders} it becomes a function of their values: of one value, or of an object with
// several. A text that depends on a number has a form for each plural of the language, and {count} in it.
//
//   import { words } from './words.js'
//   words.close('Panel')                     // "Close: {what}"
//   words.tiles(12)                          // { "one": "{count} tile", "other": "{count} tiles" }
//   words.offline.area.of({ have, all })     // "{have} of {all}"
import { isObject } from '../core/values.js'
import { languageOf, localeOf, preferredTags, lazy } from './words/locale.js'

/** The language of the page: `en`, `de`, … */
export const language = languageOf(preferredTags)

/** The locale of dates and numbers. */
export const locale = localeOf(language)

const PLURALS = new Set(['zero', 'one', 'two', 'few', 'many', 'other'])
const isPlural = value => value.other !== undefined && Object.keys(value).every(key => PLURALS.has(key))
const PLACEHOLDER = /\{\{|\}\}|\{(\w+)\}/g // {{ and }} are braces

/**
 * Makes texts and functions of texts from the data of a language.
 * @param {Record<string, any>} data @param {string} ofLanguage @param {string} [ofLocale] of numbers
 * @returns {any}
 */
export function wordsOf (data, ofLanguage, ofLocale = localeOf(ofLanguage)) {
  const rules = lazy(() => new Intl.PluralRules(ofLanguage))
  const numbers = lazy(() => new Intl.NumberFormat(ofLocale))
  const written = value => typeof value === 'number' ? numbers().format(value) : value
  const fill = (text, values) => text.replace(PLACEHOLDER, (match, name) => name ? written(values[name]) : match[0])

  const textOf = text => {
    const names = [...text.matchAll(PLACEHOLDER)].flatMap(([, name]) => name ?? [])
    if (!names.length) return fill(text, {})
    return value => fill(text, isObject(value) ? value : { [names[0]]: value })
  }

  const pluralOf = forms => value => {
    const values = typeof value === 'object' ? value : { count: value }
    return fill(forms[rules().select(values.count)] ?? forms.other, values)
  }

  const compile = value => {
    if (typeof value === 'string') return textOf(value)
    if (Array.isArray(value)) return value.map(compile)
    if (isPlural(value)) return pluralOf(value)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, compile(inner)]))
  }
  return compile(data)
}

/** @param {string} name @returns {Promise<any>} */
export async function loadWords (name) {
  const { search } = new URL(import.meta.url) // the version of the page
  const response = await fetch(new URL(`words.${name}.json${search}`, import.meta.url))
  if (!response.ok) throw new Error(`words.${name}.json: ${response.status}`)
  return response.json()
}

export const words = wordsOf(await loadWords(language), language, locale)

/** A text that may have placeholders or not. @param {string | ((values: any) => string)} text @param {any} values */
export const say = (text, values) => typeof text === 'function' ? text(values) : text

/** @param {string} path such as `map.label` */
const wordAt = path => path.split('.').reduce((group, name) => group[name], words)

/** Writes the words that a page names by `data-text`, `data-label` and `data-title`. @param {HTMLElement} root */
export function translate (root) {
  root.lang = language
  for (const node of root.querySelectorAll('[data-text], [data-label], [data-title]')) {
    const { text, label, title } = /** @type {HTMLElement} */ (node).dataset
    if (text) node.textContent = wordAt(text)
    if (label) node.setAttribute('aria-label', wordAt(label))
    if (title) node.setAttribute('title', wordAt(title))
  }
}

export const { offline: offlineWords, take: takeWords, layersPage: layersWords } = words
