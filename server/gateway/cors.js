// Which pages of other origins may read the answers. With `*` all answers have the same headers, so that one copy in a
// cache does for all pages; with a list each answer is for the page that asked, with `Vary: Origin`. No answer allows
// credentials: other pages read with a token or not at all. With `*`, /db of a store with private layers is still for
// pages of this origin only.
import { TilecouchError } from '../../loader/errors.js'

/** Headers of an answer that pages may read besides those that browsers always show. */
const EXPOSED = 'Accept-Ranges, Content-Range, ETag, Retry-After, X-Tilecouch-Cache, X-Tilecouch-Time'

const ACCEPTED =
  'Accept, Authorization, Cache-Control, Content-Type, If-Modified-Since, If-None-Match, If-Range, Range, ' +
  'X-Requested-With'
const MAX_AGE = '86400' // seconds a browser need not ask again; most keep it for some hours only
const PREFLIGHT = ['Access-Control-Allow-Headers', ACCEPTED, 'Access-Control-Max-Age', MAX_AGE]

/** As in the router. Proxies may send complete URLs. */
const IN_DB = /^(?:https?:\/\/[^/?#]*)?\/*db(?:[/?#]|$)/i

const NOTHING = /** @type {readonly string[]} */ (Object.freeze([]))

export class Cors {
  #any
  #hasPrivate
  #origins

  /** @param {string} setting `*`, `none`, or origins separated by commas @param {{hasPrivate?: boolean}} [layers] */
  constructor (setting, { hasPrivate = false } = {}) {
    this.#hasPrivate = hasPrivate
    this.#any = setting.trim() === '*'
    const listed = this.#any || /^\s*none\s*$/i.test(setting) ? [] : setting.split(',').map(checkOrigin)
    /** @type {Map<string, readonly string[]>} */
    this.#origins = new Map(listed.map(origin => [origin, Object.freeze([...allow(origin), 'Vary', 'Origin'])]))
  }

  /**
   * The headers of an answer, name and value in turn.
   * @param {string | undefined} origin of the page that asks
   * @param {string} [url] of what it asks for, where that may be below /db
   * @returns {readonly string[]}
   */
  headers (origin, url = '') {
    if (this.#any) return this.#hasPrivate && IN_DB.test(url) ? NOTHING : EVERYBODY
    if (this.#origins.size === 0) return NOTHING
    return (origin !== undefined && this.#origins.get(origin)) || SOMEBODY_ELSE
  }

  /** The same for an answer whose other headers are written elsewhere. */
  apply (req, res) {
    const headers = this.headers(req.headers.origin, req.url)
    for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at], headers[at + 1])
    if (this.#origins.size > 0 && headers !== NOTHING) keepVary(res)
  }

  /** Answers OPTIONS: which methods there are, and whether a page may use them. */
  preflight (req, res) {
    const methods = IN_DB.test(req.url ?? '') ? 'GET, HEAD, POST' : 'GET, HEAD'
    const asked = req.headers['access-control-request-method'] !== undefined
    const allowed = this.headers(req.headers.origin, req.url)
    const mayUse = asked && allowed !== NOTHING && allowed !== SOMEBODY_ELSE
    res.writeHead(204, [
      'Allow', `${methods}, OPTIONS`,
      ...(mayUse ? ['Access-Control-Allow-Methods', methods, ...PREFLIGHT] : []),
      ...allowed
    ])
    res.end()
  }
}

const allow = origin => ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED]

const EVERYBODY = Object.freeze(allow('*'))
const SOMEBODY_ELSE = Object.freeze(['Vary', 'Origin'])

/** As browsers write it: no path, no slash at the end. */
function checkOrigin (text) {
  const value = text.trim()
  const origin = URL.canParse(value) ? new URL(value).origin : 'null'
  if (origin !== 'null' && new URL(value).href === `${origin}/`) return origin
  throw new TilecouchError('BAD_OPTION', { option: '--cors', value, why: 'origins look like https://maps.example.org' })
}

/** A route that sets Vary itself must not remove this one. */
function keepVary (res) {
  const { writeHead } = res
  res.writeHead = (status, headers, ...rest) => {
    const name = headers && !Array.isArray(headers) && Object.keys(headers).find(key => key.toLowerCase() === 'vary')
    return writeHead.call(res, status, name ? { ...headers, [name]: `${headers[name]}, Origin` } : headers, ...rest)
  }
}
