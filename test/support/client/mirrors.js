// Pages with a PouchDB, on an origin of their own: what they ask a store for is asked from elsewhere, as most pages do.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { servePages } from '../server.js'

const HTML = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Mirrors</title><link rel="icon" ' +
  'href="data:,"><script src="/page.js"></script></html>'
const entry = fileURLToPath(new URL('./mirror-page.js', import.meta.url))

let made

/** PouchDB, and the mirror of the client library, as a page gets them. */
export const mirrorScript = async () => {
  made ??= build({ entryPoints: [entry], bundle: true, write: false, format: 'iife', logLevel: 'silent', define: {
    global: 'globalThis'
  } })
  return (await made).outputFiles[0].text
}

/** @returns {Promise<{url: string, close: () => Promise<void>}>} */
export const serveMirrorPage =
  async () => servePages({ '': ['text/html', HTML], 'page.js': ['text/javascript', await mirrorScript()] })
