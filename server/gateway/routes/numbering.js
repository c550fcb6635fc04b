// Addresses that count tiles in another way than XYZ: TMS has its rows from the south, Bing has quadkeys.
import { flipY, gridOf } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'

/**
 * The tile of the layer's grid, with the numbering of XYZ. The router has counted as in Web Mercator.
 * @template {import('../router.js').AskedTile | import('../router.js').AskedVersions} T
 * @param {import('../dispatch.js').Context} ctx @param {T} asked @returns {Promise<T>}
 */
export async function toXyz (ctx, asked) {
  const { layer, z, x, y, numbering } = asked
  const grid = gridOf(await ctx.layers.find(layer))
  if (grid.isWebMercator) return { ...asked, numbering: undefined }
  if (numbering === 'quadkey') {
    throw new TilecouchError('NOT_FOUND', { reason: `${layer} is in the grid ${grid.id}, which has no quadkeys` })
  }
  const row = flipY(z, y)
  grid.check(z, x, row)
  return { ...asked, y: grid.flipY(z, row), numbering: undefined }
}
