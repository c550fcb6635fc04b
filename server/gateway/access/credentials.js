// What a request has with it that may open something: tokens in the address, in a header or in the cookie of a page, and the
// name or session of a CouchDB user. Only taken apart here.
import { looksLikeToken } from '../../../loader/token.js'

export const COOKIE = 'tilecouch'
export const MOST_TOKENS = 8 // in cookies

const IN_ADDRESS = /[?&]token=([^&#]{0,2048})/ // as it stands: no token needs encoding, and what is encoded otherwise is none
const IN_HEADER = /^bearer +([\w.~+/=-]{1,2048})\s*$/i
const AS_PASSWORD = /^basic +([\w+/=]{1,4096})\s*$/i
const IN_COOKIE = new RegExp(`(?<=^|;) *(${COOKIE}(?:-[\\w-]{1,20})?)=([\\w.-]{1,2048})(?=;|$)`, 'g')
const SESSION = /(?:^|;) *AuthSession="?([\w%+/=:.~-]{1,512})"?(?: *;|$)/

/** The token of an address, which may be empty; undefined: there is none. @param {string | undefined} target */
export const tokenIn = target => IN_ADDRESS.exec(target ?? '')?.[1]

/** Tokens, the most explicit first. @param {import('node:http').IncomingMessage} req @returns {string[]} */
export function tokensOf ({ url, headers }) {
  const address = tokenIn(url)
  const header = headers.authorization ?? ''
  const bearer = IN_HEADER.exec(header)?.[1]
  const password = passwordOf(header)
  return [
    ...(address ? [address] : []),
    ...(bearer ? [bearer] : []),
    ...(password !== undefined && looksLikeToken(password) ? [password] : []),
    ...cookiesIn(headers.cookie).map(({ token }) => token)
  ]
}

/** Each token has a cookie of its own. @param {string} [cookie] */
export const cookiesIn = (cookie = '') => Array.from(cookie.matchAll(IN_COOKIE), ([, name, token]) => ({ name, token })).slice(0, 2 * MOST_TOKENS)

/** For programs that know names and passwords only: a token is a password of anybody. */
const passwordOf = header => basicIn(header)?.password

/** The name of Basic credentials. @param {string} [header] */
export const nameIn = (header = '') => basicIn(header)?.name

function basicIn (header) {
  const [, encoded] = AS_PASSWORD.exec(header) ?? []
  if (encoded === undefined) return
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString()
  const colon = text.indexOf(':')
  // what is not UTF-8 would be one name here and another in CouchDB
  return colon < 0 || !bytes.equals(Buffer.from(text)) ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/**
 * What CouchDB is to be asked about, and nothing else of the request. Names are written anew: two ways to write one name
 * would be two names for whoever counts wrong passwords.
 * @param {import('node:http').IncomingMessage} req
 * @returns {{headers: Record<string, string>, name?: string} | undefined}
 */
export function userIn ({ headers }) {
  const { authorization = '', cookie = '' } = headers
  const basic = basicIn(authorization)
  if (basic && !looksLikeToken(basic.password)) {
    return { headers: { authorization: `Basic ${Buffer.from(`${basic.name}:${basic.password}`).toString('base64')}` }, name: basic.name }
  }
  const [, session] = SESSION.exec(cookie) ?? []
  return session === undefined ? undefined : { headers: { cookie: `AuthSession=${session}` } }
}
