// Encrypted files as age writes and reads them (age-encryption.org/v1), with what Node has: a header with the key of the file, once
// for each recipient, and then chunks of 64 KiB, each encrypted and authenticated by itself, so that any part can be read alone.
import { createCipheriv, createDecipheriv, createHmac, diffieHellman, generateKeyPairSync, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { publicKeyOf, rawOf } from './age-keys.js'

export const AGE = Buffer.from('age-encryption.org/')
export const PLAIN = 65536 // bytes of a chunk
export const SEALED = PLAIN + 16 // bytes of it in the file
export const NONCE = 16 // bytes behind the header
export const MOST_HEADER = 65536 // bytes: a stanza costs time before anything is known to be right

const CIPHER = 'chacha20-poly1305'
const LABEL = 'age-encryption.org/v1/X25519'

/** Why a file cannot be opened; `locked`: it is for other keys. */
export class AgeError extends Error {
  constructor (why, { locked = false } = {}) {
    super(why)
    this.locked = locked
  }
}

/** Chunks of one file. @typedef {{seal: (plain: Buffer, index: number, isLast: boolean) => Buffer, open: (sealed: Buffer, index: number, isLast: boolean) => Buffer}} Chunks */

/**
 * A new file: its beginning, and what encrypts the rest.
 * @param {import('./age-keys.js').Recipient[]} recipients
 * @returns {{start: Buffer, chunks: Chunks, sizeOf: (plain: number) => number}} sizeOf: of the file
 */
export function sealFor (recipients) {
  const fileKey = randomBytes(16)
  const nonce = randomBytes(NONCE)
  const header = `${AGE}v1\n${recipients.map(recipient => stanzaFor(recipient, fileKey)).join('')}---`
  const start = Buffer.concat([Buffer.from(`${header} ${base64(macOf(fileKey, header))}\n`), nonce])
  return { start, chunks: chunksOf(fileKey, nonce), sizeOf: plain => start.length + plain + Math.max(1, Math.ceil(plain / PLAIN)) * (SEALED - PLAIN) }
}

function stanzaFor ({ raw, key }, fileKey) {
  const own = generateKeyPairSync('x25519')
  const share = rawOf(own.publicKey)
  const shared = diffieHellman({ privateKey: own.privateKey, publicKey: key })
  return `-> X25519 ${base64(share)}\n${base64(encrypt(wrapKey(shared, share, raw), Buffer.alloc(12), fileKey))}\n`
}

/**
 * @param {Buffer} start of a file, MOST_HEADER bytes and more where it has as many
 * @param {import('./age-keys.js').Identity[]} identities
 * @returns {{length: number, chunks: Chunks}} length: of the header and the nonce; throws AgeError
 */
export function openWith (start, identities) {
  const { stanzas, mac, header } = parseHeader(start.toString('latin1', 0, MOST_HEADER))
  const fileKey = fileKeyOf(stanzas, identities)
  if (!timingSafeEqual(macOf(fileKey, header), mac)) throw new AgeError('its header is not what it was when it was encrypted')
  const at = header.length + 1 + base64(mac).length + 1
  const nonce = start.subarray(at, at + NONCE)
  if (nonce.length < NONCE) throw new AgeError('it is cut off')
  return { length: at + NONCE, chunks: chunksOf(fileKey, nonce) }
}

/** @param {string} text */
function parseHeader (text) {
  let at = 0
  const line = () => {
    const end = text.indexOf('\n', at)
    if (end < 0) throw new AgeError(text.length < MOST_HEADER ? 'it is cut off' : 'its header has no end')
    const found = text.slice(at, end)
    at = end + 1
    return found
  }
  if (line() !== `${AGE}v1`) throw new AgeError('it has another version of age than v1')
  const stanzas = /** @type {{args: string[], body: Buffer}[]} */ ([])
  for (;;) {
    const from = at
    const first = line()
    if (first.startsWith('--- ') && stanzas.length) return { stanzas, mac: bytesOf(first.slice(4), 32), header: text.slice(0, from + 3) }
    const args = first.split(' ')
    if (args.shift() !== '->' || !args.length || !args.every(arg => /^[!-~]+$/.test(arg))) throw new AgeError('its header is damaged')
    let body = ''
    for (;;) {
      const part = line()
      body += part
      if (part.length > 64) throw new AgeError('its header is damaged')
      if (part.length < 64) break
    }
    stanzas.push({ args, body: bytesOf(body) })
  }
}

/** @param {{args: string[], body: Buffer}[]} stanzas @param {import('./age-keys.js').Identity[]} identities */
function fileKeyOf (stanzas, identities) {
  const isPassphrase = stanzas.some(({ args: [kind] }) => kind === 'scrypt')
  if (isPassphrase && stanzas.length > 1) throw new AgeError('its header has a passphrase and other keys')
  for (const { args: [kind, ...args], body } of stanzas) {
    if (kind !== 'X25519') continue
    const share = bytesOf(args[0] ?? '', 32)
    if (args.length !== 1 || body.length !== 32) throw new AgeError('its header is damaged')
    for (const { key, raw } of identities) {
      const found = decrypt(wrapKey(agree(key, share), share, raw), Buffer.alloc(12), body)
      if (found) return found
    }
  }
  const kinds = [...new Set(stanzas.map(({ args: [kind] }) => kind))].filter(kind => kind !== 'X25519').map(kind => kind.slice(0, 30))
  const hint = kinds.length ? ` (it has keys of the kind ${kinds.slice(0, 5).join(', ')}, which the program \`age\` may open)` : ''
  throw new AgeError(`${identities.length ? 'for other keys than those that were named' : 'no key was named'}${hint}`, { locked: true })
}

function agree (privateKey, share) {
  try {
    return diffieHellman({ privateKey, publicKey: publicKeyOf(share) })
  } catch {
    throw new AgeError('its header has a key that is none') // a point of low order: the shared secret would be known to all
  }
}

const wrapKey = (shared, share, recipient) => hkdf(shared, Buffer.concat([share, recipient]), LABEL)
const hkdf = (secret, salt, info) => Buffer.from(hkdfSync('sha256', secret, salt, info, 32))
const macOf = (fileKey, header) => createHmac('sha256', hkdf(fileKey, '', 'header')).update(header, 'latin1').digest()
const base64 = bytes => bytes.toString('base64').replace(/=+$/, '')

/** Of base64 without padding, as an encoder writes it. */
function bytesOf (text, length) {
  const bytes = Buffer.from(text, 'base64')
  if (base64(bytes) !== text || (length !== undefined && bytes.length !== length)) throw new AgeError('its header is damaged')
  return bytes
}

/** @returns {Chunks} */
function chunksOf (fileKey, nonce) {
  const key = hkdf(fileKey, nonce, 'payload')
  const nonceOf = (index, isLast) => {
    const bytes = Buffer.alloc(12)
    bytes.writeUIntBE(index, 5, 6)
    bytes[11] = isLast ? 1 : 0
    return bytes
  }
  return {
    seal: (plain, index, isLast) => encrypt(key, nonceOf(index, isLast), plain),
    open (sealed, index, isLast) {
      const plain = decrypt(key, nonceOf(index, isLast), sealed)
      // only the whole may be empty
      if (!plain || (isLast && index && !plain.length)) throw new AgeError('it is cut off, or not what it was when it was encrypted')
      return plain
    }
  }
}

function encrypt (key, nonce, plain) {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: 16 })
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Nothing where it was not encrypted so. */
function decrypt (key, nonce, sealed) {
  if (sealed.length < 16) return undefined
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: 16 })
  cipher.setAuthTag(sealed.subarray(-16))
  try {
    return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
  } catch {
    return undefined
  }
}
