// Walking the heads of a layer in the order of their ids, without their bytes, in bounded memory.
import { checkLayer, layerRange, parseTileId } from '../../core/index.js'

export const PAGE = 2000 // rows a request

/**
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {{signal?: AbortSignal}} [options]
 * @returns {AsyncGenerator<{id: string, z: number, x: number, y: number}>}
 */
export async function * listHeads (couch, layer, { signal } = {}) {
  const range = layerRange(checkLayer(layer))
  const { endkey } = range
  let { startkey } = range
  for (;;) {
    const { rows } = await couch.request({ path: '_all_docs', qs: { startkey, endkey, limit: PAGE }, signal })
    for (const { id } of rows) {
      if (id.includes('@')) continue
      const { z, x, y } = parseTileId(id)
      yield { id, z, x, y }
    }
    if (rows.length < PAGE) return
    startkey = rows.at(-1).id + '\u0000'
  }
}
