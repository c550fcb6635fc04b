// The WMTS of the gateway: the capabilities, now or as of a time, and tiles, which the tile route answers.
import { LRUCache } from 'lru-cache'
import { REVALIDATE, XML, etagOf, sendCompressed } from '../../http/answers.js'
import { cacheControlWith } from '../../http/addresses.js'
import { tokenQuery } from '../access/visitor.js'
import { refuseIfIncomplete } from '../incomplete-edge.js'
import { capabilities, describeLayers } from './capabilities.js'
import { sendException, toOwsError } from './errors.js'
import { parseKvp, parseRest, resolveTile } from './request.js'
import { resolveTime } from './times.js'

// documents of a gateway in memory, by its URL and the time: both come from clients
const MOST_DOCUMENTS = 16

/**
 * Capabilities for visitors without a token, with the layers in them, by the layers of a gateway.
 * @type {WeakMap<object, LRUCache<string, ReturnType<typeof makeDocument>>>}
 */
const documentsByLayers = new WeakMap()

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
  if (visitor?.isKnown) return makeDocument(entries, { ...place, query: tokenQuery(visitor) })
  const documents = documentsByLayers.get(layers) ?? new LRUCache({ max: MOST_DOCUMENTS })
  documentsByLayers.set(layers, documents)
  const key = `${place.at ?? ''} ${place.base}`
  const cached = documents.get(key)
  if (cached?.entries.length === entries.length && cached.entries.every((entry, i) => isSame(entry, entries[i]))) {
    return cached
  }
  const document = makeDocument(entries, place)
  documents.set(key, document)
  return document
}

/** Layers returns the same objects while nothing has changed. */
const isSame = (a, b) => a.layer === b.layer && a.times === b.times && a.reach === b.reach

function makeDocument (entries, place) {
  const bytes = Buffer.from(capabilities(entries, place))
  return { entries, bytes, etag: etagOf(bytes) }
}
