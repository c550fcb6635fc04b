// Runs Redis with persistence: every write goes to its append-only file, which is synced once a second.
import { mkdir } from 'node:fs/promises'
import { openRedis } from '../clients/redis.js'
import { freePort } from '../wait.js'
import { findProgram, outputOf, startProgram } from './program.js'

export const MISSING = 'not installed: apt-get install redis-server (or REDIS_BIN)'

export const findRedis = (env = process.env) => findProgram(env.REDIS_BIN, 'redis-server', env)

const redisVersion = async bin => /v=(\S+)/.exec(await outputOf(bin, ['--version']))?.[1] ?? 'unknown'

const PERSISTENCE = '--appendonly yes --appendfsync everysec'

/** @param {string} bin @param {{dir: string, memory?: number}} options dir: for its files; memory: megabytes at most */
export async function startRedis (bin, { dir, memory = 4096 }) {
  await mkdir(dir, { recursive: true })
  const port = await freePort()
  const limits = `--maxmemory ${memory}mb --maxmemory-policy noeviction`
  const { pid, close } =
    await startProgram('Redis', bin,
      ['--bind', '127.0.0.1', '--port', port, '--dir', dir, '--save', '', ...`${PERSISTENCE} ${limits}`.split(' ')], {
    ready: async () => {
      await (await openRedis({ port })).close()
      return true
    }
  })
  return {
    port, pid, close, version: await redisVersion(bin), settings: `redis-server --save "" ${PERSISTENCE} ${limits}, TCP`
  }
}
