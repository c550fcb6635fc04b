// Who made a backup: a signature (Ed25519) over its trailer, which has the SHA-256 of everything before it.
import { createHash, createPrivateKey, createPublicKey, sign as signWith, verify } from 'node:crypto'
import { TilecouchError } from '../../core/index.js'

const CONTEXT = Buffer.from('tilecouch backup 1, trailer\n') // nobody signs this for another purpose
export const SIGNATURE = 64 // bytes

/** @typedef {{key: import('node:crypto').KeyObject, id: string}} PublicKey id: SHA-256 of the key, in hex */
/** @typedef {PublicKey & {secret: import('node:crypto').KeyObject}} Signer */

const idOf = key => createHash('sha256').update(key.export({ format: 'der', type: 'spki' })).digest('hex')

/** @param {string} pem of a private key @returns {Signer | undefined} nothing: it is none */
export function parseSigner (pem) {
  return parse(() => {
    const secret = createPrivateKey(pem)
    const key = createPublicKey(secret)
    return { secret, key, id: idOf(key) }
  })
}

/** @param {string} pem of a public key @returns {PublicKey | undefined} nothing: it is none */
export function parsePublicKey (pem) {
  return parse(() => {
    if (!/^-----BEGIN PUBLIC KEY-----/m.test(pem)) throw new Error('no public key') // a private key has one as well, and should not travel
    const key = createPublicKey(pem)
    return { key, id: idOf(key) }
  })
}

function parse (read) {
  try {
    const found = read()
    return found.key.asymmetricKeyType === 'ed25519' ? found : undefined
  } catch {
    return undefined
  }
}

/** @param {Signer} signer @param {Uint8Array} trailer its bytes in the file */
export const sign = ({ secret }, trailer) => signWith(null, Buffer.concat([CONTEXT, trailer]), secret)

/**
 * Throws when none of them signed it.
 * @param {PublicKey[]} keys
 * @param {{signer: string | undefined, trailer: Uint8Array, signature: Uint8Array}} signed signer: the id that the trailer says
 * @param {string} file
 */
export function checkSignature (keys, { signer, trailer, signature }, file) {
  if (signer === undefined) throw new TilecouchError('BACKUP_UNSIGNED', { file })
  const found = keys.find(({ id }) => id === signer)
  if (!found) throw new TilecouchError('BACKUP_FORGED', { file, why: `it is signed with another key, ${signer}` })
  if (!verify(null, Buffer.concat([CONTEXT, trailer]), found.key, signature)) throw new TilecouchError('BACKUP_FORGED', { file, why: 'the signature is not of this file' })
}
