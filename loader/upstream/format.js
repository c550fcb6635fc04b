// What the tiles of an upstream are, as far as its settings tell before any of them was seen.
import { formats } from '../../core/index.js'

/**
 * @param {{url: string, format?: string}} upstream
 * @returns {string | undefined} extension, as in the `format` of a layer
 */
export function formatOf ({ url, format = '' }) {
  const [, extension = ''] = /\.([a-z]+)(?:[?#]|$)/i.exec(url) ?? []
  const name = (format.split(/[/;]/)[1] || extension).toLowerCase().replace('mvt', 'pbf').replace('jpeg', 'jpg')
  return Object.values(formats).find(({ ext }) => ext === name)?.ext
}
