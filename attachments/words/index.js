// The words of the page in the language of the reader: the first of the browser's languages that the page has, else
// English. `?lang=de` in the address overrules it.
//
//   import { words } from './words/index.js'
//   heading.textContent = words.editions(12)
import { de } from './de.js'
import { en } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'

/** @typedef {typeof en} Words */

/** @type {Record<string, Words>} */
export const languages = { en, de, fr, es }

/** @param {readonly string[]} wanted BCP 47 tags, the best first */
export const languageOf = wanted =>
  wanted.map(tag => tag.toLowerCase().split('-')[0]).find(tag => Object.hasOwn(languages, tag)) ?? 'en'

const asked = new URLSearchParams(globalThis.location?.search).get('lang')

/** Of the page: `en`, `de`, … */
export const language = languageOf([...asked ? [asked] : [], ...globalThis.navigator?.languages ?? []])

export const words = languages[language]
