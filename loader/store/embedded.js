// Finds the embedded store that runs on a folder: its address, and the password of its admin. Both are in files that
// only the owner of the folder can read.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { readSmallFile } from '../formats/files.js'
import { isHere } from '../formats/system.js'

const MOST = 4096 // bytes of a file
const PASSWORD = /^[\w-]{16,200}$/

/** The name of the admin that an embedded store creates. */
export const ADMIN = 'admin'

/** The file with its password. */
export const passwordFile = dir => join(dir, 'password')

/** A file of the folder. The folder may come from a foreign project: links are refused. */
const read = file => String(readSmallFile(file, MOST, { links: false }))

/** The password of the folder's admin. */
export function readPassword (dir) {
  const password = read(passwordFile(dir)).trim()
  if (!PASSWORD.test(password)) throw new Error('it contains no password')
  return password
}

/** Proves that a server knows the secret, without sending it. */
export const proofOf = (secret, challenge) => createHmac('sha256', secret).update(challenge).digest('base64url')

/** Adds name and password of the admin to a URL. @param {string} [password] without it, no name is added */
export const asAdmin = (url, password) => password === undefined ? url : url.replace('//', `//${ADMIN}:${password}@`)

/**
 * The address of the server that runs on a folder and has an admin of its own, if it answers; with name and password.
 * @returns {Promise<string | null>}
 */
export async function findEmbedded (dir) {
  try {
    const { url: written, secret, hasAdmin } = JSON.parse(read(join(dir, 'server.json')))
    const { protocol, hostname, origin: url } = new URL(written)
    // without its own admin, the store has no name to use: the name in the environment belongs to another server
    if (!hasAdmin || protocol !== 'http:' || !isHere(hostname)) return null
    const challenge = randomBytes(24).toString('base64url')
    const signal = AbortSignal.timeout(2000)
    const answer = await fetch(`${url}/?challenge=${challenge}`, { redirect: 'error', signal })
    const { proof } = /** @type {any} */ (await answer.json())
    // a server of another user may have taken the port, to receive the password
    const [receivedProof, expectedProof] = [Buffer.from(String(proof)), Buffer.from(proofOf(secret, challenge))]
    if (receivedProof.length !== expectedProof.length || !timingSafeEqual(receivedProof, expectedProof)) return null
    return asAdmin(url, readPassword(dir))
  } catch {
    return null
  }
}
