// The language of the user, the locale of dates and numbers, and objects of Intl that are made at their first use.
import { attempt } from '../../core/values.js'

// a page with only one language names it: <html data-language="en">
const requested = globalThis.document?.documentElement.dataset.language ??
  new URLSearchParams(globalThis.location?.search).get('lang')

const browserTags = globalThis.navigator?.languages ?? []

/** BCP 47 tags, the best first: that of the page or `?lang=de` of the address, then those of the browser. */
export const preferredTags = [...requested ? [requested] : [], ...browserTags]

// `?lang=en` names only a language: the tags of the browser decide how dates are written
const formats = requested && !requested.includes('-') ? [...browserTags, requested] : preferredTags

/** `de` of `de-AT` */
export const languageIn = tag => tag.toLowerCase().split('-')[0]

/** The languages of the pages. */
export const languages = ['en', 'de', 'fr', 'es']

/** @param {readonly string[]} tags BCP 47, the best first */
export const languageOf = tags => tags.map(languageIn).find(tag => languages.includes(tag)) ?? 'en'

/**
 * The tag for dates and numbers: the first tag of the user that is in the language of the page.
 * @param {string} language of the page @param {readonly string[]} [tags] the best first
 */
export const localeOf = (language, tags = formats) =>
  tags.find(tag => languageIn(tag) === language && isTag(tag)) ?? language

/** An invalid tag may be in the address. */
const isTag = tag => attempt(() => Intl.getCanonicalLocales(tag).length > 0) ?? false

/**
 * Makes a value at its first use. Each object of Intl takes milliseconds, and a page needs few of them at first.
 * @template T @param {() => T} make @returns {() => T}
 */
export function lazy (make) {
  /** @type {T | undefined} */
  let value
  return () => (value ??= make())
}
