// Documents of tokens for private layers. A token has a document in the store, so that it can be revoked. The document
// has only the hash of the token, which a gateway compares. validate_doc_update.js refuses the same fields; a test
// compares both.
import { TilecouchError } from './errors.js'
import { isLayer } from './ids.js'
import { recordFields } from './record-values.js'

const MOST = 16_384 // characters of all fields

const FORM = /^tcs\.([a-z0-9]{12})\.([\w-]{43})$/
const ID = /^[a-z0-9]{12}$/
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** @param {string} id */
export const tokenId = id => `token:${id}`

/** @type {Record<string, import('./documents.js').Kind>} */
export const tokenKinds = {
  token: {
    fields: recordFields.token,
    needs: ['hash', 'layers', 'created', 'user'],
    most: MOST,
    isGeneral: true,
    id: ({ _id }) => tokenId(ID.test(String(_id).slice(6)) ? String(_id).slice(6) : 'ID')
  }
}

/** The text of a token, which its bearer sends. @param {string} id @param {string} secret 43 characters of base64url */
export const tokenText = (id, secret) => `tcs.${id}.${secret}`

/** Whether a text looks like a token of a store, valid or not. @param {string} text */
export const looksLikeStoreToken = text => text.startsWith('tcs.')

/** @param {string} text @returns {{id: string, secret: string} | undefined} */
export function parseToken (text) {
  const [, id, secret] = FORM.exec(text) ?? []
  return id === undefined ? undefined : { id, secret }
}

/** A new id and a new secret of 256 bits. @returns {{id: string, secret: string}} */
export function newToken () {
  const random = crypto.getRandomValues(new Uint8Array(44))
  const id = Array.from(random.subarray(0, 12), byte => LETTERS[byte % LETTERS.length]).join('')
  const secret = btoa(String.fromCharCode(...random.subarray(12)))
  return { id, secret: secret.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') }
}

/** The hash of a secret, which the store keeps. @param {string} secret @returns {Promise<string>} */
export async function hashOf (secret) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))
  return Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * The state of a token.
 * @param {{until?: string, revoked?: string}} doc @param {number} now milliseconds by the clock of the server
 * @returns {'valid' | 'expired' | 'revoked'}
 */
export function tokenState ({ until, revoked }, now) {
  if (revoked !== undefined) return 'revoked'
  return until !== undefined && now >= Date.parse(until) ? 'expired' : 'valid'
}

// Sets of layers, by names and patterns: `osm`, `survey-*`, `*` for every layer, `!basemap` for all layers except that
// one.

const PATTERN = /^[a-z0-9*][a-z0-9_*-]{0,62}$/
const MOST_STARS = 4 // in a pattern: with more, a hostile name takes long to compare

const isStarred = name => PATTERN.test(name) && name.includes('*') && name.split('*').length <= MOST_STARS + 1

export class LayerSet {
  #names = new Set()
  /** @type {RegExp[]} */
  #patterns = []
  /** @type {LayerSet | null} */
  #except = null

  /** @param {string[]} names names and patterns; exceptions win, wherever they stand */
  constructor (names) {
    const included = names.filter(name => !`${name}`.startsWith('!'))
    for (const name of included) this.#add(name)
    const excluded = names.filter(name => !included.includes(name))
    if (excluded.length) this.#except = new LayerSet(excluded.map(name => name.slice(1)))
    this.texts = names
  }

  #add (name) {
    if (isLayer(name)) this.#names.add(name)
    else if (isStarred(name)) {
      this.#patterns.push(new RegExp(`^${name.replace(/\*+/g, '[a-z0-9_-]*')}$`))
    } else throw new TilecouchError('BAD_LAYER', { value: name })
  }

  has (name) {
    return (this.#names.has(name) || this.#patterns.some(pattern => pattern.test(name))) && !this.#except?.has(name)
  }

  /** Whether the set has every layer, including future ones. */
  get isAll () {
    return this.#except === null && this.texts.includes('*')
  }

  /** The layers that are named in full. */
  get names () {
    return [...this.#names]
  }
}
