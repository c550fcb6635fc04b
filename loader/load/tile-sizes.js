// Tiles of one layer have one size: clients are told it once, and draw or refuse by it. It is what the layer says, else
// what its stored tiles show, else what the first tile of the source shows.
import { TilecouchError } from '../errors.js'
import { tileSizeOf } from '../../core/images.js'
import { imageAnew } from '../../core/store/documents.js'

const LOOKED_AT = 8 // stored tiles of a layer whose document has no size

export class TileSizes {
  /** @param {string} layer @param {{expected?: number, any?: boolean}} options any: other sizes are taken as well */
  constructor (layer, { expected, any = false }) {
    this.layer = layer
    this.expected = expected
    this.any = any
  }

  /**
   * @param {import('../store/index.js').Store} store
   * @param {Record<string, any>} doc of the layer
   * @param {{any?: boolean, signal?: AbortSignal}} [options]
   */
  static async open (store, { layer, tileSize }, { any, signal } = {}) {
    return new TileSizes(layer, { expected: tileSize ?? await stored(store, layer, signal), any })
  }

  /** @param {Uint8Array | null | undefined} bytes of a tile */
  check (bytes) {
    const size = bytes ? tileSizeOf(bytes) : undefined
    if (size === undefined) return
    this.expected ??= size
    const { layer, expected } = this
    if (size !== expected && !this.any) throw new TilecouchError('TILE_SIZE', { layer, size, expected })
  }
}

async function stored (store, layer, signal) {
  const ids = []
  for await (const { id } of store.heads(layer, { signal })) if (ids.push(id) >= LOOKED_AT) break
  const rows = await store.couch.docs(ids, { attachments: true, signal })
  const images = rows.map(({ doc }) => doc && imageAnew(doc)?._attachments.tile.data)
  return images.map(bytes => bytes && tileSizeOf(bytes)).find(Boolean)
}
