// Files for QGIS: a layer definition with all editions of a layer, and lists of connections.
import { qgisConnections, qgisLayers } from '../../../core/index.js'
import { wmtsOf } from '../../../core/wmts.js'
import { TilecouchError } from '../../../loader/errors.js'
import { tokenQuery, visibleLayers } from '../access/visitor.js'
import { cacheControlWith } from '../../http/addresses.js'
import { REVALIDATE, XML, etagOf, sendCompressed } from '../../http/answers.js'

/**
 * `/{layer}.qlr` and `/{layer}@{time}.qlr`, in the words of _design/tiles/lists/qgis.js.
 * @param {any} ctx
 * @param {import('../router.js').AskedQgis & {visitor?: import('../access/visitor.js').Visitor}} asked visitor: of a
 *   private layer
 */
export async function qgis (ctx, { layer, time, visitor }, req, res) {
  const doc = await ctx.layers.get(layer)
  const url = ctx.publicUrl(req)
  const times = time ? [] : await ctx.layers.editions(layer)
  const text = qgisLayers({ ...doc, layer }, { base: url.base, query: tokenQuery(visitor), time, times, wmtsOf })
  if (!text) throw new TilecouchError('QGIS_GRID', { layer, isVector: true })
  const name = `${layer}${time ? `@${time.replaceAll(':', '')}` : ''}.qlr`
  return send(req, res, url, { 'Content-Disposition': `attachment; filename="${name}"` }, text)
}

/**
 * `/qgis-xyz.xml` and its like: the connections of all layers that the visitor may see.
 * @param {any} ctx
 * @param {import('../router.js').AskedConnections & {visitor?: import('../access/visitor.js').Visitor}} asked visitor:
 *   if there are private layers
 */
export async function connections (ctx, { of, visitor }, req, res) {
  visitor?.requireSome(res)
  const url = ctx.publicUrl(req)
  const layers = await visibleLayers(ctx.layers, visitor)
  return send(req, res, url, {}, qgisConnections(of, layers, { base: url.base, query: tokenQuery(visitor) }))
}

function send (req, res, url, headers, text) {
  const bytes = Buffer.from(text)
  const cacheControl = cacheControlWith(url, REVALIDATE)
  return sendCompressed(req, res, etagOf(bytes), { 'Cache-Control': cacheControl }, { ...XML, ...headers }, bytes)
}
