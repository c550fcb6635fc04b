// Files for QGIS: a layer definition with all editions of a layer, and lists of connections.
import { qgisConnections, qgisLayers } from '../../../core/index.js'
import { wmtsOf } from '../../../core/wmts.js'
import { TilecouchError } from '../../../loader/errors.js'
import { tokenQuery, visibleLayers } from '../access/visitor.js'
import { REVALIDATE, sendXml } from '../../http/answers.js'

/**
 * `/{layer}.qlr` and `/{layer}@{time}.qlr`, in the words of _design/tiles/lists/qgis.js.
 * @type {import('../dispatch.js').Route<import('../router.js').AskedQgis>}
 */
export async function qgis (ctx, { layer, time, visitor }, req, res) {
  const doc = await ctx.layers.get(layer)
  const url = ctx.publicUrl(req)
  const times = time ? [] : await ctx.layers.editions(layer)
  const text = qgisLayers({ ...doc, layer }, { base: url.base, query: tokenQuery(visitor), time, times, wmtsOf })
  if (!text) throw new TilecouchError('QGIS_GRID', { layer, isVector: true })
  const name = `${layer}${time ? `@${time.replaceAll(':', '')}` : ''}.qlr`
  return sendXml(req, res, url, REVALIDATE, text, { 'Content-Disposition': `attachment; filename="${name}"` })
}

/**
 * `/qgis-xyz.xml` and its like: the connections of all layers that the visitor may see.
 * @type {import('../dispatch.js').Route<import('../router.js').AskedConnections>}
 */
export async function connections (ctx, { of, visitor }, req, res) {
  visitor?.requireSome(res)
  const url = ctx.publicUrl(req)
  const layers = await visibleLayers(ctx.layers, visitor)
  const text = qgisConnections(of, layers, { base: url.base, query: tokenQuery(visitor) })
  return sendXml(req, res, url, REVALIDATE, text)
}
