// Who may read. What only some may read at the source is not open to everybody at its mirror.
import { Couch } from '../store/couch.js'

const CLOSED = new Set(['UNAUTHORIZED', 'FORBIDDEN'])

/**
 * Whether everybody may read a store: asked without any name, and of its own rules where those are shown, since an embedded
 * store lets everybody in that reaches it.
 * @param {Couch} couch
 * @param {AbortSignal} [signal]
 */
export async function isPublic (couch, signal) {
  const { retries, firstDelay, longestDelay } = couch.options
  const anonymous = new Couch(couch.url, { retries, firstDelay, longestDelay, ambient: false })
  try {
    await anonymous.request({ signal })
  } catch (error) {
    if (CLOSED.has(error.code)) return false
    throw error
  }
  const { names, roles } = (await rulesOf(couch, signal))?.members ?? {}
  return !names?.length && !roles?.length
}

/** Nothing where they are not shown: a gateway keeps them to itself. */
async function rulesOf (couch, signal) {
  try {
    return await couch.find({ path: '_security', signal })
  } catch (error) {
    if (CLOSED.has(error.code) || error.details?.status === 405) return undefined
    throw error
  }
}
