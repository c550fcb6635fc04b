// Areas that several tests download, and checks of the answers to calls of their methods.
import assert from 'node:assert/strict'

export const WORLD_BOX = [-180, -85, 180, 85]
export const PLAIN = { name: 'Plain', layer: 'plain', bbox: WORLD_BOX, zooms: '0-5' }
export const SMALL = { name: 'Small', layer: 'small', bbox: WORLD_BOX, zooms: '0-4', history: true }

/**
 * Returns the result of a call of an area. Fails with the message of its error.
 * @param {Promise<{result?: any, message?: string}>} answer of `call` or `ended` of a page
 */
export async function resultOf (answer) {
  const { result, message } = await answer
  assert.ok(result, message)
  return result
}

/** Returns the status of an area after a download or a refresh. Fails unless the area is complete. */
export async function completed (answer) {
  const status = await resultOf(answer)
  assert.equal(status.state, 'complete', status.reason)
  return status
}

/** Fails if the bytes that were received differ from the estimate by more than a quarter and `slack` bytes. */
export function assertEstimated ({ bytes }, { transfer }, slack = 0) {
  assert.ok(Math.abs(bytes - transfer) <= transfer / 4 + slack, `${bytes} bytes of bodies, estimated ${transfer}`)
}
