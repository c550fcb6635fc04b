// Which layers are private, and who may see them: visitors with a token of an access key or of the store. All other
// layers are public.
import { LRUCache } from 'lru-cache'
import { TilecouchError } from '../../../loader/errors.js'
import { LayerSet, looksLikeStoreToken } from '../../../core/tokens.js'
import { mapValues, sameFor } from '../../../core/values.js'
import { parseKeys, readKeys, readToken } from '../../../loader/store/token.js'
import { asksForPage, linkPage } from '../../closed/page.js'
import { sendBody } from '../../http/answers.js'
import { tokenIn, tokenToCookie } from './credentials.js'
import { StoreTokens } from './store-tokens.js'
import { Visitor } from './visitor.js'

const MOST_TOKENS = 2000 // whose valid signatures are remembered

/**
 * @param {Record<string, any>} options of the gateway
 * @param {{couch: import('../../../loader/store/couch.js').Couch, log: any, signal: AbortSignal}} environment signal:
 *   the gateway ends
 * @returns {Promise<Access | null>} null: everything is public
 */
export async function openAccess (options, { couch, log, signal }) {
  const { privateLayers, accessKeys, accessKeysFile } = options
  if (!privateLayers?.length) return null
  const keys = { ...(accessKeys && parseKeys(accessKeys)), ...(accessKeysFile && await readKeys(accessKeysFile)) }
  return new Access(privateLayers, keys, new StoreTokens(couch, { log, signal }))
}

export class Access {
  /** Those whose signatures are valid. @type {LRUCache<string, import('../../../loader/store/token.js').Claim>} */
  #claims = new LRUCache({ max: MOST_TOKENS })
  #layers
  #keys

  /** @param {import('../../../loader/store/token.js').Keys} keys @param {StoreTokens} tokens of the store */
  constructor (privateLayers, keys, tokens) {
    this.#layers = new LayerSet(privateLayers)
    this.#keys = keys
    this.tokens = tokens
  }

  isPrivate = layer => this.#layers.has(layer)

  /**
   * What a token allows; throws when it is invalid. The signature is checked once: a page asks for a hundred tiles with
   * the same.
   */
  read (token) {
    if (looksLikeStoreToken(token)) return this.tokens.claim(token) // it may be revoked at any time
    const claimed = this.#claims.get(token)
    if (claimed && Date.now() < claimed.until) return claimed
    const claim = readToken(token, this.#keys, Date.now())
    this.#claims.set(token, claim)
    return claim
  }

  /** What is wrong with a token. @returns {TilecouchError | undefined} */
  errorIn (token) {
    try {
      this.read(token)
    } catch (error) {
      return error
    }
  }
}

/**
 * Puts access control before the routes. A public layer costs one look-up.
 * @typedef {import('../dispatch.js').Route} Route
 * @param {Access} access
 * @param {Record<string, Route>} routes
 * @returns {Record<string, Route>}
 */
export function protect (access, routes) {
  return mapValues(routes, (route, kind) => PROTECTIONS[kind](access, route))
}

/** For addresses with the name of a layer. @returns {Route} */
const ofLayer = (access, route) => (ctx, asked, req, res) => {
  if (!access.isPrivate(asked.layer)) return route(ctx, asked, req, res)
  asked.visitor = new Visitor(access, req)
  asked.visitor.requireAccess(res, asked.layer)
  return route(ctx, asked, req, res)
}

/** For routes that check by themselves which layers they are about. @returns {Route} */
const withVisitor = (access, route) => (ctx, asked, req, res) => {
  asked.visitor = new Visitor(access, req)
  return route(ctx, asked, req, res)
}

/** Pages, and where each is, as seen from itself. */
const PAGES = Object.freeze({ 'index.html': './', layers: './layers' })

/** For the viewer, which has no data of the store. @returns {Route} */
const ofPage = (access, route) => async (ctx, asked, req, res) => {
  res.setHeader('Referrer-Policy', 'same-origin')
  const page = Object.hasOwn(PAGES, asked.name) && ctx.options.viewer && PAGES[asked.name]
  if (!page) return route(ctx, asked, req, res)
  const refusal = asksForPage(req) && await refusalOf(access, ctx, req, res)
  if (refusal) return sendLinkPage(req, res, refusal)
  if (!tokenToCookie(access, ctx, req, res, page)) return route(ctx, asked, req, res)
}

/**
 * Why a page would show nothing to a visitor: the token of its address is not valid, or all layers are private and the
 * visitor has no valid token.
 * @returns {Promise<TilecouchError | undefined>}
 */
async function refusalOf (access, { layers }, req, res) {
  const visitor = new Visitor(access, req)
  const token = tokenIn(req.url)
  if (token !== undefined) return access.errorIn(token)
  if (visitor.isKnown) return
  const all = await layers.list().catch(() => []) // the viewer says that the store is away
  if (all.length && !all.some(({ layer }) => visitor.may(layer))) return visitor.refusal(res)
}

function sendLinkPage (req, res, { code, status }) {
  const { body, headers } = linkPage(code, req.headers['accept-language'])
  sendBody(req, res, status, headers, body)
}

const PROTECTIONS = {
  ...sameFor(ofLayer, 'tile', 'tilejson', 'versions', 'times', 'style', 'gdal', 'qgis'),
  ...sameFor(withVisitor, 'connections', 'wmts', 'ogc', 'index', 'retina', 'tms', 'db'),
  file: ofPage,
  health: (access, route) => route // its answer has no layer
}

/**
 * Refuses names of private layers that are not in the store: with a mistyped name the real layer would be open to
 * everybody.
 * @param {import('../../../loader/store/couch.js').Couch} couch
 */
export async function checkNames (privateLayers, couch) {
  const { names } = new LayerSet(privateLayers)
  const tilesOf = name => ({ startkey: `${name}:`, endkey: `${name};`, limit: 1 })
  const queries = names.flatMap(name => [{ keys: [`layer:${name}`] }, tilesOf(name)])
  const rowLists = await couch.ranges(queries)
  const isThere = rows => rows.some(({ id, value }) => id && !value?.deleted)
  const unknown = names.filter((name, at) => !isThere(rowLists[2 * at]) && !isThere(rowLists[2 * at + 1]))
  if (!unknown.length) return
  const why = 'the store has no such layer; for one that is yet to come write a pattern, such as survey*'
  throw new TilecouchError('BAD_OPTION', { option: '--private-layers', value: unknown.join(), why })
}
