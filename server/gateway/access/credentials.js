// Parses the credentials of a request: tokens in the address, in a header or in cookies. index.js checks the tokens.
import { createHash } from 'node:crypto'
import { looksLikeToken } from '../../../loader/store/token.js'

const COOKIE = 'tilecouch'
const MOST_TOKENS = 8 // in cookies
const LONGEST_COOKIE = 31_536_000 // seconds: age of the cookie of a token without an end
const MOST_BYTES = 6000 // of all cookies of this gateway: the head of a request may have 16 KB

const IN_ADDRESS = /[?&]token=([^&#]{0,2048})/ // as written: no token needs encoding
const BEARER = /^bearer +([\w.~+/=-]{1,2048})\s*$/i
const BASIC = /^basic +([\w+/=]{1,4096})\s*$/i
const IN_COOKIE = new RegExp(`(?<=^|;) *(${COOKIE}(?:-[\\w-]{1,20})?)=([\\w.-]{1,2048})(?=;|$)`, 'g')

/** The token of an address, if there is one. @returns {string | undefined} */
export const tokenIn = target => IN_ADDRESS.exec(target ?? '')?.[1] || undefined

/** The tokens of a request, the most explicit first. */
export function tokensOf ({ url, headers }) {
  const address = tokenIn(url)
  const header = headers.authorization ?? ''
  const bearer = BEARER.exec(header)?.[1]
  // for programs that know only passwords: the token is the password, with any user name
  const password = passwordIn(header)
  const cookies = cookiesIn(headers.cookie).map(({ token }) => token)
  return [address, bearer, looksLikeToken(password) ? password : undefined, ...cookies].filter(Boolean)
}

/** Each token has its own cookie. */
const cookiesIn = (cookie = '') =>
  Array.from(cookie.matchAll(IN_COOKIE), ([, name, token]) => ({ name, token })).slice(0, 2 * MOST_TOKENS)

/** The password of Basic credentials; empty if there are none. */
function passwordIn (header) {
  const [, encoded = ''] = BASIC.exec(header) ?? []
  return /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString())?.[1] ?? ''
}

/**
 * Answers a page that is opened with a token. The browser gets the token as a cookie for the requests of the page, and
 * is redirected to the page without it. This keeps the token out of the history and the Referer.
 * @param {import('./index.js').Access} access @param {string} page its address, relative to itself
 * @returns {boolean} whether it was answered
 */
export function tokenToCookie (access, ctx, req, res, page) {
  const token = tokenIn(req.url)
  if (token === undefined) return false
  access.read(token) // throws if it is not valid
  res.writeHead(303, {
    Location: `${page}${queryWithoutToken(req.url ?? '')}`,
    'Set-Cookie': cookiesFor(access, token, req.headers.cookie, ctx.publicUrl(req).base),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer'
  }).end()
  return true
}

function queryWithoutToken (target) {
  const [, search = ''] = /\?([^#]*)/.exec(target) ?? []
  const query = search.split('&').filter(part => part && !part.startsWith('token=')).join('&')
  return query && `?${query}`
}

/**
 * Each token has its own cookie, so that a second link does not replace the first one. The browser may not send the
 * first cookie when the user follows a link of another page, or two links at once. Invalid cookies are deleted, and the
 * oldest ones if there are too many.
 */
function cookiesFor (access, token, cookie, base) {
  const { pathname, protocol } = new URL(base)
  // Lax: the browser has to send cookies with such a link, so that they are counted
  const attributes = `Path=${pathname}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`
  const deletion = name => `${name}=; Max-Age=0; ${attributes}`
  const oldCookies = cookiesIn(cookie).reverse() // the newest first: browsers send the oldest first
  const cookieName = `${COOKIE}-${createHash('sha256').update(token).digest('base64url').slice(0, 12)}`
  let [count, bytes] = [1, token.length]
  const deletedCookies = oldCookies.filter(({ name, token: oldToken }) => {
    if (name === cookieName) return false
    const isKept = !access.errorIn(oldToken) && count < MOST_TOKENS && bytes + oldToken.length <= MOST_BYTES
    if (isKept) [count, bytes] = [count + 1, bytes + oldToken.length]
    return !isKept
  })
  const age = Math.min(LONGEST_COOKIE, Math.floor((access.read(token).until - Date.now()) / 1000))
  return [`${cookieName}=${token}; Max-Age=${age}; ${attributes}`, ...deletedCookies.map(({ name }) => deletion(name))]
}
