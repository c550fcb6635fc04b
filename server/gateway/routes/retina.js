// Tiles with twice the pixels, such as /osm/10/300/412@2x.png, for high-resolution screens. A layer with tiles of 512
// pixels answers with its own tile. For other layers, the layer that their `retina` names has the tile.
import { isSameGrid } from '../../../core/grids/index.js'
import { TilecouchError } from '../../../loader/errors.js'

const LARGE = 512 // pixels
const USUAL = 256

/** Whether a layer has such tiles, by its document. @param {Record<string, any>} layer */
export const hasRetina = ({ tileSize = USUAL, retina: twinName }) => tileSize >= LARGE || twinName !== undefined

/** @type {import('../dispatch.js').Route<import('../router.js').RetinaTarget>} */
export async function retina (ctx, { visitor, ...target }, req, res) {
  visitor?.requireAccess(res, target.layer)
  const layer = await retinaLayer(ctx.layers, target.layer)
  if (layer !== target.layer) visitor?.requireAccess(res, layer)
  return ctx.answerTile({ ...target, kind: 'tile', layer }, req, res)
}

/** The name of the layer that has the tiles. */
async function retinaLayer (layers, name) {
  const layer = await layers.get(name)
  const { tileSize = USUAL, retina: twinName } = layer
  if (tileSize >= LARGE) return name
  const twin = twinName === undefined ? undefined : await layers.find(twinName)
  const isUsable = twin && (twin.tileSize ?? USUAL) >= 2 * tileSize && isSameGrid(layer, twin)
  if (!isUsable) throw new TilecouchError('NO_RETINA', { layer: name })
  return twin.layer
}
