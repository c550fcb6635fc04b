// The words of the page in the language of the reader: the first of the browser's languages that the page has, else
// English. `?lang=de` in the address overrules it.
//
//   import { words } from './words/index.js'
//   heading.textContent = words.editions.count(12)
import { de } from './de.js'
import { en } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'
import { languageIn, localeOf, wanted } from './locale.js'

/** @typedef {typeof en} Words */

/** @type {Record<string, Words>} */
export const languages = { en, de, fr, es }

/** @param {readonly string[]} tags BCP 47, the best first */
export const languageOf = tags => tags.map(languageIn).find(tag => Object.hasOwn(languages, tag)) ?? 'en'

/** Of the page: `en`, `de`, … */
export const language = languageOf(wanted)

/** By which dates and numbers are written. */
export const locale = localeOf(language)

export const words = languages[language]

/** @param {string} path such as `map.label` */
const wordAt = path => path.split('.').reduce((group, name) => group[name], /** @type {any} */ (words))

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
