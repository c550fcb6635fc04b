// TileJSON 3.0 of a layer, as it is or as of a time. Its addresses are whole ones: most clients do not work out relative ones.
import { tileJson } from '../../../core/index.js'
import { sendJson } from '../json.js'
import { keptWith } from '../public-url.js'

const KEEP = 'public, max-age=60, stale-while-revalidate=3600' // a layer document changes hardly ever

/**
 * @param {any} ctx @param {import('../router.js').AskedTileJson & {visitor?: import('../access/visitor.js').Visitor}} asked visitor: of a private layer
 * @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res
 */
export async function tilejson (ctx, { layer, time, visitor }, req, res) {
  const doc = await ctx.layers.get(layer)
  const url = ctx.publicUrl(req)
  const json = tileJson({ ...doc, layer }, { time, base: url.base })
  if (visitor?.link) json.tiles = json.tiles.map(address => `${address}?token=${visitor.link}`)
  sendJson(req, res, json, { cacheControl: keptWith(url, KEEP) })
}
