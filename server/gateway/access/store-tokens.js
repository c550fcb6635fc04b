// Tokens that are documents of the store (core/tokens.js). They are read at the start and when one changes, so that a
// revoked token ends at once. The store has only their hashes. While the store is away, tokens in memory stay valid.
import { createHash, timingSafeEqual } from 'node:crypto'
import { LayerSet, faultIn, parseToken, tokenKinds } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'

const RETRY = 1000 // milliseconds before tokens are read again after a failure
const PREFIX = 'token:'

/**
 * @typedef {object} StoreToken
 * @property {string} fields of its document, as JSON
 * @property {Buffer} hash
 * @property {string} [end] time at which it expires
 * @property {{layers: LayerSet, until: number, signal: AbortSignal}} claim signal: aborts when it changes
 * @property {AbortController} ending
 */

export class StoreTokens {
  /** Tokens by id, without revoked ones. @type {Map<string, StoreToken>} */
  #tokens = new Map()
  /** @type {Promise<void> | undefined} */
  #reading
  #isStale = false
  /** @type {NodeJS.Timeout | undefined} */
  #retry

  /**
   * @param {import('../../../loader/store/couch.js').Couch} couch
   * @param {{log: any, signal: AbortSignal}} options signal: aborts when the gateway ends
   */
  constructor (couch, { log, signal }) {
    this.couch = couch
    this.log = log
    this.signal = signal
  }

  /** A document of the store has changed; without an id, any document may have changed. @param {string} [id] */
  changed (id) {
    if (id === undefined || id.startsWith(PREFIX)) this.read()
  }

  /** Reads all tokens, and reads again if one changes meanwhile. @returns {Promise<void>} */
  async read () {
    this.#isStale = true
    this.#reading ??= this.#readAll().finally(() => { this.#reading = undefined })
    return this.#reading
  }

  async #readAll () {
    try {
      while (this.#isStale) {
        this.#isStale = false
        const rows = await this.couch.page({ startkey: PREFIX, endkey: 'token;', include_docs: true }, this.signal)
        const documents = rows.flatMap(({ doc }) => doc?.type === 'token' ? [doc] : [])
        this.#take(new Map(documents.map(doc => [doc._id.slice(PREFIX.length), doc])))
      }
    } catch (error) {
      if (this.signal.aborted) return
      const message = 'cannot read who may see private layers by the store'
      this.log.warn({ code: error.code, reason: error.message }, message)
      if (this.#retry) return
      this.#retry = setTimeout(() => {
        this.#retry = undefined
        this.read()
      }, RETRY).unref()
    }
  }

  /** @param {Map<string, any>} documents by id */
  #take (documents) {
    for (const [id, { fields, ending }] of this.#tokens) {
      if (JSON.stringify(documents.get(id)) === fields) continue
      ending.abort() // ends its feeds: clients with access request them again
      this.#tokens.delete(id)
    }
    for (const [id, doc] of documents) {
      if (this.#tokens.has(id)) continue
      const fault = faultIn(doc, tokenKinds)
      if (fault) this.log.warn({ id: doc._id, fault }, 'a token of the store is not valid, and lets nobody in')
      else if (doc.revoked === undefined) this.#tokens.set(id, tokenOf(doc))
    }
  }

  /**
   * The claim of a token. Throws if the store has no such token, or if it has expired.
   * @param {string} text @returns {StoreToken['claim']}
   */
  claim (text) {
    const { id, secret } = parseToken(text) ?? {}
    const token = id === undefined ? undefined : this.#tokens.get(id)
    if (!token || !timingSafeEqual(token.hash, createHash('sha256').update(`${secret}`).digest())) {
      throw new TilecouchError('TOKEN_INVALID')
    }
    if (Date.now() >= token.claim.until) throw new TilecouchError('TOKEN_EXPIRED', { time: token.end })
    return token.claim
  }
}

/** @returns {StoreToken} */
function tokenOf (doc) {
  const ending = new AbortController()
  return {
    fields: JSON.stringify(doc),
    hash: Buffer.from(doc.hash, 'hex'),
    end: doc.until,
    claim: {
      layers: new LayerSet(doc.layers), until: doc.until ? Date.parse(doc.until) : Infinity, signal: ending.signal
    },
    ending
  }
}
