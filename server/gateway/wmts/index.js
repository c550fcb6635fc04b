// The WMTS of the gateway: the capabilities, now or as of a time, and tiles, which the tile route answers.
import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { REVALIDATE, XML, etagOf, sendCompressed } from '../../http/answers.js'
import { cacheControlWith } from '../../http/addresses.js'
import { refuseIfIncomplete } from '../incomplete-edge.js'
import { capabilities, describeLayers } from './capabilities.js'
import { sendException, toOwsError } from './errors.js'
import { parseKvp, parseRest, resolveTile } from './request.js'
import { resolveTime } from './times.js'

// documents in memory, by URL of the gateway and time: both come from clients
const MOST_DOCUMENTS = 16

/**
 * Capabilities for visitors without a token, with the layers in them.
 * @type {LRUCache<string, {entries: import('./capabilities.js').LayerEntry[], bytes: Buffer, etag: string}>}
 */
const documents = new LRUCache({ max: MOST_DOCUMENTS })

/** @type {import('../dispatch.js').Route<import('../router.js').ServiceTarget>} */
export async function wmts (ctx, target, req, res) {
  const byAddress = target.path.length > 0
  try {
    const addressTime = resolveTime(target.time)
    const request = byAddress ? parseRest(target.path) : parseKvp(target.query)
    if (request.operation === 'GetTile') {
      target.visitor?.requireAccess(res, request.tile.layer)
      await ctx.answerTile(await resolveTile(ctx.layers, request.tile, addressTime), req, res)
    } else {
      const time = resolveTime(request.time, addressTime)
      refuseIfIncomplete(ctx, { time })
      target.visitor?.requireSome(res)
      const url = ctx.publicUrl(req)
      const { etag, bytes } = await documentFor(ctx.layers, { base: url.base, at: time }, target.visitor)
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
 * The capabilities with links below a base, as of a time. Without a token they are kept in memory until a layer, its
 * times or its boxes change.
 * @param {{base: string, at?: string}} place
 */
async function documentFor (layers, place, visitor) {
  const entries = await describeLayers(layers, visitor)
  if (visitor?.isKnown) return makeDocument(entries, { ...place, token: visitor.link })
  const key = `${place.at ?? ''} ${place.base}`
  const cached = documents.get(key)
  // Layers returns the same objects while nothing has changed
  if (cached && isDeepStrictEqual(cached.entries, entries)) return cached
  const document = makeDocument(entries, place)
  documents.set(key, document)
  return document
}

function makeDocument (entries, place) {
  const bytes = Buffer.from(capabilities(entries, place))
  return { entries, bytes, etag: etagOf(bytes) }
}
