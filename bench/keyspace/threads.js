// The load generator: so many threads of this process, each with clients of its own.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export function startThreads (count, signal) {
  const workers = Array.from({ length: count }, () => new Worker(new URL('thread.js', import.meta.url)))
  return {
    /**
     * @param {any} contender
     * @param {any} part
     * @param {number} seconds at most
     * @returns {Promise<any[]>} one a thread
     */
    async run ({ name, opener, at }, part, seconds) {
      signal.throwIfAborted()
      return Promise.all(workers.slice(0, part.threads).map(async (worker, thread) => {
        const answer = once(worker, 'message', { signal })
        worker.postMessage({ contender: { name, opener, at }, part: { ...part, thread }, seconds })
        const [{ done, failed }] = await answer
        if (failed) throw new Error(failed)
        return done
      }))
    },
    /** Ends them, whatever they wait for. */
    async close () {
      await Promise.all(workers.map(worker => worker.terminate()))
    }
  }
}
