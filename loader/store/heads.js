// Walking the heads of a layer in the order of their ids, without their bytes, in bounded memory.
import { checkLayer, layerRange, parseTileId } from '../../core/index.js'

/**
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {{signal?: AbortSignal}} [options]
 * @returns {AsyncGenerator<{id: string, z: number, x: number, y: number}>}
 */
export async function * listHeads (couch, layer, { signal } = {}) {
  for await (const rows of couch.pages(layerRange(checkLayer(layer)), { signal })) {
    for (const { id } of rows) {
      if (id.includes('@')) continue
      const { z, x, y } = parseTileId(id)
      yield { id, z, x, y }
    }
  }
}
