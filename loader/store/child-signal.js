// A signal that follows another one and can be aborted alone: to stop requests whose answers are no longer needed. Any
// number of requests may listen to it without a warning.
import { setMaxListeners } from 'node:events'

/** @returns {{signal: AbortSignal, end: () => void}} end: to be called when all is done; stops what still goes on */
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
