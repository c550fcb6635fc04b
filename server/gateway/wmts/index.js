// The WMTS of the gateway: capabilities, now or as of a time; the times of a layer; and tiles, which are answered as
// those of any other address.
import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { REVALIDATE, XML, etagOf, sendCompressed } from '../../http/answers.js'
import { cacheControlWith } from '../../http/addresses.js'
import { refuseIfIncomplete } from '../incomplete-edge.js'
import { capabilities, describeLayers } from './capabilities.js'
import { sendException, toOwsError } from './errors.js'
import { parseKvp, parseRest, resolveTile } from './request.js'
import { resolveTime } from './times.js'

// addresses of the gateway, and times, for which a document is kept: both come from clients
const MOST_DOCUMENTS = 16

/**
 * Documents for everybody, with the layers that they are about.
 * @type {LRUCache<string, {listed: import('./capabilities.js').Listed[], bytes: Buffer, etag: string}>}
 */
const documents = new LRUCache({ max: MOST_DOCUMENTS })

/** @type {import('../dispatch.js').Route<import('../router.js').AskedService>} */
export async function wmts (ctx, asked, req, res) {
  const byAddress = asked.path.length > 0
  try {
    const at = resolveTime(asked.time)
    const request = byAddress ? parseRest(asked.path) : parseKvp(asked.query)
    if (request.operation === 'GetTile') {
      asked.visitor?.requireAccess(res, request.tile.layer)
      await ctx.answerTile(await resolveTile(ctx.layers, request.tile, at), req, res)
    } else {
      const time = resolveTime(request.time, at)
      refuseIfIncomplete(ctx, { time })
      asked.visitor?.requireSome(res)
      const url = ctx.publicUrl(req)
      const { etag, bytes } = await documentFor(ctx.layers, { base: url.base, at: time }, asked.visitor)
      const cacheControl = cacheControlWith(url, REVALIDATE)
      await sendCompressed(req, res, etag, { 'Cache-Control': cacheControl }, XML, bytes)
    }
  } catch (error) {
    const exception = !res.headersSent && toOwsError(error)
    if (!exception) throw error
    sendException(exception, req, res, { byAddress })
  }
}

/**
 * The capabilities with links below a base, as of a time. Those for everybody are kept until a layer, its times or its
 * reach change.
 * @param {{base: string, at?: string}} place
 */
async function documentFor (layers, place, visitor) {
  const listed = await describeLayers(layers, visitor)
  if (visitor?.isKnown) return make(listed, { ...place, token: visitor.link })
  const key = `${place.at ?? ''} ${place.base}`
  const kept = documents.get(key)
  // Layers answers with the same objects while nothing has changed
  if (kept && isDeepStrictEqual(kept.listed, listed)) return kept
  const document = make(listed, place)
  documents.set(key, document)
  return document
}

function make (listed, place) {
  const bytes = Buffer.from(capabilities(listed, place))
  return { listed, bytes, etag: etagOf(bytes) }
}
