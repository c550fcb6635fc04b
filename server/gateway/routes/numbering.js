// Converts addresses with another numbering than XYZ: TMS counts its rows from the south, Bing has quadkeys.
import { flipY, gridOf } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'

/**
 * Converts a target to the XYZ numbering of the layer's grid. The router has converted it as for Web Mercator.
 * @template {import('../router.js').TileTarget | import('../router.js').VersionsTarget} T
 * @param {import('../dispatch.js').Context} ctx @param {T} target @returns {Promise<T>}
 */
export async function toXyz (ctx, target) {
  const { layer, z, x, y, numbering } = target
  const grid = gridOf(await ctx.layers.find(layer))
  if (grid.isWebMercator) return { ...target, numbering: undefined }
  if (numbering === 'quadkey') {
    throw new TilecouchError('NOT_FOUND', { reason: `${layer} is in the grid ${grid.id}, which has no quadkeys` })
  }
  const row = flipY(z, y)
  grid.check(z, x, row)
  return { ...target, y: grid.flipY(z, row), numbering: undefined }
}
