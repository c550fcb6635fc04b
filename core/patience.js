// Waiting with an end. AbortSignal.any and AbortSignal.timeout say the same in one line, but Node 20 loses them in a garbage
// collection now and then, and what waits then waits for ever.

/**
 * @param {number} milliseconds
 * @param {AbortSignal} [signal] ends it as well
 * @returns {{signal: AbortSignal, isOver: boolean, renew: () => void, end: () => void}} isOver: the time ran out; renew: it begins anew; end: to be called when what was waited for is there
 */
export function patience (milliseconds, signal) {
  const stop = new AbortController()
  const abort = () => stop.abort()
  const start = () => setTimeout(() => {
    waiting.isOver = true
    abort()
  }, milliseconds)
  let timer = start()
  const waiting = {
    signal: stop.signal,
    isOver: false,
    renew () {
      clearTimeout(timer)
      timer = start()
    },
    end () {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return waiting
}
