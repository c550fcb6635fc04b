/* global SHELL, clients -- SHELL is written before this when it is composed: {version, files: name -> sha-256} */
// The service worker: keeps the viewer's own files, so that the page opens without a network. What a store holds never
// comes by here: tiles and documents on the device are PouchDB's.
import { languageOf } from './words/locale.js'

const worker = /** @type {any} */ (globalThis)
const { scope } = worker.registration
const TIMEOUT = 4000 // milliseconds until a network without an answer counts as away
const PAGE = 'index.html'
// not needed for the page to open, and as large as all the others: kept when the page has been open for a while, or at
// once where there is something on the device
const LATER = ['offline.js', 'take.js']
// kept when a page asks for it: larger than all of these, to draw a vector layer; or the words of another language than
// those of the browser
const ownWords = ['en', languageOf(worker.navigator.languages)].map(language => `words.${language}.json`)
const isOptional = name => name === 'vector.js' || (name.startsWith('words.') && !ownWords.includes(name))
// of a file, that matter to the page
const HEADERS = ['content-type', 'content-security-policy', 'x-content-type-options']

// of an origin, which may have several stores
const cacheOf = version => `tilecouch viewer ${scope} ${version}`
const addressOf = (name, version) => name === PAGE ? scope : `${scope}${name}?v=${version}`

worker.addEventListener('install', event => event.waitUntil(install()))
worker.addEventListener('activate', event => event.waitUntil(activate()))
worker.addEventListener('message', event => { if (event.data === 'rest') event.waitUntil(keepMore(LATER)) })
worker.addEventListener('fetch', event => {
  const answer = answerTo(event.request)
  if (answer) event.respondWith(answer)
})

async function keep (names) {
  const { version, files } = SHELL
  const cache = await caches.open(cacheOf(version))
  await Promise.all(names.map(async name => {
    const address = addressOf(name, version)
    if (!await cache.match(address)) await cache.put(address, await read(address, files[name]))
  }))
}

/** The files without which the page opens, too. A version that came meanwhile has others: then it keeps those. */
const keepMore = names => keep(names).catch(() => {})

// all of a version or none: its cache is not used before every file is there
async function install () {
  const { version, files } = SHELL
  try {
    await keep(Object.keys(files).filter(name => !LATER.includes(name) && !isOptional(name)))
  } catch (error) {
    await caches.delete(cacheOf(version))
    throw error // the browser tries again at the next visit
  }
  await worker.skipWaiting() // pages that are open keep their version, see answerTo
}

// a store may be deployed while it is read: what is not of this version is not cached
async function read (address, digest) {
  const response = await fetch(address, { cache: 'no-cache' })
  if (!response.ok || response.redirected) throw new Error(`${address}: ${response.status}`)
  const bytes = await response.arrayBuffer()
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const found = [...hash].map(byte => byte.toString(16).padStart(2, '0')).join('')
  if (found !== digest) throw new Error(`${address} is of another version`)
  return new Response(bytes, {
    headers: HEADERS.filter(name => response.headers.has(name)).map(name => [name, response.headers.get(name) ?? ''])
  })
}

async function activate () {
  const others = (await caches.keys()).filter(name => name.startsWith(cacheOf('')) && name !== cacheOf(SHELL.version))
  // the last one stays: pages that are still open with it may ask for more of it
  await Promise.all(others.slice(0, -1).map(name => caches.delete(name)))
  await clients.claim()
}

/** @returns {Promise<Response> | undefined} nothing for what is not the viewer's own */
function answerTo (request) {
  const { method, mode, url } = request
  if (method !== 'GET' || !url.startsWith(scope)) return
  const [rest] = url.slice(scope.length).split('#')
  if (mode === 'navigate') return /^(index\.html)?(\?|$)/.test(rest) ? page(request) : undefined
  // the address says which version the page is of: it never gets a file of another one
  const version = /^[\w.-]+\?v=([0-9a-f]{16})$/.exec(rest)?.[1]
  return version && file(request, version)
}

async function file (request, version) {
  const names = version === SHELL.version ? Object.keys(SHELL.files) : []
  await keepMore(names.filter(name => isOptional(name) && request.url === addressOf(name, version)))
  return await cached(request.url, version) ?? fetch(request)
}

// the network first: what comes is small, names its version, and so a new one shows at once
async function page (request) {
  const fromCache = () => cached(scope, SHELL.version)
  const late = new Promise(resolve => { setTimeout(resolve, TIMEOUT) }).then(fromCache)
  try {
    const asked = fetch(request)
    const answer = await Promise.race([asked, late]) ?? await asked
    return answer.status < 500 ? answer : await fromCache() ?? answer // a proxy whose server is away
  } catch (error) {
    const answer = await fromCache()
    if (answer) return answer
    throw error
  }
}

const cached = async (address, version) => await caches.has(cacheOf(version))
  ? (await caches.open(cacheOf(version))).match(address, { ignoreVary: true })
  : undefined
