// /db: the store's database as CouchDB's API has it, for reading: PouchDB, the viewer and the client library.
import { refuse, Refusal, notFound } from '../db/refusal.js'
import { parseReading } from '../db/reading.js'
import { readQuestion } from '../db/question.js'
import { DatabaseProxy, IMMUTABLE, SAFE } from '../db/proxy.js'
import { isKnown } from '../etags.js'

/** One for each gateway's store. @type {WeakMap<object, DatabaseProxy>} */
const proxies = new WeakMap()

function proxyOf ({ store, log, signal }) {
  const proxy = proxies.get(store) ?? new DatabaseProxy(store.couch, { log, signal })
  proxies.set(store, proxy)
  return proxy
}

/** When the gateway ends: feeds are ended at once, reads under way are answered. The signal of the context does it as well. */
export async function closeDb ({ store }) {
  await proxies.get(store)?.close()
}

/**
 * @param {any} ctx @param {{path: string, query: string}} asked as they came
 * @param {import('node:http').IncomingMessage} req
 * @param {import('node:http').ServerResponse} res
 */
export async function db (ctx, asked, req, res) {
  try {
    if (!ctx.options.dbAccess) throw notFound('this gateway shows no database')
    const reading = parseReading(req.method ?? '', asked.path, asked.query)
    if (answerFromMemory(ctx, reading, req, res)) return
    const body = req.method === 'POST' ? await readQuestion(req, reading.question) : undefined
    await proxyOf(ctx).forward(reading, body, req, res)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refuse(req, res, error)
  }
}

/**
 * The image of a tile, when memory has that very document, in that very revision when one is named.
 * @param {any} ctx @param {import('../db/reading.js').Reading} reading
 * @param {import('node:http').IncomingMessage} req
 * @param {import('../answer.js').Response} res
 */
function answerFromMemory ({ tiles }, { tile, pinned }, req, res) {
  if (!tile) return false
  const entry = tiles.peek(tile.layer, tile.z, tile.x, tile.y, tile.time)?.entry
  // without a revision it was fetched from an upstream, and the store has not got it
  if (entry?.id !== tile.id || !entry.rev || (pinned && entry.rev !== tile.rev)) return false
  res.outcome = 'hit'
  const headers = {
    ETag: entry.etag,
    'Cache-Control': pinned ? IMMUTABLE : 'must-revalidate', // as CouchDB says it
    'X-Tilecouch-Cache': 'hit',
    ...SAFE
  }
  if (isKnown(req.headers['if-none-match'], entry.etag)) {
    res.writeHead(304, headers).end()
    return true
  }
  res.writeHead(200, { ...headers, 'Content-Type': entry.type, 'Content-Length': entry.bytes.length, 'Accept-Ranges': 'none' })
  res.end(req.method === 'HEAD' ? undefined : entry.bytes)
  return true
}
