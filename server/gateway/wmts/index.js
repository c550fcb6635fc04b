// The WMTS of the gateway: capabilities, and tiles, which are answered as those of any other address.
import { isDeepStrictEqual } from 'node:util'
import { REVALIDATE, etagOf, sendTagged } from '../responses.js'
import { cacheControlWith } from '../addresses.js'
import { capabilities, listLayers } from './capabilities.js'
import { sendException, toOwsError } from './errors.js'
import { parseKvp, parseRest, resolveTile } from './request.js'

// addresses of the gateway for which a document is kept; without a publicUrl they come from clients
const MOST_BASES = 8

/**
 * Documents of a gateway while its layers do not change: Layers then answers with the same objects.
 * @typedef {{listed: import('./capabilities.js').Listed[], documents: Map<string, {bytes: Buffer, etag: string}>}} Kept
 * @type {WeakMap<object, Kept>}
 */
const kept = new WeakMap()

/**
 * @param {{path: string[], query: URLSearchParams, visitor?: import('../access/visitor.js').Visitor}} asked visitor:
 *   if there are private layers
 */
export async function wmts (ctx, asked, req, res) {
  const byAddress = asked.path.length > 0
  try {
    const request = byAddress ? parseRest(asked.path) : parseKvp(asked.query)
    if (request.operation === 'GetTile') {
      await asked.visitor?.requireAccess(res, request.tile.layer)
      await ctx.answerTile(await resolveTile(ctx.layers, request.tile), req, res)
    } else {
      await asked.visitor?.requireSome(res)
      const url = ctx.publicUrl(req)
      const { etag, bytes } = await documentFor(ctx.layers, url.base, asked.visitor)
      const type = { 'Content-Type': 'application/xml; charset=utf-8' }
      sendTagged(req, res, etag, { 'Cache-Control': cacheControlWith(url, REVALIDATE) }, type, bytes)
    }
  } catch (error) {
    const exception = !res.headersSent && toOwsError(error)
    if (!exception) throw error
    sendException(exception, req, res, { byAddress })
  }
}

/** The capabilities with links below a base. Only the document for everybody is kept. */
async function documentFor (layers, base, visitor) {
  if (!visitor) return documentOf(layers, base, await listLayers(layers))
  const listed = await listLayers({
    list: async () => (await layers.list()).filter(({ layer }) => visitor.may(layer)),
    times: name => layers.times(name),
    reach: () => layers.reach()
  })
  return visitor.isKnown ? make(listed, base, visitor.link) : documentOf(layers, base, listed)
}

function make (listed, base, link) {
  const bytes = Buffer.from(capabilities(listed, base, link))
  return { bytes, etag: etagOf(bytes) }
}

/** Made again when a layer, its times or its reach have changed. */
function documentOf (layers, base, listed) {
  let known = kept.get(layers)
  if (!known || !same(known.listed, listed)) kept.set(layers, known = { listed, documents: new Map() })
  const { documents } = known
  let document = documents.get(base)
  if (!document) {
    document = make(listed, base)
    if (documents.size >= MOST_BASES) documents.delete(/** @type {string} */ (documents.keys().next().value))
    documents.set(base, document)
  }
  return document
}

const same = (before, now) => before.length === now.length && before.every(({ layer, times, reach }, index) =>
  layer === now[index].layer && times === now[index].times && isDeepStrictEqual(reach, now[index].reach))
