// The embedded store that runs on a folder, found from its folder: where it listens, and as whom its owner may do everything there.
// Both stand in files that only their owner can read.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { readSmallFile } from './regular-file.js'
import { isHere } from './this-machine.js'

const MOST = 4096 // bytes of a file
const PASSWORD = /^[\w-]{16,200}$/

/** The name of the admin that a store makes for itself. */
export const ADMIN = 'admin'

/** Where its password stands. @param {string} dir */
export const passwordFile = dir => join(dir, 'password')

/** A file of the folder. A folder may have come with a project: no link leads to a file elsewhere. @param {string} file */
const read = file => String(readSmallFile(file, MOST, { links: false }))

/** The password of the folder's admin. @param {string} dir */
export function readPassword (dir) {
  const password = read(passwordFile(dir)).trim()
  if (!PASSWORD.test(password)) throw new Error('it holds no password')
  return password
}

/** What a server shows to who knows its secret, which is never sent. @param {string} secret @param {string} challenge */
export const proofOf = (secret, challenge) => createHmac('sha256', secret).update(challenge).digest('base64url')

/** @param {string} url @param {string} [password] none: nobody's */
export const asAdmin = (url, password) => password === undefined ? url : url.replace('//', `//${ADMIN}:${password}@`)

/**
 * The address of the server that runs on a folder and has an admin of its own, if it answers; with name and password.
 * @param {string} dir
 * @returns {Promise<string | null>}
 */
export async function findEmbedded (dir) {
  try {
    const { url: written, secret, hasAdmin } = JSON.parse(read(join(dir, 'server.json')))
    const { protocol, hostname, origin: url } = new URL(written)
    // without an admin of its own nothing here says as whom: the name of the environment is for the server that the operator named
    if (!hasAdmin || protocol !== 'http:' || !isHere(hostname)) return null
    const challenge = randomBytes(24).toString('base64url')
    const answer = await fetch(`${url}/?challenge=${challenge}`, { redirect: 'error', signal: AbortSignal.timeout(2000) })
    const { proof } = /** @type {any} */ (await answer.json())
    // another server may have the port by now, of somebody else who waits for a password
    const [given, wanted] = [Buffer.from(String(proof)), Buffer.from(proofOf(secret, challenge))]
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null
    return asAdmin(url, readPassword(dir))
  } catch {
    return null
  }
}
