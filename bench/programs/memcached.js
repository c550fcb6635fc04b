// Runs memcached with enough memory for all values: no value is evicted during a measurement.
import { openMemcached } from '../clients/memcached.js'
import { freePort } from '../wait.js'
import { findProgram, outputOf, startProgram } from './program.js'

export const MISSING = 'not installed: apt-get install memcached (or MEMCACHED_BIN)'

export const findMemcached = (env = process.env) => findProgram(env.MEMCACHED_BIN, 'memcached', env)

const memcachedVersion = async bin => /memcached (\S+)/.exec(await outputOf(bin, ['--version']))?.[1] ?? 'unknown'

/** @param {string} bin @param {{memory?: number, root?: boolean, dir?: string}} [options] memory: megabytes at most */
export async function startMemcached (bin, { memory = 4096, root = process.getuid?.() === 0 } = {}) {
  const port = await freePort()
  const limits = ['-m', memory, '-M'] // -M: an error instead of a silent eviction
  const { pid, close } =
    await startProgram('memcached', bin,
      ['-l', '127.0.0.1', '-p', port, '-U', 0, ...limits, ...(root ? ['-u', 'root'] : [])], {
    ready: async () => {
      await (await openMemcached({ port })).close()
      return true
    }
  })
  return {
    port, pid, close, version: await memcachedVersion(bin), settings: `memcached ${limits.join(' ')}, 4 threads, TCP`
  }
}
