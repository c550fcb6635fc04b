// The WMTS of a gateway. It reads the question; the tile itself is answered as any other tile is.
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isKnown } from '../etags.js'
import { REVALIDATE } from '../json.js'
import { keptWith } from '../public-url.js'
import { capabilities, listLayers } from './capabilities.js'
import { sendException, toOwsError } from './exception.js'
import { parseKvp } from './kvp.js'
import { parseRest } from './rest.js'
import { resolveTile } from './tile.js'

const BASES = 8 // addresses of the gateway that a document is kept for; without a publicUrl they come from clients

/**
 * Documents of a gateway while nothing changes: the LayerBook answers with the same objects as long as they are true.
 * @typedef {{listed: import('./capabilities.js').Listed[], documents: Map<string, {bytes: Buffer, etag: string}>}} Kept
 * @type {WeakMap<object, Kept>}
 */
const kept = new WeakMap()

/**
 * @param {any} ctx
 * @param {{path: string[], query: URLSearchParams, visitor?: import('../access/visitor.js').Visitor}} asked visitor: where there are private layers
 * @param {import('node:http').IncomingMessage} req
 * @param {import('node:http').ServerResponse} res
 */
export async function wmts (ctx, asked, req, res) {
  const byAddress = asked.path.length > 0
  try {
    const question = byAddress ? parseRest(asked.path) : parseKvp(asked.query)
    if (question.operation === 'GetTile') {
      await asked.visitor?.enter(question.tile.layer, res)
      await ctx.answerTile(await resolveTile(ctx.layers, question.tile), req, res)
    } else {
      await asked.visitor?.enterSome(res)
      const url = ctx.publicUrl(req)
      sendCapabilities(await documentFor(ctx.layers, url.base, asked.visitor), keptWith(url, REVALIDATE), req, res)
    }
  } catch (error) {
    const exception = !res.headersSent && toOwsError(error)
    if (!exception) throw error
    sendException(exception, req, res, { byAddress })
  }
}

/** The capabilities with links below a base: of what everybody sees they are kept, for anybody else they are made. */
async function documentFor (layers, base, visitor) {
  if (!visitor) return documentOf(layers, base, await listLayers(layers))
  const listed = await listLayers({ list: async () => (await layers.list()).filter(({ layer }) => visitor.may(layer)), times: name => layers.times(name), reach: () => layers.reach() })
  return visitor.isSomebody ? made(listed, base, visitor.link) : documentOf(layers, base, listed)
}

function made (listed, base, link) {
  const bytes = Buffer.from(capabilities(listed, base, link))
  return { bytes, etag: `"${hash('md5', bytes, 'base64')}"` }
}

/** Made anew when a layer, its times or where it has tiles are others than before. */
function documentOf (layers, base, listed) {
  let known = kept.get(layers)
  if (!known || !same(known.listed, listed)) kept.set(layers, known = { listed, documents: new Map() })
  const { documents } = known
  let document = documents.get(base)
  if (!document) {
    document = made(listed, base)
    if (documents.size >= BASES) documents.delete(/** @type {string} */ (documents.keys().next().value))
    documents.set(base, document)
  }
  return document
}

const same = (before, now) => before.length === now.length &&
  before.every(({ layer, times, reach }, index) => layer === now[index].layer && times === now[index].times && isDeepStrictEqual(reach, now[index].reach))

function sendCapabilities ({ bytes, etag }, cacheControl, req, res) {
  const headers = { ETag: etag, 'Cache-Control': cacheControl }
  if (isKnown(req.headers['if-none-match'], etag)) return void res.writeHead(304, headers).end()
  res.writeHead(200, { ...headers, 'Content-Type': 'application/xml; charset=utf-8', 'Content-Length': bytes.length })
  res.end(req.method === 'HEAD' ? undefined : bytes)
}
