// Pages with a PouchDB, on an origin of their own: what they ask a store for is asked from elsewhere, as most pages do.
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { listening } from './listening.js'

const HTML = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Mirrors</title><link rel="icon" href="data:,"><script src="/page.js"></script></html>'
const entry = fileURLToPath(new URL('./mirror-page.js', import.meta.url))

let made

const script = async () => {
  made ??= build({ entryPoints: [entry], bundle: true, write: false, format: 'iife', logLevel: 'silent', define: { global: 'globalThis' } })
  return (await made).outputFiles[0].text
}

/** @returns {Promise<{url: string, close: () => Promise<void>}>} */
export async function serveMirrorPage () {
  const files = { '/': ['text/html', HTML], '/page.js': ['text/javascript', await script()] }
  const server = http.createServer(({ url = '' }, response) => {
    const [type, content] = files[url] ?? []
    response.writeHead(type ? 200 : 404, { 'content-type': `${type}; charset=utf-8` }).end(content)
  })
  return listening(server)
}
