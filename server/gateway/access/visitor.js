// The visitor who sends a request: its valid tokens, and the private layers that they open.
import { TilecouchError } from '../../../loader/errors.js'
import { addVary, beforeHead } from '../../http/answers.js'
import { tokenIn, tokensOf } from './credentials.js'

export class Visitor {
  /** @type {import('../../../loader/store/token.js').Claim[]} */
  #claims = []
  /** @type {TilecouchError | undefined} error of the first invalid token */
  #problem
  /** The token of the address, when it is valid: addresses in an answer need it as well. @type {string | undefined} */
  link

  /** @param {import('./index.js').Access} access */
  constructor (access, req) {
    this.access = access
    const address = tokenIn(req.url)
    for (const token of tokensOf(req)) {
      try {
        this.#claims.push(access.read(token))
        if (token === address) this.link = token
      } catch (error) {
        this.#problem ??= error
      }
    }
  }

  /** Whether the visitor may see a layer. */
  may (layer) {
    return !this.access.isPrivate(layer) || this.#claims.some(({ layers }) => layers.has(layer))
  }

  /** Whether the visitor may see everything. */
  get mayAll () {
    return this.#claims.some(({ layers }) => layers.isAll)
  }

  /** Whether there is a valid token. */
  get isKnown () {
    return this.#claims.length > 0
  }

  /** Signals: one aborts when the visitor loses a token. @returns {AbortSignal[]} */
  get endings () {
    return this.#claims.flatMap(({ signal }) => signal ?? [])
  }

  /** The time until which the visitor may see a layer, or all layers. @returns {number} milliseconds */
  until (layer) {
    const isFor = ({ layers }) => layer === undefined ? layers.isAll : layers.has(layer)
    const ends = this.#claims.filter(isFor).map(({ until }) => until)
    return Math.max(...ends, 0)
  }

  /** Makes an answer about a private layer private; throws when the visitor may not see the layer. */
  requireAccess (res, layer) {
    if (!this.access.isPrivate(layer)) return
    if (!this.may(layer)) throw this.refusal(res, layer)
    makePrivate(res, this.until(layer))
  }

  /** Marks an answer that differs between visitors: clients must revalidate it each time. */
  requireSome (res) {
    makePrivate(res, 0)
  }

  /** @param {string} [layer] undefined: everything */
  refusal (res, layer) {
    const error = this.#claims.length
      ? new TilecouchError('ACCESS_DENIED', { layer })
      : this.#problem ?? new TilecouchError('ACCESS_NEEDED', { layer })
    if (error.status === 401) res.setHeader('WWW-Authenticate', 'Bearer realm="tilecouch"')
    return error
  }
}

/**
 * The layers that a visitor may see.
 * @param {Pick<import('../layers.js').Layers, 'list'>} layers @param {Visitor} [visitor] if there are private layers
 */
export const visibleLayers = async (layers, visitor) =>
  (await layers.list()).filter(({ layer }) => visitor?.may(layer) ?? true)

/** The query of addresses in an answer: the token of the visitor. @param {Visitor} [visitor] */
export const tokenQuery = visitor => visitor?.link ? `?token=${visitor.link}` : ''

/**
 * Makes an answer private: shared caches must not keep it, and the browser may keep it only while the visitor has
 * access.
 * @param {import('node:http').ServerResponse} res its headers are not written yet
 * @param {number} until milliseconds since 1970: end of the access
 */
function makePrivate (res, until) {
  const seconds = (until - Date.now()) / 1000
  beforeHead(res, () => {
    res.setHeader('Cache-Control', privateCacheControl(res.getHeader('cache-control'), seconds))
    addVary(res, 'Authorization, Cookie')
    res.setHeader('Referrer-Policy', 'no-referrer')
  })
}

function privateCacheControl (cacheControl, seconds) {
  const text = String(cacheControl ?? 'no-store')
  if (/no-store/.test(text)) return 'no-store'
  if (/max-age=0|no-cache|must-revalidate/.test(text)) return 'private, max-age=0, must-revalidate'
  const [, age = '0'] = /max-age=(\d+)/.exec(text) ?? []
  return `private, max-age=${Math.max(0, Math.min(+age, Math.floor(seconds)))}`
}
