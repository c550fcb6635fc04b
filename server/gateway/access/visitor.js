// Somebody who asks, as far as it matters to private layers: the tokens that are good, and whether CouchDB knows the name.
import { TilecouchError } from '../../../core/index.js'
import { seal } from './seal.js'

export class Visitor {
  /** @type {import('../../../loader/token.js').Claim[]} */
  #claims = []
  /** @type {TilecouchError | undefined} what was wrong with the first token that is not good */
  #problem
  #isUser = false
  /** @type {import('./users.js').Brought | undefined} what CouchDB has yet to be asked about */
  #unasked

  /**
   * @param {import('./index.js').Access} access
   * @param {{claims: import('../../../loader/token.js').Claim[], problem?: TilecouchError, user?: import('./users.js').Brought, link?: string}} found link: the token of the address, when it is good
   */
  constructor (access, { claims, problem, user, link }) {
    this.access = access
    this.#claims = claims
    this.#problem = problem
    this.#unasked = user
    /** The token that addresses in an answer have to have as well, since nothing else of the visitor goes along. */
    this.link = link
  }

  /** Whether a layer is to be seen. @param {string} layer */
  may (layer) {
    return !this.access.isPrivate(layer) || this.#isUser || this.#claims.some(({ layers }) => layers.has(layer))
  }

  /** Whether everything is, whatever it may be. */
  get mayAll () {
    return this.#isUser || this.#claims.some(({ layers }) => layers.isAll)
  }

  /** Whether this is anybody at all. */
  get isSomebody () {
    return this.#isUser || this.#claims.length > 0
  }

  /** Whether CouchDB has to be asked before anything is refused. */
  get isUnknown () {
    return this.#unasked !== undefined
  }

  /** Asks CouchDB, when what the visitor brought may be a name there. */
  async settle () {
    const brought = this.#unasked
    if (brought === undefined) return
    this.#isUser = await /** @type {import('./users.js').Users} */ (this.access.users).mayRead(brought)
    this.#unasked = undefined
  }

  /** Until when a layer, or all of them, is to be seen. @param {string} [layer] @returns {number} milliseconds */
  until (layer) {
    const ends = this.#claims.filter(({ layers }) => layer === undefined ? layers.isAll : layers.has(layer)).map(({ until }) => until)
    return Math.max(...ends, this.#isUser ? this.access.now() + this.access.age * 1000 : 0)
  }

  /**
   * Lets the visitor in, and sees to it that the answer stays with him; throws when the layer is not for him.
   * @param {string} layer
   * @param {import('node:http').ServerResponse} res
   * @returns {void | Promise<void>}
   */
  enter (layer, res) {
    if (!this.access.isPrivate(layer)) return
    if (this.may(layer)) return this.#seal(res, this.until(layer))
    if (this.isUnknown) return this.settle().then(() => this.enter(layer, res))
    throw this.refusal(res, layer)
  }

  /** The same for what is not of one layer: everything. @param {import('node:http').ServerResponse} res @returns {void | Promise<void>} */
  enterAll (res) {
    if (this.mayAll) return this.#seal(res, this.until())
    if (this.isUnknown) return this.settle().then(() => this.enterAll(res))
    throw this.refusal(res)
  }

  /** An answer that says different things to different visitors, and is never kept without being asked for anew. */
  async enterSome (res) {
    await this.settle()
    this.#seal(res, 0)
  }

  #seal (res, until) {
    seal(res, (until - this.access.now()) / 1000)
  }

  /** @param {import('node:http').ServerResponse} res @param {string} [layer] nothing: everything */
  refusal (res, layer) {
    const error = this.#claims.length ? new TilecouchError('ACCESS_DENIED', { layer }) : this.#problem ?? new TilecouchError('ACCESS_NEEDED', { layer })
    if (error.status === 401) res.setHeader('WWW-Authenticate', this.access.challenge(res.req))
    return error
  }
}
