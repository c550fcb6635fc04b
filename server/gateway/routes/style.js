// The style of a layer, now or as of a time, and the files of a stored one.
import { styleAt } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { tokenQuery } from '../access/visitor.js'
import { KEEP, etagOf, sendJson, sendTagged } from '../../http/answers.js'
import { readOnce } from '../shared-work.js'

const TYPES = { json: 'application/json', png: 'image/png', pbf: 'application/x-protobuf' }

/**
 * The stored style that counts at that time, else the default one, in the words of _design/tiles/lists/style.js. Its
 * addresses are absolute.
 * @type {import('../dispatch.js').Route<import('../router.js').AskedStyle>}
 */
export async function style (ctx, { layer, time, theme, file, visitor }, req, res) {
  if (file !== undefined) return sendFile(ctx, { layer, time, file }, req, res)
  const read = () => ctx.store.style(layer, time)
  const doc = await readOnce(ctx.store, JSON.stringify(['style', layer, time]), read) ?? await ctx.layers.get(layer)
  const url = ctx.publicUrl(req)
  const document = styleAt(doc, { base: url.base, time, theme, query: tokenQuery(visitor) })
  if (!document) throw new TilecouchError('STYLE_UNKNOWN', { layer })
  return sendJson(req, res, document, { cacheControl: KEEP, url })
}

/** Kept as long as a tile: a style never changes, but it may be removed, and another one stored for its time. */
async function sendFile (ctx, { layer, time, file }, req, res) {
  const read = () => ctx.store.styleFile(layer, time, file)
  const bytes = await readOnce(ctx.store, JSON.stringify(['style', layer, time, file]), read)
  if (!bytes) throw new TilecouchError('STYLE_NOT_FOUND', { layer, time, file })
  const type = { 'Content-Type': TYPES[file.slice(file.lastIndexOf('.') + 1)] }
  sendTagged(req, res, etagOf(bytes), { 'Cache-Control': ctx.policy.steady }, type, bytes)
}
