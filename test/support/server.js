// HTTP servers for tests, on free ports of this machine.
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

/**
 * A server of files that are there already, by name; the empty name is the page itself.
 * @param {Record<string, [string, string]>} files content type and text
 * @returns {Promise<{url: string, close: () => Promise<any>}>} url: with a slash at its end
 */
export async function servePages (files) {
  const { url: origin, close } = await startServer(({ url = '' }, response) => {
    const [type, content] = files[new URL(url, 'http://x').pathname.slice(1)] ?? []
    response.writeHead(type ? 200 : 404, { 'content-type': `${type}; charset=utf-8` }).end(content)
  })
  return { url: `${origin}/`, close }
}
