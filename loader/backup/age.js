// Encrypts and opens files as the program age does (age-encryption.org/v1), with Node's own cryptography. A file has a
// header with its key, encrypted for each recipient, and chunks of 64 KiB, each encrypted and authenticated by itself,
// so that any part can be read alone. Keys are X25519 in Bech32: `age1…` encrypts, `AGE-SECRET-KEY-1…` opens.
import {
  createCipheriv, createDecipheriv, createHmac, createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync,
  hkdfSync, randomBytes, timingSafeEqual
} from 'node:crypto'

export const AGE = Buffer.from('age-encryption.org/')
export const PLAIN = 65536 // bytes of a chunk
export const SEALED = PLAIN + 16 // bytes of an encrypted chunk
export const NONCE = 16 // bytes after the header
export const MOST_HEADER = 65536 // bytes: each recipient costs time before anything is authenticated

const CIPHER = 'chacha20-poly1305'
const LABEL = 'age-encryption.org/v1/X25519'

const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l' // of Bech32
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const CHECKSUM = 6 // letters
const PUBLIC = Buffer.from('302a300506032b656e032100', 'hex') // DER before a key
const PRIVATE = Buffer.from('302e020100300506032b656e04220420', 'hex')

/**
 * @typedef {{raw: Buffer, key: import('node:crypto').KeyObject}} Recipient a public key: files are encrypted for it
 * @typedef {{raw: Buffer, key: import('node:crypto').KeyObject}} Identity a private key, which opens files; raw: of its
 *   public key
 */

/** Why a file cannot be opened. `locked`: it is encrypted for other keys. */
export class AgeError extends Error {
  constructor (why, { locked = false } = {}) {
    super(why)
    this.locked = locked
  }
}

/** @typedef {ReturnType<typeof chunksOf>} Chunks encrypts and opens the chunks of one file */

/** Starts a new file: its first bytes, what encrypts the rest, and its size. @param {Recipient[]} recipients */
export function sealFor (recipients) {
  const fileKey = randomBytes(16)
  const nonce = randomBytes(NONCE)
  const header = `${AGE}v1\n${recipients.map(recipient => stanzaFor(recipient, fileKey)).join('')}---`
  const start = Buffer.concat([Buffer.from(`${header} ${base64(macOf(fileKey, header))}\n`), nonce])
  const sizeOf = plain => start.length + plain + Math.max(1, Math.ceil(plain / PLAIN)) * (SEALED - PLAIN)
  return { start, chunks: chunksOf(fileKey, nonce), sizeOf }
}

function stanzaFor ({ raw, key }, fileKey) {
  const own = generateKeyPairSync('x25519')
  const share = rawOf(own.publicKey)
  const shared = diffieHellman({ privateKey: own.privateKey, publicKey: key })
  return `-> X25519 ${base64(share)}\n${base64(encrypt(wrapKey(shared, share, raw), Buffer.alloc(12), fileKey))}\n`
}

/**
 * Throws AgeError when none of the keys opens the file.
 * @param {Buffer} start of the file, MOST_HEADER bytes and more where it has as many
 * @param {Identity[]} identities
 * @returns {{length: number, chunks: Chunks}} length: of the header and the nonce
 */
export function openWith (start, identities) {
  const { stanzas, mac, header } = parseHeader(start.toString('latin1', 0, MOST_HEADER))
  const fileKey = fileKeyOf(stanzas, identities)
  if (!timingSafeEqual(macOf(fileKey, header), mac)) throw new AgeError('its header was changed after it was encrypted')
  const at = header.length + 1 + base64(mac).length + 1
  const nonce = start.subarray(at, at + NONCE)
  if (nonce.length < NONCE) throw new AgeError('it is cut off')
  return { length: at + NONCE, chunks: chunksOf(fileKey, nonce) }
}

function parseHeader (text) {
  let at = 0
  const line = () => {
    const end = text.indexOf('\n', at)
    if (end < 0) throw new AgeError(text.length < MOST_HEADER ? 'it is cut off' : 'its header has no end')
    const found = text.slice(at, end)
    at = end + 1
    return found
  }
  if (line() !== `${AGE}v1`) throw new AgeError('it is not of age v1')
  const stanzas = /** @type {{args: string[], body: Buffer}[]} */ ([])
  for (;;) {
    const from = at
    const first = line()
    if (first.startsWith('--- ') && stanzas.length) {
      return { stanzas, mac: bytesOf(first.slice(4), 32), header: text.slice(0, from + 3) }
    }
    const args = first.split(' ')
    if (args.shift() !== '->' || !args.length || !args.every(arg => /^[!-~]+$/.test(arg))) {
      throw new AgeError('its header is damaged')
    }
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

function fileKeyOf (stanzas, identities) {
  const isPassphrase = stanzas.some(({ args: [kind] }) => kind === 'scrypt')
  if (isPassphrase && stanzas.length > 1) throw new AgeError('its header has a passphrase and keys')
  for (const { args: [kind, ...args], body } of stanzas) {
    if (kind !== 'X25519') continue
    const share = bytesOf(args[0] ?? '', 32)
    if (args.length !== 1 || body.length !== 32) throw new AgeError('its header is damaged')
    for (const { key, raw } of identities) {
      const found = decrypt(wrapKey(agree(key, share), share, raw), Buffer.alloc(12), body)
      if (found) return found
    }
  }
  const kinds = new Set(stanzas.map(({ args: [kind] }) => kind.slice(0, 30)))
  kinds.delete('X25519')
  const some = [...kinds].slice(0, 5).join(', ')
  const hint = some && ` (the program \`age\` may open it with its keys of the kind ${some})`
  const why = identities.length ? 'it is encrypted for other keys than those given' : 'no key was given'
  throw new AgeError(why + hint, { locked: true })
}

function agree (privateKey, share) {
  try {
    return diffieHellman({ privateKey, publicKey: publicKeyOf(share) })
  } catch {
    throw new AgeError('its header has an invalid key') // a point of low order: everybody would know the shared secret
  }
}

const wrapKey = (shared, share, recipient) => hkdf(shared, Buffer.concat([share, recipient]), LABEL)
const hkdf = (secret, salt, info) => Buffer.from(hkdfSync('sha256', secret, salt, info, 32))
const macOf = (fileKey, header) => createHmac('sha256', hkdf(fileKey, '', 'header')).update(header, 'latin1').digest()
const base64 = bytes => bytes.toString('base64').replace(/=+$/, '')

/** Decodes base64 without padding; refuses other spellings of the same bytes. */
function bytesOf (text, length) {
  const bytes = Buffer.from(text, 'base64')
  if (base64(bytes) !== text || (length !== undefined && bytes.length !== length)) {
    throw new AgeError('its header is damaged')
  }
  return bytes
}

function chunksOf (fileKey, nonce) {
  const key = hkdf(fileKey, nonce, 'payload')
  const nonceOf = (index, isLast) => {
    const bytes = Buffer.alloc(12)
    bytes.writeUIntBE(index, 5, 6)
    bytes[11] = isLast ? 1 : 0
    return bytes
  }
  return {
    /** @param {Buffer} plain @param {number} index @param {boolean} isLast */
    seal: (plain, index, isLast) => encrypt(key, nonceOf(index, isLast), plain),
    /** @param {Buffer} sealed @param {number} index @param {boolean} isLast */
    open (sealed, index, isLast) {
      const plain = decrypt(key, nonceOf(index, isLast), sealed)
      // only a file without content has an empty chunk
      if (!plain || (isLast && index && !plain.length)) {
        throw new AgeError('it is cut off, or was changed after it was encrypted')
      }
      return plain
    }
  }
}

function encrypt (key, nonce, plain) {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: 16 })
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** @returns undefined when it was encrypted otherwise */
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

const publicKeyOf = raw => createPublicKey({ key: Buffer.concat([PUBLIC, raw]), format: 'der', type: 'spki' })

/** The 32 bytes of a public key. */
const rawOf = key => Buffer.from(/** @type {any} */ (key.export({ format: 'jwk' })).x, 'base64url')

/** @param {string} text @returns {Recipient | undefined} undefined: not such a key */
export function parseRecipient (text) {
  const raw = decode(text, 'age')
  return raw && { raw, key: publicKeyOf(raw) }
}

/** @param {string} text @returns {Identity | undefined} undefined: not such a key */
export function parseIdentity (text) {
  const secret = decode(text, 'age-secret-key-')
  if (!secret) return undefined
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE, secret]), format: 'der', type: 'pkcs8' })
  return { key, raw: rawOf(createPublicKey(key)) }
}

/** The 32 bytes of a text in Bech32 (BIP 173) with this prefix. */
function decode (text, prefix) {
  const lower = text.toLowerCase()
  if ((text !== lower && text !== text.toUpperCase()) || !lower.startsWith(`${prefix}1`)) return undefined
  const values = [...lower.slice(prefix.length + 1)].map(letter => LETTERS.indexOf(letter))
  if (values.includes(-1) || checksum(prefix, values) !== 1) return undefined
  let bits = 0
  let pending = 0
  const bytes = []
  for (const value of values.slice(0, -CHECKSUM)) {
    pending = (pending << 5 | value) & 0xfff
    bits += 5
    if (bits >= 8) bytes.push(pending >> (bits -= 8) & 0xff)
  }
  const rest = pending & (1 << bits) - 1
  return bytes.length === 32 && rest === 0 ? Buffer.from(bytes) : undefined
}

function checksum (prefix, values) {
  const codes = [...prefix].map(letter => letter.charCodeAt(0))
  let sum = 1
  for (const value of [...codes.map(code => code >> 5), 0, ...codes.map(code => code & 31), ...values]) {
    const top = sum >>> 25
    sum = (sum & 0x1ffffff) << 5 ^ value
    GENERATOR.forEach((part, bit) => { if (top >> bit & 1) sum ^= part })
  }
  return sum
}
