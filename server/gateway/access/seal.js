// What makes an answer one for this visitor alone: no cache that others share may keep it, and none may keep it for longer
// than the visitor may see it. Here and not in the routes, so that no route can forget it.

export const VARY = 'Authorization, Cookie'

const UNKEPT = /no-store/
const ASKED_ANEW = /max-age=0|no-cache|must-revalidate/

/**
 * @param {import('node:http').ServerResponse} res whose headers have yet to be written
 * @param {number} seconds that it may be kept by the visitor
 */
export function seal (res, seconds) {
  const { writeHead } = res
  res.writeHead = /** @type {any} */ ((status, headers) => {
    res.writeHead = writeHead
    for (const [name, value] of pairsOf(headers)) {
      if (/^vary$/i.test(name)) res.appendHeader(name, value)
      else res.setHeader(name, value)
    }
    res.setHeader('Cache-Control', narrowed(res.getHeader('cache-control'), seconds))
    if (![res.getHeader('vary')].flat().includes(VARY)) res.appendHeader('Vary', VARY)
    res.setHeader('Referrer-Policy', 'no-referrer')
    return res.writeHead(status)
  })
}

/** Flat lists and objects, as routes write them. @returns {[string, any][]} */
function pairsOf (headers = []) {
  if (!Array.isArray(headers)) return Object.entries(headers)
  return Array.from({ length: headers.length / 2 }, (_, at) => [headers[2 * at], headers[2 * at + 1]])
}

/** The same for the visitor's own cache, as far as that goes. */
function narrowed (given, seconds) {
  const text = String(given ?? 'no-store')
  if (UNKEPT.test(text)) return 'no-store'
  if (ASKED_ANEW.test(text)) return 'private, max-age=0, must-revalidate'
  const [, age = '0'] = /max-age=(\d+)/.exec(text) ?? []
  return `private, max-age=${Math.max(0, Math.min(+age, Math.floor(seconds)))}`
}
