// Keys of age, the program and format for encrypted files (age-encryption.org/v1): `age1…` is whom a file is encrypted for,
// `AGE-SECRET-KEY-1…` is who opens it. Both are 32 bytes of X25519 in Bech32.
import { createPrivateKey, createPublicKey } from 'node:crypto'

const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const CHECK = 6 // letters of the check sum
const [PUBLIC, PRIVATE] = ['302a300506032b656e032100', '302e020100300506032b656e04220420'].map(hex => Buffer.from(hex, 'hex')) // DER before the bytes of a key

/** Whom a file is encrypted for. @typedef {{raw: Buffer, key: import('node:crypto').KeyObject}} Recipient */
/** Who opens it. @typedef {{raw: Buffer, key: import('node:crypto').KeyObject}} Identity raw: of the public key */

/** @param {Buffer} raw 32 bytes */
export const publicKeyOf = raw => createPublicKey({ key: Buffer.concat([PUBLIC, raw]), format: 'der', type: 'spki' })

/** The 32 bytes of a public key. @param {import('node:crypto').KeyObject} key */
export const rawOf = key => Buffer.from(/** @type {any} */ (key.export({ format: 'jwk' })).x, 'base64url')

/** @param {string} text @returns {Recipient | undefined} nothing: it is no such key */
export function parseRecipient (text) {
  const raw = decode(text, 'age')
  return raw && { raw, key: publicKeyOf(raw) }
}

/** @param {string} text @returns {Identity | undefined} nothing: it is no such key */
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
  if (values.includes(-1) || checkSum(prefix, values) !== 1) return undefined
  let bits = 0
  let held = 0
  const bytes = []
  for (const value of values.slice(0, -CHECK)) {
    held = (held << 5 | value) & 0xfff
    bits += 5
    if (bits >= 8) bytes.push(held >> (bits -= 8) & 0xff)
  }
  const rest = held & (1 << bits) - 1
  return bytes.length === 32 && rest === 0 ? Buffer.from(bytes) : undefined
}

function checkSum (prefix, values) {
  const codes = [...prefix].map(letter => letter.charCodeAt(0))
  let sum = 1
  for (const value of [...codes.map(code => code >> 5), 0, ...codes.map(code => code & 31), ...values]) {
    const top = sum >>> 25
    sum = (sum & 0x1ffffff) << 5 ^ value
    GENERATOR.forEach((part, bit) => { if (top >> bit & 1) sum ^= part })
  }
  return sum
}
