// What a gateway would be that asks CouchDB for one attachment at a time, without its own server: plain GETs by one
// Node process. The reference for tiles that are not in memory.
import { Agent, fetch, request } from 'undici'
import { percentiles } from '../measure.js'

/** Ways to ask: url and dispatcher -> status and body. */
export const CLIENTS = {
  'undici.request': async (url, dispatcher) => {
    const { statusCode, body } = await request(url, { dispatcher })
    return { status: statusCode, body: await body.arrayBuffer() }
  },
  fetch: async (url, dispatcher) => {
    const response = await fetch(url, { dispatcher })
    return { status: response.status, body: await response.arrayBuffer() }
  }
}

/** @param {keyof typeof CLIENTS} client @returns {Promise<import('../programs/wrk.js').Sample>} */
export async function runNodeClient (client, { url, paths, start = 0, length, connections, seconds, signal }) {
  const get = CLIENTS[client]
  const dispatcher = new Agent({ connections, pipelining: 1 })
  const times = []
  let next = start
  let bytes = 0
  const begin = performance.now()
  const until = begin + seconds * 1000
  try {
    await Promise.all(Array.from({ length: connections }, async () => {
      for (let now = performance.now(); now < until; now = performance.now()) {
        signal?.throwIfAborted()
        const { status, body } = await get(url + paths[next++ % paths.length], dispatcher)
        if (status !== 200 || body.byteLength !== length) {
          throw new Error(`${client}: ${status} with ${body.byteLength} bytes`)
        }
        bytes += body.byteLength
        times.push(performance.now() - now)
      }
    }))
  } finally {
    await dispatcher.destroy()
  }
  const { count: requests, p50, p90, p99, max } = percentiles(times)
  return {
    requests,
    bytes,
    seconds: (performance.now() - begin) / 1000,
    ms: { p50, p90, p99, max },
    errors: { connect: 0, read: 0, write: 0, timeout: 0, status: 0 }
  }
}
