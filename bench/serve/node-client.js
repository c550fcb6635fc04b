// Measures plain attachment GETs by one Node process: a gateway without its own server that requests one attachment at
// a time. This is the reference for tiles that are not in memory.
import { Agent, fetch, request } from 'undici'
import { percentiles } from '../measure.js'

/** Functions that send a request: url and dispatcher -> status and body. */
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
  let nextIndex = start
  let bytes = 0
  const runStart = performance.now()
  const deadline = runStart + seconds * 1000
  try {
    await Promise.all(Array.from({ length: connections }, async () => {
      for (let requestStart = performance.now(); requestStart < deadline; requestStart = performance.now()) {
        signal?.throwIfAborted()
        const { status, body } = await get(url + paths[nextIndex++ % paths.length], dispatcher)
        if (status !== 200 || body.byteLength !== length) {
          throw new Error(`${client}: ${status} with ${body.byteLength} bytes`)
        }
        bytes += body.byteLength
        times.push(performance.now() - requestStart)
      }
    }))
  } finally {
    await dispatcher.destroy()
  }
  const { count: requests, p50, p90, p99, max } = percentiles(times)
  return {
    requests,
    bytes,
    seconds: (performance.now() - runStart) / 1000,
    ms: { p50, p90, p99, max },
    errors: { connect: 0, read: 0, write: 0, timeout: 0, status: 0 }
  }
}
