/* global SHELL, clients -- SHELL is written before this when it is composed: {version, files: name -> sha-256} */
// The service worker: caches the viewer's own files, so that the page opens without a network. It never caches content
// of the store: PouchDB keeps the tiles and documents on the device.
import { languageOf } from './words/locale.js'

const worker = /** @type {any} */ (globalThis)
const { scope } = worker.registration
const TIMEOUT = 4000 // milliseconds until a network without an answer counts as away
const PAGE = 'index.html'
// not needed to open the page, and as large as all other files: cached when the page has been open for a while, or at
// once if the device has areas
const LATER = ['offline.js', 'take.js']
// cached when a page requests it: the code for vector layers, which is larger than all other files, or the words of
// a language that the browser does not name
const ownWords = ['en', languageOf(worker.navigator.languages)].map(language => `words.${language}.json`)
const isOptional = name => name === 'vector.js' || (name.startsWith('words.') && !ownWords.includes(name))
// headers of a file that the page needs
const HEADERS = ['content-type', 'content-security-policy', 'x-content-type-options']

// the name contains the scope: an origin may have several stores
const cacheOf = version => `tilecouch viewer ${scope} ${version}`
const addressOf = (name, version) => name === PAGE ? scope : `${scope}${name}?v=${version}`

worker.addEventListener('install', event => event.waitUntil(install()))
worker.addEventListener('activate', event => event.waitUntil(activate()))
worker.addEventListener('message', event => { if (event.data === 'rest') event.waitUntil(keepMore(LATER)) })
worker.addEventListener('fetch', event => {
  const answer = answerTo(event.request)
  if (answer) event.respondWith(answer)
})

// Files that are being read, by address. Pages may ask for the same ones at the same time, and a worker with an open
// request is not replaced by the worker of a new version.
const reading = new Map()

async function keep (names) {
  const { version, files } = SHELL
  const cache = await caches.open(cacheOf(version))
  const keepFile = async (address, name) => {
    if (!await cache.match(address)) await cache.put(address, await read(address, files[name]))
  }
  await Promise.all(names.map(name => {
    const address = addressOf(name, version)
    if (!reading.has(address)) {
      reading.set(address, keepFile(address, name).finally(() => reading.delete(address)))
    }
    return reading.get(address)
  }))
}

/** Caches files that the page can open without. Fails silently if a newer version has replaced them. */
const keepMore = names => keep(names).catch(() => {})

// caches all files of a version or none: its cache is not used before it is complete
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

// a deployment may change files during the read: files of another version are not cached
async function read (address, digest) {
  const response = await fetch(address, { cache: 'no-cache' })
  if (!response.ok || response.redirected) throw new Error(`${address}: ${response.status}`)
  const bytes = await response.arrayBuffer()
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const actual = [...hash].map(byte => byte.toString(16).padStart(2, '0')).join('')
  if (actual !== digest) throw new Error(`${address} is of another version`)
  return new Response(bytes, {
    headers: HEADERS.filter(name => response.headers.has(name)).map(name => [name, response.headers.get(name) ?? ''])
  })
}

async function activate () {
  const stale = (await caches.keys()).filter(name => name.startsWith(cacheOf('')) && name !== cacheOf(SHELL.version))
  // the last one stays: open pages of that version may request more files
  await Promise.all(stale.slice(0, -1).map(name => caches.delete(name)))
  await clients.claim()
}

/** @returns {Promise<Response> | undefined} undefined for files that are not the viewer's own */
function answerTo (request) {
  const { method, mode, url } = request
  if (method !== 'GET' || !url.startsWith(scope)) return
  const [path] = url.slice(scope.length).split('#')
  if (mode === 'navigate') return /^(index\.html)?(\?|$)/.test(path) ? page(request) : undefined
  // the address names the version of the page, which never gets a file of another version
  const version = /^[\w.-]+\?v=([0-9a-f]{16})$/.exec(path)?.[1]
  return version && file(request, version)
}

async function file (request, version) {
  const names = version === SHELL.version ? Object.keys(SHELL.files) : []
  await keepMore(names.filter(name => isOptional(name) && request.url === addressOf(name, version)))
  return await cached(request.url, version) ?? fetch(request)
}

// the network first: the page is small, and a new version shows at once
async function page (request) {
  const fromCache = () => cached(scope, SHELL.version)
  const late = new Promise(resolve => { setTimeout(resolve, TIMEOUT) }).then(fromCache)
  try {
    const response = fetch(request)
    const answer = await Promise.race([response, late]) ?? await response
    return answer.status < 500 ? answer : await fromCache() ?? answer // a proxy cannot reach the server
  } catch (error) {
    const answer = await fromCache()
    if (answer) return answer
    throw error
  }
}

const cached = async (address, version) => await caches.has(cacheOf(version))
  ? (await caches.open(cacheOf(version))).match(address, { ignoreVary: true })
  : undefined
