// Signed tokens, which give access to private layers until a time. Only the operator and the gateway know the key. Such
// a token is stored nowhere: it ends at its time, or when the key is removed. The tokens of core/tokens.js are stored,
// and can be revoked.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { fromSeconds, looksLikeStoreToken, now as currentTime } from '../../core/index.js'
import { isObject, jsonOf } from '../../core/values.js'
import { TilecouchError } from '../errors.js'
import { LayerSet } from '../../core/tokens.js'
import { readSmallFile } from '../formats/files.js'

const FORM = /^tc1\.([A-Za-z][\w-]{0,31})\.([\w-]{1,1600})\.([\w-]{43})$/
const KEY_ID = /^[A-Za-z][\w-]{0,31}$/ // begins with a letter: objects sort numeric keys
const LEAST_KEY = 32 // characters; 43 of base64 are 256 bits
const MOST_LAYERS = 50 // a token is part of every address
const LAST = 4102444800 // seconds: the year 2100; a later time is a mistake

/**
 * @typedef {Record<string, string>} Keys secrets by id; the last one signs, all are valid
 * @typedef {{layers: LayerSet, until: number, key?: string, signal?: AbortSignal}} Claim until: milliseconds; key: id
 *   of the key that signed it; signal: of a stored token, which may end earlier
 */

/** Whether a text looks like a token, of a key or of the store, valid or not. @param {string} text */
export const looksLikeToken = text => text.startsWith('tc1.') || looksLikeStoreToken(text)

/** @type {(option: string, value: unknown, why: string) => never} */
const refuse = (option, value, why) => { throw new TilecouchError('BAD_OPTION', { option, value, why }) }

const signatureOf = (secret, text) => createHmac('sha256', secret).update(text).digest('base64url')

/**
 * @param {object} claim
 * @param {string[]} claim.layers names and patterns, as LayerSet takes them
 * @param {number} claim.until seconds since 1970
 * @param {Keys} keys
 * @param {string} [id] of the key (default: the last)
 */
export function signToken ({ layers, until }, keys, id = Object.keys(keys).at(-1)) {
  if (!layers.length || layers.length > MOST_LAYERS) {
    refuse('LAYER', layers.length, `a token is for 1 to ${MOST_LAYERS} names or patterns`)
  }
  new LayerSet(layers) // throws for a bad name
  if (!Number.isInteger(until) || until <= 0 || until > LAST) refuse('--for', until, 'a token ends before 2100')
  if (id === undefined || !Object.hasOwn(keys, id)) refuse('--key', id, `keys are ${Object.keys(keys).join(', ')}`)
  const signed = `tc1.${id}.${Buffer.from(JSON.stringify({ l: layers, u: until })).toString('base64url')}`
  const token = `${signed}.${signatureOf(keys[id], signed)}`
  if (!FORM.test(token)) refuse('LAYER', layers.length, 'so many names do not fit into one token: use patterns')
  return token
}

/**
 * The claim of a token. Throws if none of the keys signed it, or if it has expired.
 * @param {string} text
 * @param {Keys} keys
 * @param {number} [now] milliseconds
 * @returns {Claim}
 */
export function readToken (text, keys, now = Date.now()) {
  const [, id, payload, mac] = FORM.exec(text) ?? []
  if (id === undefined || !Object.hasOwn(keys, id)) throw new TilecouchError('TOKEN_INVALID')
  // compares texts: several spellings of base64 mean the same bytes
  const expectedMac = signatureOf(keys[id], text.slice(0, -mac.length - 1))
  if (!timingSafeEqual(Buffer.from(mac), Buffer.from(expectedMac))) throw new TilecouchError('TOKEN_INVALID')
  const { l: layers, u: until } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  if (now >= until * 1000) throw new TilecouchError('TOKEN_EXPIRED', { time: fromSeconds(until) })
  return { layers: new LayerSet(layers), until: until * 1000, key: id }
}

/** A new key. Its id ends with a random part, because a file may have several keys of one day. */
export const newKey = () => ({
  id: `k${currentTime().slice(0, 10)}-${randomBytes(2).toString('hex')}`,
  secret: randomBytes(32).toString('base64url')
})

/**
 * Parses keys: an object, JSON of one, or `id:secret` separated by lines or spaces; # begins a comment. Errors show no
 * secret.
 * @param {unknown} source
 * @returns {Keys}
 */
export function parseKeys (source) {
  const entries = isObject(source) ? Object.entries(source) : []
  const pairs = typeof source === 'string' ? pairsIn(source) : entries
  if (!pairs.length) throw new Error('it takes keys, each as id:secret')
  /** @type {Keys} */
  const keys = {}
  for (const [id, secret] of pairs) {
    if (!KEY_ID.test(id)) throw new Error('a key is id:secret, its id a letter and then letters, digits, _ and -')
    if (Object.hasOwn(keys, id)) throw new Error(`there are two keys ${id}`)
    if (typeof secret !== 'string' || !/^[\x21-\x7e]+$/.test(secret) || secret.length < LEAST_KEY) {
      throw new Error(`the key ${id} must have ${LEAST_KEY} characters or more; \`tilecouch token --new-key\` ` +
        'makes one')
    }
    keys[id] = secret
  }
  return keys
}

function pairsIn (text) {
  const plain = text.replace(/^\ufeff/, '')
  if (plain.trim().startsWith('{')) {
    const keys = jsonOf(plain)
    if (keys === undefined) throw new Error('it is not JSON')
    return Object.entries(keys)
  }
  return plain.replace(/^\s*#.*$/gm, '').split(/[\s,]+/).filter(Boolean).map(part => {
    const colon = part.indexOf(':')
    return /** @type {[string, string]} */ ([part.slice(0, colon), part.slice(colon + 1)])
  })
}

/** @param {string} file @returns {Promise<Keys>} */
export async function readKeys (file) {
  try {
    return parseKeys(String(readSmallFile(file)))
  } catch (error) {
    throw new TilecouchError('CONFIG_INVALID', { file, why: error.code === 'ENOENT' ? 'no such file' : error.message })
  }
}
