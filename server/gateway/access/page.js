// A page that is opened with a token: the browser gets it as a cookie, which the page's own requests then carry, and is sent
// on to the same page without it, so that it stays in no history and goes to nobody as the address one came from.
import { COOKIE, MOST_TOKENS, tokenIn, tokensInCookie } from './credentials.js'

const MOST_BYTES = 3800 // of a cookie; browsers drop what is longer than 4096

/**
 * @param {import('./index.js').Access} access
 * @param {any} ctx
 * @param {import('node:http').IncomingMessage} req
 * @param {import('node:http').ServerResponse} res
 * @returns {boolean} whether that was all
 */
export function takeToken (access, ctx, req, res) {
  const token = tokenIn(req.url)
  if (token === undefined) return false
  if (token !== '') access.read(token) // says what is wrong with it
  res.writeHead(303, {
    Location: `./${restOf(req.url ?? '')}`,
    'Set-Cookie': cookieOf(access, token, req.headers.cookie, ctx.publicUrl(req).base),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer'
  }).end()
  return true
}

/** The query without the token. */
function restOf (target) {
  const [, search = ''] = /\?([^#]*)/.exec(target) ?? []
  const rest = search.split('&').filter(part => part && !part.startsWith('token=')).join('&')
  return rest && `?${rest}`
}

/** With those that were there before and are still good: a second link does not close what the first one opened. An empty one closes everything. */
function cookieOf (access, token, cookie, base) {
  const { pathname, protocol } = new URL(base)
  const where = `Path=${pathname}; HttpOnly; SameSite=Strict${protocol === 'https:' ? '; Secure' : ''}`
  if (token === '') return `${COOKIE}=; Max-Age=0; ${where}`
  const kept = [token]
  let until = access.read(token).until
  for (const other of tokensInCookie(cookie)) {
    const claim = access.tryRead(other)
    if (!claim || kept.includes(other) || kept.length >= MOST_TOKENS || [...kept, other].join('~').length > MOST_BYTES) continue
    kept.push(other)
    until = Math.max(until, claim.until)
  }
  return `${COOKIE}=${kept.join('~')}; Max-Age=${Math.floor((until - access.now()) / 1000)}; ${where}`
}
