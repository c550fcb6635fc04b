// Tokens that live in the store (core/tokens.js): read at the start and whenever one of them changes, so that one that
// is revoked ends at once. The store has their hashes only. While the store is away, those that are known go on.
import { createHash, timingSafeEqual } from 'node:crypto'
import { LayerSet, faultIn, parseToken, tokenKinds } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'

const RETRY = 1000 // milliseconds until tokens that could not be read are asked for again
const PREFIX = 'token:'

/**
 * @typedef {object} StoreToken
 * @property {string} fields as they were read
 * @property {Buffer} hash
 * @property {string} [end] its time
 * @property {{layers: LayerSet, until: number, signal: AbortSignal}} claim signal: it is valid no more
 * @property {AbortController} ending
 */

export class StoreTokens {
  /** By id, without those that were revoked. @type {Map<string, StoreToken>} */
  #tokens = new Map()
  /** @type {Promise<void> | undefined} */
  #reading
  #isStale = false
  /** @type {NodeJS.Timeout | undefined} */
  #retry

  /**
   * @param {import('../../../loader/store/couch.js').Couch} couch
   * @param {{log: any, signal: AbortSignal}} options signal: the gateway ends
   */
  constructor (couch, { log, signal }) {
    this.couch = couch
    this.log = log
    this.signal = signal
  }

  /** A document of the store has changed; without an id, any may have. @param {string} [id] */
  changed (id) {
    if (id === undefined || id.startsWith(PREFIX)) this.read()
  }

  /** Reads all of them; what changes meanwhile is read afterwards. @returns {Promise<void>} */
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
      ending.abort() // its feeds are asked for again, by who may
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
   * What a token allows. Throws if the store has none such, or if it has ended.
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
