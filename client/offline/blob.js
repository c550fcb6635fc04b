// A tile's bytes for a page. An address of them may be opened like any other, in the page's own origin: what is no type of a tile
// is nothing that a browser runs.
import { extensionOf } from '../../core/images.js'

const OTHER = 'application/octet-stream'

/** PouchDB answers a Buffer in Node, a Blob elsewhere. @param {any} data @param {string} type as the store says */
export function blobOf (data, type) {
  const safe = extensionOf(type) ? type : OTHER
  return data instanceof Blob && data.type === safe ? data : new Blob([data], { type: safe })
}
