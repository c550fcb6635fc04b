// A signal that follows another one and can be aborted alone, to stop requests whose answers are no longer needed. It
// needs Node, so it is not in core/promises.js.
import { setMaxListeners } from 'node:events'

/**
 * @param {AbortSignal} [signal]
 * @returns {{signal: AbortSignal, end: () => void}} signal: any number of requests may listen to it without a warning;
 *   end: must be called at the end, and stops requests in flight
 */
export function childSignal (signal) {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  const abort = () => stop.abort()
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return {
    signal: stop.signal,
    end () {
      signal?.removeEventListener('abort', abort)
      abort()
    }
  }
}
