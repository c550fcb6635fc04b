// The load generator: several threads of this process, each with its own clients.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export function startThreads (count, signal) {
  const workers = Array.from({ length: count }, () => new Worker(new URL('thread.js', import.meta.url)))
  return {
    /**
     * @param {any} contender
     * @param {any} part
     * @param {number} seconds at most
     * @returns {Promise<any[]>} one per thread
     */
    async run ({ name, opener, at }, part, seconds) {
      signal.throwIfAborted()
      return Promise.all(workers.slice(0, part.threads).map(async (worker, thread) => {
        const pendingAnswer = once(worker, 'message', { signal })
        worker.postMessage({ contender: { name, opener, at }, part: { ...part, thread }, seconds })
        const [{ done, failed }] = await pendingAnswer
        if (failed) throw new Error(failed)
        return done
      }))
    },
    /** Ends all threads at once, also during a call. */
    async close () {
      await Promise.all(workers.map(worker => worker.terminate()))
    }
  }
}
