// An HTTP server for a test.
import { createServer } from 'node:http'

/** @param {import('node:http').RequestListener} handler */
export async function startServer (handler) {
  const server = createServer(handler)
  await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const close = () => new Promise(resolve => {
    server.close(() => resolve(undefined))
    server.closeAllConnections()
  })
  return { server, port, url: `http://127.0.0.1:${port}`, close }
}
