// A server that has the examples, and nothing of the store. A real one on loopback: browsers keep pages of the internet
// away from a store on the same machine.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const folder = fileURLToPath(new URL('../../examples', import.meta.url))
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' }

export async function serveExamples () {
  /** More pages, by name. @type {Map<string, {html: string, headers?: Record<string, string>}>} */
  const pages = new Map()
  const server = createServer(async ({ url = '' }, response) => {
    const name = path.basename(new URL(url, 'http://x').pathname)
    const bytes = pages.get(name)?.html ?? await readFile(path.join(folder, name)).catch(() => null)
    response.writeHead(bytes ? 200 : 404, { 'Content-Type': types[path.extname(name)] ?? 'text/plain', ...pages.get(name)?.headers }).end(bytes ?? '')
  })
  await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return { url: `http://127.0.0.1:${port}`, pages, close: () => new Promise(resolve => { server.close(resolve); server.closeAllConnections() }) }
}
