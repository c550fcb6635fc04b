// Which language the reader wants, how he writes dates and numbers, and what Intl makes when it is needed.

// a page that has one language says so itself: <html data-language="en">
const asked = globalThis.document?.documentElement.dataset.language ??
  new URLSearchParams(globalThis.location?.search).get('lang')

const ofBrowser = globalThis.navigator?.languages ?? []

/** BCP 47 tags, the best first: that of the page or `?lang=de` of the address, then those of the browser. */
export const wanted = [...asked ? [asked] : [], ...ofBrowser]

// `?lang=en` names a language: the reader may write its dates as in Britain
const formats = asked && !asked.includes('-') ? [...ofBrowser, asked] : wanted

/** `de` of `de-AT` */
export const languageIn = tag => tag.toLowerCase().split('-')[0]

/** Those of the pages. */
export const languages = ['en', 'de', 'fr', 'es']

/** @param {readonly string[]} tags BCP 47, the best first */
export const languageOf = tags => tags.map(languageIn).find(tag => languages.includes(tag)) ?? 'en'

/**
 * The tag by which dates and numbers are written: as the reader is used to, where that is in the language of the page.
 * @param {string} language of the page @param {readonly string[]} [tags] the best first
 */
export const localeOf = (language, tags = formats) =>
  tags.find(tag => languageIn(tag) === language && isTag(tag)) ?? language

function isTag (tag) {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch { // of an address that somebody typed
    return false
  }
}

/**
 * Makes something when it is first needed: what Intl makes takes milliseconds each, and a page opens with few of them.
 * @template T @param {() => T} make @returns {() => T}
 */
export function lazy (make) {
  /** @type {T | undefined} */
  let made
  return () => (made ??= make())
}
