// The embedded store that runs on a folder, found from its folder: where it listens, and as whom its owner may do everything there.
// Both stand in files that only their owner can read.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The name of the admin that a store makes for itself. */
export const ADMIN = 'admin'

/** Where its password stands. @param {string} dir */
export const passwordFile = dir => join(dir, 'password')

/** What a server shows to who knows its secret, which is never sent. @param {string} secret @param {string} challenge */
export const proofOf = (secret, challenge) => createHmac('sha256', secret).update(challenge).digest('base64url')

/** @param {string} url @param {string} [password] none: nobody's */
export const asAdmin = (url, password) => password === undefined ? url : url.replace('//', `//${ADMIN}:${password}@`)

/**
 * The address of the server that runs on a folder, if one answers; with name and password where it has an admin of its own.
 * @param {string} dir
 * @returns {Promise<string | null>}
 */
export async function findEmbedded (dir) {
  try {
    const { url, secret, hasAdmin } = JSON.parse(readFileSync(join(dir, 'server.json'), 'utf8'))
    const challenge = randomBytes(24).toString('base64url')
    const answer = await fetch(`${url}/?challenge=${challenge}`, { signal: AbortSignal.timeout(2000) })
    const { proof } = /** @type {any} */ (await answer.json())
    // another server may have the port by now, of somebody else who waits for a password
    const [given, wanted] = [Buffer.from(String(proof)), Buffer.from(proofOf(secret, challenge))]
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null
    return asAdmin(url, hasAdmin ? readFileSync(passwordFile(dir), 'utf8').trim() : undefined)
  } catch {
    return null
  }
}
