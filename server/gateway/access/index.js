// Who may see what: layers that are private, the keys whose tokens let visitors see them, and the users of CouchDB where they
// may. Whatever is not named is public.
import { TilecouchError } from '../../../core/index.js'
import { LayerSet } from '../../../core/layer-set.js'
import { parseKeys, readKeys, readToken } from '../../../loader/token.js'
import { peerOf } from '../peer.js'
import { tokenIn, tokensOf, userIn } from './credentials.js'
import { Users } from './users.js'
import { Visitor } from './visitor.js'

const MOST_KNOWN = 2000 // tokens whose signature need not be worked out again
const REALM = 'realm="tilecouch"'

/**
 * @param {Record<string, any>} options of the gateway
 * @param {object} environment
 * @param {import('../../../loader/store/couch.js').Couch} environment.couch
 * @param {() => number} [environment.now] milliseconds
 * @param {any} [environment.log]
 * @param {{mayRead: Users['mayRead']}} [environment.users] who asks CouchDB: of several workers, their parent
 * @returns {Promise<Access | null>} null: everything is public
 */
export async function openAccess ({ privateLayers, accessKeys, accessKeysFile, accessUsers, maxAge, trustProxy }, { couch, now, log, users }) {
  if (!privateLayers?.length) return null
  const keys = { ...(accessKeys && parseKeys(accessKeys)), ...(accessKeysFile && await readKeys(accessKeysFile)) }
  return new Access({ layers: new LayerSet(privateLayers), keys, users: accessUsers ? users ?? new Users(couch, { log }) : null, age: maxAge, now, trustProxy })
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

  /** Names of private layers that are written in full. */
  get names () {
    return this.#layers.names
  }

  /** Who asks. @param {import('node:http').IncomingMessage} req @returns {Visitor} */
  look (req) {
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
    const user = this.users ? userIn(req) : undefined
    return new Visitor(this, { claims, problem, link, user: user && { ...user, peer: peerOf(req, this.trustProxy) } })
  }

  /**
   * What a token says. Its signature is worked out once: a page asks for a hundred tiles with the same one.
   * @param {string} token
   */
  read (token) {
    const known = this.#known.get(token)
    if (known && this.now() < known.until) return known
    const claim = readToken(token, this.#keys, this.now())
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(token, claim)
    return claim
  }

  /** The same, or nothing when it is no good. @param {string} token */
  tryRead (token) {
    try {
      return this.read(token)
    } catch {
      return undefined
    }
  }

  /** Names and passwords are asked for where somebody looks at the address bar, and not for each image of a page. */
  challenge ({ headers }) {
    const asksForNames = this.users && ['navigate', undefined].includes(/** @type {string | undefined} */ (headers['sec-fetch-mode']))
    return `Bearer ${REALM}${asksForNames ? `, Basic ${REALM}, charset="UTF-8"` : ''}`
  }
}

/**
 * Refuses names that nothing in the store has: a slip of the pen would leave the layer that was meant open to everybody.
 * @param {string[]} privateLayers
 * @param {import('../../../loader/store/couch.js').Couch} couch
 */
export async function checkNames (privateLayers, couch) {
  const { names } = new LayerSet(privateLayers)
  const queries = names.flatMap(name => [{ keys: [`layer:${name}`] }, { startkey: `${name}:`, endkey: `${name};`, limit: 1 }])
  const found = await couch.ranges(queries)
  const unknown = names.filter((name, at) => [found[2 * at], found[2 * at + 1]].every(rows => !rows.some(({ id, value }) => id && !value?.deleted)))
  if (unknown.length) throw new TilecouchError('BAD_OPTION', { option: '--private-layers', value: unknown.join(), why: 'the store has no such layer; for one that is yet to come write a pattern, such as survey*' })
}
