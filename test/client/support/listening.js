// Servers of pages on a free port of this machine.
import http from 'node:http'

/** @param {import('node:http').Server} server @returns {Promise<{url: string, close: () => Promise<void>}>} */
export async function listening (server) {
  await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => new Promise(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  }
}

/**
 * A server of files that are there already, by name; the empty name is the page itself.
 * @param {Record<string, [string, string]>} files content type and text
 */
export const servePages = files => listening(http.createServer(({ url = '' }, response) => {
  const [type, content] = files[new URL(url, 'http://x').pathname.slice(1)] ?? []
  response.writeHead(type ? 200 : 404, { 'content-type': `${type}; charset=utf-8` }).end(content)
}))
