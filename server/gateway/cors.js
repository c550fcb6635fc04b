// Decides which pages of other origins may read the answers. With `*`, all answers have the same headers, and a cache
// needs one copy. With a list, each answer is for one origin, with `Vary: Origin`. No answer allows credentials: other
// pages need a token for private layers. With `*`, /db of a store with private layers is for pages of this origin only.
import { TilecouchError } from '../../loader/errors.js'
import { beforeHead } from '../http/answers.js'
import { isInDb, split } from './router.js'

/** Headers of an answer that pages may read besides those that browsers always show. */
const EXPOSED = 'Accept-Ranges, Content-Range, ETag, Retry-After, X-Tilecouch-Cache, X-Tilecouch-Time'

const ACCEPTED =
  'Accept, Authorization, Cache-Control, Content-Type, If-Modified-Since, If-None-Match, If-Range, Range, ' +
  'X-Requested-With'
const MAX_AGE = '86400' // seconds a browser may keep the answer to a preflight; most keep it for some hours
const PREFLIGHT = ['Access-Control-Allow-Headers', ACCEPTED, 'Access-Control-Max-Age', MAX_AGE]

const NO_HEADERS = /** @type {readonly string[]} */ (Object.freeze([]))

export class Cors {
  #any
  #hasPrivate
  #origins

  /** @param {string} setting `*`, `none`, or origins separated by commas @param {{hasPrivate?: boolean}} [layers] */
  constructor (setting, { hasPrivate = false } = {}) {
    this.#hasPrivate = hasPrivate
    this.#any = setting.trim() === '*'
    const origins = this.#any || /^\s*none\s*$/i.test(setting) ? [] : setting.split(',').map(checkOrigin)
    /** @type {Map<string, readonly string[]>} */
    this.#origins = new Map(origins.map(origin => [origin, Object.freeze([...allow(origin), 'Vary', 'Origin'])]))
  }

  /**
   * The headers of an answer, name and value in turn.
   * @param {string | undefined} origin of the page that sends the request
   * @param {string} [url] of the request, if it may be below /db
   * @returns {readonly string[]}
   */
  headers (origin, url = '') {
    if (this.#any) return this.#hasPrivate && isInDb(split(url).path) ? NO_HEADERS : ANY_ORIGIN
    if (this.#origins.size === 0) return NO_HEADERS
    return (origin !== undefined && this.#origins.get(origin)) || OTHER_ORIGIN
  }

  /** Adds the headers to an answer whose other headers are written elsewhere. */
  apply (req, res) {
    const headers = this.headers(req.headers.origin, req.url)
    for (let index = 0; index < headers.length; index += 2) res.setHeader(headers[index], headers[index + 1])
    if (this.#origins.size > 0 && headers !== NO_HEADERS) beforeHead(res)
  }

  /** Answers OPTIONS: the methods of an address, and whether a page may use them. */
  preflight (req, res) {
    const methods = isInDb(split(req.url ?? '').path) ? 'GET, HEAD, POST' : 'GET, HEAD'
    const isPreflight = req.headers['access-control-request-method'] !== undefined
    const headers = this.headers(req.headers.origin, req.url)
    const isAllowed = isPreflight && headers !== NO_HEADERS && headers !== OTHER_ORIGIN
    res.writeHead(204, [
      'Allow', `${methods}, OPTIONS`,
      ...(isAllowed ? ['Access-Control-Allow-Methods', methods, ...PREFLIGHT] : []),
      ...headers
    ])
    res.end()
  }
}

const allow = origin => ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED]

const ANY_ORIGIN = Object.freeze(allow('*'))
const OTHER_ORIGIN = Object.freeze(['Vary', 'Origin'])

/** An origin as browsers write it: no path, no slash at the end. */
function checkOrigin (text) {
  const value = text.trim()
  const origin = URL.canParse(value) ? new URL(value).origin : 'null'
  if (origin !== 'null' && new URL(value).href === `${origin}/`) return origin
  throw new TilecouchError('BAD_OPTION', { option: '--cors', value, why: 'origins look like https://maps.example.org' })
}
