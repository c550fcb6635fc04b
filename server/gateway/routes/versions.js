// The versions of one tile, oldest first, in the words of _design/tiles/lists/versions.js, and when each was last confirmed.
import { TilecouchError, tileId } from '../../../core/index.js'
import { sendJson } from '../json.js'

/**
 * @param {any} ctx @param {import('../router.js').AskedVersions} asked
 * @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res
 */
export async function versions (ctx, { layer, z, x, y }, req, res) {
  const found = await ctx.store.versions(layer, z, x, y)
  if (found.length === 0) {
    await ctx.layers.get(layer) // or there is no such layer
    throw new TilecouchError('TILE_NOT_FOUND', { id: tileId(layer, z, x, y) })
  }
  sendJson(req, res, { layer, z, x, y, versions: found.map(describe) })
}

const describe = ({ time, id, rev, size, expires = null, gone, current, checked }) => ({ time, id, rev, bytes: size, expires, gone, current, ...(checked && { checked }) })
