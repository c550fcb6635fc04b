// A picture whose address may have to be looked up first.
import { element } from './dom.js'

/**
 * @param {Promise<string | undefined>} url
 * @param {Record<string, any>} attributes
 * @returns {HTMLImageElement} without a source when there is none, or when it does not come
 */
export function picture (url, attributes) {
  const image = element('img', { alt: '', ...attributes, on: { error: () => image.removeAttribute('src') } })
  url.then(found => { if (found) image.src = found }, () => {})
  return image
}
