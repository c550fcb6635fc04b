// A tile with twice the pixels, /osm/10/300/412@2x.png, for screens with small ones: the tile itself where the layer
// has tiles of 512 pixels, or the tile of the layer that `retina` names.
import { isSameGrid } from '../../../core/grids/index.js'
import { TilecouchError } from '../../../loader/errors.js'

const LARGE = 512 // pixels
const USUAL = 256

/** Whether a layer says that it has such tiles. @param {Record<string, any>} layer */
export const hasRetina = ({ tileSize = USUAL, retina: other }) => tileSize >= LARGE || other !== undefined

/** @type {import('../dispatch.js').Route<import('../router.js').AskedRetina>} */
export async function retina (ctx, { visitor, ...asked }, req, res) {
  visitor?.requireAccess(res, asked.layer)
  const layer = await layerOf(ctx.layers, asked.layer)
  if (layer !== asked.layer) visitor?.requireAccess(res, layer)
  return ctx.answerTile({ ...asked, kind: 'tile', layer }, req, res)
}

/** The name of the layer that has the tiles. */
async function layerOf (layers, name) {
  const layer = await layers.get(name)
  const { tileSize = USUAL, retina: other } = layer
  if (tileSize >= LARGE) return name
  const twin = other === undefined ? undefined : await layers.find(other)
  const isFit = twin && (twin.tileSize ?? USUAL) >= 2 * tileSize && isSameGrid(layer, twin)
  if (!isFit) throw new TilecouchError('NO_RETINA', { layer: name })
  return twin.layer
}
