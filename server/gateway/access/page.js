// A page that is opened with a token: the browser gets it as a cookie, which the page's own requests then carry, and is sent
// on to the same page without it, so that it stays in no history and goes to nobody as the address one came from.
import { createHash } from 'node:crypto'
import { COOKIE, MOST_TOKENS, cookiesIn, tokenIn } from './credentials.js'

const MOST_BYTES = 6000 // of all cookies of this gateway: a head of 16 KB has room for other things

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
    'Set-Cookie': cookiesFor(access, token, req.headers.cookie, ctx.publicUrl(req).base),
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

/**
 * Each token has a cookie of its own, so that a second link does not close what the first one opened: the browser may not show the
 * first cookie when a link of another page is followed, or when two are followed at once. Cookies that are no longer good, or too
 * many, end. An empty token ends all of them.
 */
function cookiesFor (access, token, cookie, base) {
  const { pathname, protocol } = new URL(base)
  // Lax, for the browser to send it with such a link: its cookies are counted then
  const where = `Path=${pathname}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`
  const end = name => `${name}=; Max-Age=0; ${where}`
  const before = cookiesIn(cookie).reverse() // the newest first: browsers send the oldest first
  if (token === '') return [...new Set([COOKIE, ...before.map(({ name }) => name)])].map(end)
  const own = `${COOKIE}-${createHash('sha256').update(token).digest('base64url').slice(0, 12)}`
  let [count, bytes] = [1, token.length]
  const ended = before.filter(({ name, token: other }) => {
    if (name === own) return false
    const isKept = access.tryRead(other) && count < MOST_TOKENS && bytes + other.length <= MOST_BYTES
    if (isKept) [count, bytes] = [count + 1, bytes + other.length]
    return !isKept
  })
  const age = Math.floor((access.read(token).until - access.now()) / 1000)
  return [`${own}=${token}; Max-Age=${age}; ${where}`, ...ended.map(({ name }) => end(name))]
}
