// XML of others, read with expressions that take what they know and skip the rest.

export const plain = text =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

/** The texts of all elements of a name. @param {string} tag @param {string} xml */
export const textsOf = (tag, xml) =>
  [...xml.matchAll(new RegExp(`<(?:\\w+:)?${tag}\\b[^<>]*>([^<]*)</`, 'g'))].map(([, text]) => plain(text.trim()))

/**
 * What follows the beginning of each element of a name, up to that of the next.
 * @param {string} tag @param {string} xml
 */
export const blocksOf = (tag, xml) => xml.split(new RegExp(`<(?:\\w+:)?${tag}(?:\\s[^<>]*)?>`)).slice(1)
