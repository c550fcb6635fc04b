// A server for the examples, without the store. It is a real one on loopback: browsers keep pages of the internet away
// from a store on the same machine.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../support/server.js'

export const folder = fileURLToPath(new URL('../../examples', import.meta.url))
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' }

export async function serveExamples () {
  /** More pages, by name. @type {Map<string, {html: string, headers?: Record<string, string>}>} */
  const pages = new Map()
  const { url: origin, close } = await startServer(async ({ url = '' }, response) => {
    const name = path.basename(new URL(url, 'http://x').pathname)
    const bytes = pages.get(name)?.html ?? await readFile(path.join(folder, name)).catch(() => null)
    response.writeHead(bytes ? 200 : 404,
      { 'Content-Type': types[path.extname(name)] ?? 'text/plain', ...pages.get(name)?.headers }).end(bytes ?? '')
  })
  return { url: origin, pages, close }
}

const LIBRARY = /^https:\/\/unpkg\.com\/([\w-]+)@([\d.]+)\/(.+)$/

/**
 * Serves libraries that examples load from a public server, from node_modules in the same version.
 * @param {import('playwright-core').Page} page
 */
export const serveLibraries = page => page.context().route(LIBRARY, async (route, request) => {
  const [, name, version, file] = /** @type {RegExpExecArray} */ (LIBRARY.exec(request.url()))
  const library = new URL(`../../node_modules/${name}/`, import.meta.url)
  const { version: installed } = JSON.parse(await readFile(new URL('package.json', library), 'utf8'))
  if (installed !== version) return route.fulfill({ status: 404, body: `${version}: ${installed} is installed` })
  await route.fulfill({ contentType: types[path.extname(file)] ??
    'text/javascript', headers: { 'access-control-allow-origin': '*' }, body: await readFile(new URL(file, library)) })
})
