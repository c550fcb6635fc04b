// The WMTS of the gateway: capabilities, and tiles, which are answered as those of any other address.
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { REVALIDATE, matchesEtag } from '../responses.js'
import { cacheControlWith } from '../addresses.js'
import { capabilities, listLayers } from './capabilities.js'
import { sendException, toOwsError } from './errors.js'
import { parseKvp, parseRest, resolveTile } from './request.js'

// addresses of the gateway for which a document is kept; without a publicUrl they come from clients
const MOST_BASES = 8

/**
 * Documents of a gateway while nothing changes: the Layers answers with the same objects as long as they are true.
 * @typedef {{listed: import('./capabilities.js').Listed[], documents: Map<string, {bytes: Buffer, etag: string}>}} Kept
 * @type {WeakMap<object, Kept>}
 */
const kept = new WeakMap()

/**
 * @param {any} ctx
 * @param {{path: string[], query: URLSearchParams, visitor?: import('../access/visitor.js').Visitor}} asked visitor:
 *   where there are private layers
 * @param {import('node:http').IncomingMessage} req
 * @param {import('node:http').ServerResponse} res
 */
export async function wmts (ctx, asked, req, res) {
  const byAddress = asked.path.length > 0
  try {
    const request = byAddress ? parseRest(asked.path) : parseKvp(asked.query)
    if (request.operation === 'GetTile') {
      await asked.visitor?.requireLayer(request.tile.layer, res)
      await ctx.answerTile(await resolveTile(ctx.layers, request.tile), req, res)
    } else {
      await asked.visitor?.requireSome(res)
      const url = ctx.publicUrl(req)
      const document = await documentFor(ctx.layers, url.base, asked.visitor)
      sendCapabilities(document, cacheControlWith(url, REVALIDATE), req, res)
    }
  } catch (error) {
    const exception = !res.headersSent && toOwsError(error)
    if (!exception) throw error
    sendException(exception, req, res, { byAddress })
  }
}

/** The capabilities with links below a base: what everybody may see is kept, anything else is made for the visitor. */
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
  return { bytes, etag: `"${hash('md5', bytes, 'base64')}"` }
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

function sendCapabilities ({ bytes, etag }, cacheControl, req, res) {
  const headers = { ETag: etag, 'Cache-Control': cacheControl }
  if (matchesEtag(req.headers['if-none-match'], etag)) return void res.writeHead(304, headers).end()
  res.writeHead(200, { ...headers, 'Content-Type': 'application/xml; charset=utf-8', 'Content-Length': bytes.length })
  res.end(req.method === 'HEAD' ? undefined : bytes)
}
