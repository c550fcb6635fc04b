// Requests to the server in front of a store (../support/client/front.js): tests hold them back, or count open polls.
import { until } from '../../bench/wait.js'
import { createGate } from '../support/client/front.js'

/**
 * Holds back requests until `open` is called.
 * @param {any} front @param {(entry: import('../support/client/front.js').Entry) => boolean} isHeld
 * @param {number} [passing] number of such requests that pass first
 * @returns {{open: () => void, reached: () => Promise<boolean>}} reached: waits until a request is held back
 */
export function holdRequests (front, isHeld, passing = 0) {
  const barrier = createGate()
  let count = 0
  const removeRule = front.rule(entry => isHeld(entry) && ++count > passing ? barrier.opened : undefined)
  return {
    open () {
      removeRule()
      barrier.open()
    },
    reached: () => until(() => count > passing, { timeout: 30000, what: 'a request to hold back' })
  }
}

/** The number of long polls of the change feed that are open. */
export const openPolls = front =>
  front.requests('changes').filter(({ path, done }) => /longpoll/.test(path) && !done).length

/** The bytes of the bodies that were received. */
export const receivedBytes = entries => entries.reduce((sum, { bytes }) => sum + bytes.down, 0)
