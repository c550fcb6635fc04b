// The port for monitoring of a gateway with several workers.
import { createServer } from 'node:http'
import { Registry } from 'prom-client'
import { TilecouchError } from '../../core/index.js'
import { SAFE } from './safe.js'

/**
 * @param {object} options
 * @param {number} options.port
 * @param {string} options.host
 * @param {() => Promise<string>} options.metrics
 * @param {() => Promise<{status: number, body: object}>} options.health
 * @returns {Promise<{url: string, close: () => Promise<void>}>}
 */
export async function openOps ({ port, host, metrics, health }) {
  const pages = {
    '/metrics': async () => ({ status: 200, type: Registry.PROMETHEUS_CONTENT_TYPE, text: await metrics() }),
    '/health': async () => {
      const { status, body } = await health()
      return { status, type: 'application/json', text: JSON.stringify(body) + '\n' }
    }
  }
  const server = createServer(async (req, res) => {
    const page = pages[req.url?.split('?')[0] ?? '']
    const { status, type, text } = await answer(page, req.method)
    res.writeHead(status, { ...SAFE, 'Content-Type': type, 'Content-Length': Buffer.byteLength(text), 'Cache-Control': 'no-store', ...(status === 405 && { Allow: 'GET, HEAD' }) })
    res.end(req.method === 'HEAD' ? undefined : text)
  })
  await new Promise((resolve, reject) => {
    server.once('error', error => reject(/** @type {any} */ (error).code === 'EADDRINUSE' ? new TilecouchError('PORT_IN_USE', { port }, { cause: error }) : error))
    server.listen(port, host, () => resolve(undefined))
  })
  const { port: actual } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}/`,
    async close () {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }
}

async function answer (page, method) {
  const json = error => ({ status: error.status, type: 'application/json', text: JSON.stringify(error.toJSON()) + '\n' })
  if (!page) return json(new TilecouchError('NOT_FOUND', { reason: 'here are /metrics and /health' }))
  if (method !== 'GET' && method !== 'HEAD') return json(new TilecouchError('READ_ONLY'))
  try {
    return await page()
  } catch (error) {
    return json(new TilecouchError('INTERNAL', { why: error.message }, { cause: error }))
  }
}
