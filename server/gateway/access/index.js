// Which layers are private, and who may see them: visitors with a token of one of the access keys, and users of CouchDB
// where they are let in. A layer that is not named is public.
import { TilecouchError } from '../../../loader/errors.js'
import { LayerSet } from '../../../core/layer-set.js'
import { parseKeys, readKeys, readToken } from '../../../loader/token.js'
import { clientAddress } from '../addresses.js'
import { tokenIn, tokenToCookie, tokensOf, userOf } from './credentials.js'
import { Users } from './users.js'
import { Visitor } from './visitor.js'

const MOST_TOKENS = 2000 // whose signature is remembered to be good
const REALM = 'realm="tilecouch"'

/**
 * @param {Record<string, any>} options of the gateway
 * @param {object} environment
 * @param {import('../../../loader/store/couch.js').Couch} environment.couch
 * @param {() => number} [environment.now] milliseconds
 * @param {any} [environment.log]
 * @param {{mayRead: Users['mayRead']}} [environment.users] asks CouchDB: of several workers, their parent
 * @returns {Promise<Access | null>} null: everything is public
 */
export async function openAccess (options, { couch, now, log, users }) {
  const { privateLayers, accessKeys, accessKeysFile, accessUsers, maxAge, trustProxy } = options
  if (!privateLayers?.length) return null
  return new Access({
    layers: new LayerSet(privateLayers),
    keys: { ...(accessKeys && parseKeys(accessKeys)), ...(accessKeysFile && await readKeys(accessKeysFile)) },
    users: accessUsers ? users ?? new Users(couch, { log }) : null,
    age: maxAge,
    now,
    trustProxy
  })
}

export class Access {
  /** @type {Map<string, import('../../../loader/token.js').Claim>} */
  #known = new Map()
  #layers
  #keys

  /**
   * @param {object} parts
   * @param {LayerSet} parts.layers that are private
   * @param {import('../../../loader/token.js').Keys} parts.keys
   * @param {{mayRead: Users['mayRead']} | null} [parts.users]
   * @param {number} [parts.age] seconds a user of CouchDB may keep an answer
   * @param {() => number} [parts.now]
   * @param {boolean} [parts.trustProxy]
   */
  constructor ({ layers, keys, users = null, age = 300, now = Date.now, trustProxy = false }) {
    this.#layers = layers
    this.#keys = keys
    this.users = users
    this.age = age
    this.now = now
    this.trustProxy = trustProxy
  }

  /** @param {string} layer */
  isPrivate = layer => this.#layers.has(layer)

  /** @param {import('node:http').IncomingMessage} req @returns {Visitor} */
  visitorOf (req) {
    const claims = []
    let problem
    let link
    const address = tokenIn(req.url)
    for (const token of tokensOf(req)) {
      try {
        claims.push(this.read(token))
        if (token === address) link = token
      } catch (error) {
        problem ??= error
      }
    }
    const named = this.users ? userOf(req) : undefined
    const user = named && { ...named, address: clientAddress(req, this.trustProxy) }
    return new Visitor(this, { claims, problem, link, user })
  }

  /**
   * What a token allows; throws when it is invalid. The signature is checked once: a page asks for a hundred tiles with
   * the same.
   * @param {string} token
   */
  read (token) {
    const known = this.#known.get(token)
    if (known && this.now() < known.until) return known
    const claim = readToken(token, this.#keys, this.now())
    if (this.#known.size >= MOST_TOKENS) this.#known.clear()
    this.#known.set(token, claim)
    return claim
  }

  /** @param {string} token */
  isValid (token) {
    try {
      return Boolean(this.read(token))
    } catch {
      return false
    }
  }

  /** Asks for a name and password only where somebody opens an address, and not for each image of a page. */
  challenge ({ headers }) {
    const mode = /** @type {string | undefined} */ (headers['sec-fetch-mode'])
    const asksForName = this.users && ['navigate', undefined].includes(mode)
    return `Bearer ${REALM}${asksForName ? `, Basic ${REALM}, charset="UTF-8"` : ''}`
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
  return Object.fromEntries(Object.entries(routes).map(([kind, route]) => [kind, PROTECTIONS[kind](access, route)]))
}

/** For addresses with the name of a layer. @returns {Route} */
const ofLayer = (access, route) => (ctx, asked, req, res) => {
  if (!access.isPrivate(asked.layer)) return route(ctx, asked, req, res)
  asked.visitor = access.visitorOf(req)
  const checked = asked.visitor.requireLayer(asked.layer, res)
  return checked === undefined ? route(ctx, asked, req, res) : checked.then(() => route(ctx, asked, req, res))
}

/** For routes that check by themselves which layers they are about. @returns {Route} */
const withVisitor = (access, route) => (ctx, asked, req, res) => {
  asked.visitor = access.visitorOf(req)
  return route(ctx, asked, req, res)
}

/** For answers about all layers. @returns {Route} */
const ofAll = (access, route) => async (ctx, asked, req, res) => {
  await access.visitorOf(req).requireAll(res)
  return route(ctx, asked, req, res)
}

/** For the viewer, which holds nothing of the store. @returns {Route} */
const ofPage = (access, route) => (ctx, asked, req, res) => {
  if (asked.name === 'index.html' && ctx.options.viewer && tokenToCookie(access, ctx, req, res)) return
  res.setHeader('Referrer-Policy', 'same-origin')
  return route(ctx, asked, req, res)
}

/** For answers without any layer. @returns {Route} */
const unprotected = (access, route) => route

const PROTECTIONS = {
  tile: ofLayer,
  tilejson: ofLayer,
  versions: ofLayer,
  times: ofLayer,
  wmts: withVisitor,
  db: withVisitor,
  metrics: ofAll,
  file: ofPage,
  health: unprotected
}

/**
 * Refuses names of private layers that are not in the store: with a mistyped name the real layer would be open to
 * everybody.
 * @param {string[]} privateLayers
 * @param {import('../../../loader/store/couch.js').Couch} couch
 */
export async function checkNames (privateLayers, couch) {
  const { names } = new LayerSet(privateLayers)
  const tilesOf = name => ({ startkey: `${name}:`, endkey: `${name};`, limit: 1 })
  const queries = names.flatMap(name => [{ keys: [`layer:${name}`] }, tilesOf(name)])
  const found = await couch.ranges(queries)
  const isThere = rows => rows.some(({ id, value }) => id && !value?.deleted)
  const unknown = names.filter((name, at) => !isThere(found[2 * at]) && !isThere(found[2 * at + 1]))
  if (!unknown.length) return
  const why = 'the store has no such layer; for one that is yet to come write a pattern, such as survey*'
  throw new TilecouchError('BAD_OPTION', { option: '--private-layers', value: unknown.join(), why })
}
