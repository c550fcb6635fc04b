// Which language the reader wants, and how he writes dates and numbers.

const asked = new URLSearchParams(globalThis.location?.search).get('lang')

/** BCP 47 tags, the best first: `?lang=de` of the address, then those of the browser. */
export const wanted = [...asked ? [asked] : [], ...globalThis.navigator?.languages ?? []]

/** `de` of `de-AT` */
export const languageIn = tag => tag.toLowerCase().split('-')[0]

/**
 * The tag by which dates and numbers are written: as the reader is used to, where that is in the language of the page.
 * @param {string} language of the page @param {readonly string[]} [tags]
 */
export const localeOf = (language, tags = wanted) =>
  tags.find(tag => languageIn(tag) === language && isTag(tag)) ?? language

function isTag (tag) {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch { // of an address that somebody typed
    return false
  }
}
