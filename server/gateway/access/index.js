// Decides which layers are private, and who may see them: visitors with a token of an access key or of the store. All
// other layers are public.
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

const MOST_TOKENS = 2000 // tokens with a valid signature that are remembered

/**
 * @param {Record<string, any>} options of the gateway
 * @param {{couch: import('../../../loader/store/couch.js').Couch, log: any, signal: AbortSignal}} environment signal:
 *   aborts when the gateway ends
 * @returns {Promise<Access | null>} null: all layers are public
 */
export async function openAccess (options, { couch, log, signal }) {
  const { privateLayers, accessKeys, accessKeysFile } = options
  if (!privateLayers?.length) return null
  const keys = { ...(accessKeys && parseKeys(accessKeys)), ...(accessKeysFile && await readKeys(accessKeysFile)) }
  return new Access(privateLayers, keys, new StoreTokens(couch, { log, signal }))
}

export class Access {
  /** Tokens with a valid signature. @type {LRUCache<string, import('../../../loader/store/token.js').Claim>} */
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
   * The claim of a token; throws when it is invalid. The signature is checked once: a page requests a hundred tiles
   * with the same token.
   */
  read (token) {
    if (looksLikeStoreToken(token)) return this.tokens.claim(token) // it may be revoked at any time
    const cachedClaim = this.#claims.get(token)
    if (cachedClaim && Date.now() < cachedClaim.until) return cachedClaim
    const claim = readToken(token, this.#keys, Date.now())
    this.#claims.set(token, claim)
    return claim
  }

  /** The error of an invalid token. @returns {TilecouchError | undefined} */
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
const ofLayer = (access, route) => (ctx, target, req, res) => {
  if (!access.isPrivate(target.layer)) return route(ctx, target, req, res)
  target.visitor = new Visitor(access, req)
  target.visitor.requireAccess(res, target.layer)
  return route(ctx, target, req, res)
}

/** For routes that check access to layers themselves. @returns {Route} */
const withVisitor = (access, route) => (ctx, target, req, res) => {
  target.visitor = new Visitor(access, req)
  return route(ctx, target, req, res)
}

/** Pages with their addresses, relative to the page. */
const PAGES = Object.freeze({ 'index.html': './', layers: './layers' })

/** For the files of the viewer, which have no data of the store. @returns {Route} */
const ofPage = (access, route) => async (ctx, target, req, res) => {
  res.setHeader('Referrer-Policy', 'same-origin')
  const page = Object.hasOwn(PAGES, target.name) && ctx.options.viewer && PAGES[target.name]
  if (!page) return route(ctx, target, req, res)
  const refusal = asksForPage(req) && await refusalOf(access, ctx, req, res)
  if (refusal) return sendLinkPage(req, res, refusal)
  if (!tokenToCookie(access, ctx, req, res, page)) return route(ctx, target, req, res)
}

/**
 * The reason why a page would show nothing. Either the token in the address is not valid, or all layers are private
 * and the visitor has no valid token.
 * @returns {Promise<TilecouchError | undefined>}
 */
async function refusalOf (access, { layers }, req, res) {
  const visitor = new Visitor(access, req)
  const token = tokenIn(req.url)
  if (token !== undefined) return access.errorIn(token)
  if (visitor.isKnown) return
  const allLayers = await layers.list().catch(() => []) // the viewer says that the store is away
  if (allLayers.length && !allLayers.some(({ layer }) => visitor.may(layer))) return visitor.refusal(res)
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
 * Refuses names of private layers that are not in the store: with a mistyped name, the real layer would be public.
 * @param {import('../../../loader/store/couch.js').Couch} couch
 */
export async function checkNames (privateLayers, couch) {
  const { names } = new LayerSet(privateLayers)
  const tileRangeOf = name => ({ startkey: `${name}:`, endkey: `${name};`, limit: 1 })
  const queries = names.flatMap(name => [{ keys: [`layer:${name}`] }, tileRangeOf(name)])
  const rowLists = await couch.ranges(queries)
  const hasDocuments = rows => rows.some(({ id, value }) => id && !value?.deleted)
  const unknownNames = names.filter((name, index) =>
    !hasDocuments(rowLists[2 * index]) && !hasDocuments(rowLists[2 * index + 1]))
  if (!unknownNames.length) return
  const why = 'the store has no such layer; for one that is yet to come write a pattern, such as survey*'
  throw new TilecouchError('BAD_OPTION', { option: '--private-layers', value: unknownNames.join(), why })
}
