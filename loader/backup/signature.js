// Signs backups and checks signatures (Ed25519). A signature is over the trailer, which has the SHA-256 of everything
// before it.
import { createHash, createPrivateKey, createPublicKey, sign as signWith, verify } from 'node:crypto'
import { TilecouchError } from '../errors.js'

const CONTEXT = Buffer.from('tilecouch backup 1, trailer\n') // so that a signature for another purpose does not fit
export const SIGNATURE = 64 // bytes

/** @typedef {{key: import('node:crypto').KeyObject, id: string}} PublicKey id: SHA-256 of the key, in hex */
/** @typedef {PublicKey & {secret: import('node:crypto').KeyObject}} Signer */

const idOf = key => createHash('sha256').update(key.export({ format: 'der', type: 'spki' })).digest('hex')

/** @param {string} pem of a private key @returns {Signer | undefined} undefined: not such a key */
export function parseSigner (pem) {
  return parse(() => {
    const secret = createPrivateKey(pem)
    const key = createPublicKey(secret)
    return { secret, key, id: idOf(key) }
  })
}

/** @param {string} pem of a public key @returns {PublicKey | undefined} undefined: not such a key */
export function parsePublicKey (pem) {
  return parse(() => {
    // a private key contains one, but should not travel
    if (!/^-----BEGIN PUBLIC KEY-----/m.test(pem)) throw new Error('no public key')
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

/** @param {Signer} signer @param {Uint8Array} trailer as bytes of the file */
export const sign = ({ secret }, trailer) => signWith(null, Buffer.concat([CONTEXT, trailer]), secret)

/**
 * Throws when none of them signed it.
 * @param {PublicKey[]} keys
 * @param {{signer: string | undefined, trailer: Uint8Array, signature: Uint8Array}} signed signer: the id in the
 *   trailer
 * @param {string} file
 */
export function checkSignature (keys, { signer, trailer, signature }, file) {
  if (signer === undefined) throw new TilecouchError('BACKUP_UNSIGNED', { file })
  const found = keys.find(({ id }) => id === signer)
  if (!found) throw new TilecouchError('BACKUP_FORGED', { file, why: `it is signed with another key, ${signer}` })
  if (!verify(null, Buffer.concat([CONTEXT, trailer]), found.key, signature)) {
    throw new TilecouchError('BACKUP_FORGED', { file, why: 'the signature does not fit the file' })
  }
}
