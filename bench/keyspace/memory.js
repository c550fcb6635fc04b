// How much memory each server takes with what it holds. A gateway says itself what that is.
import { usageOf } from '../usage.js'

/**
 * @param {import('./contenders.js').Contender[]} contenders
 * @param {Record<string, {held: number}>} spaces values that each holds
 * @returns {Promise<{name: string, values: number, rss: number | null, says: number, disk?: number, evictions?: number}[]>} bytes
 */
export async function memoryOf (contenders, spaces) {
  const servers = new Map(contenders.flatMap(({ servers: own, space }) => own.map(server => [server.name, { ...server, space }])))
  return Promise.all([...servers.values()].map(async ({ name, pid, memory, space }) => {
    const { bytes, ...others } = await memory()
    return { name, values: spaces[space].held, rss: pid ? (await usageOf(pid))?.rss ?? null : null, says: bytes, ...others }
  }))
}
