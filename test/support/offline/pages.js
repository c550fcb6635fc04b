// The page of an application that works offline: Leaflet, the client library as it is bundled, a PouchDB of its own,
// and a service worker that has nothing but these files.
import { clientFiles } from '../client/client-page.js'
import { mirrorScript } from '../client/mirrors.js'

const HTML = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Field</title><link rel="icon" ' +
  'href="data:,"><link rel="stylesheet" href="leaflet.css"><link rel="stylesheet" href="tilecouch.css">' +
  ('<style>html,body,#map{height:100%;margin:0}#map{background:#ddd}</style><div id="map"></div><script ' +
    'src="leaflet.js"></script><script src="pouchdb.js"></script><script src="tilecouch.js"></script>')

const WORKER = `const FILES = ['./', 'leaflet.js', 'leaflet.css', 'pouchdb.js', 'tilecouch.js', 'tilecouch.css']
const own = new Set(FILES.map(file => new URL(file, location.href).href))
const store = () => caches.open('page').then(cache => cache.addAll(FILES))
addEventListener('install', event => event.waitUntil(store().then(() => skipWaiting())))
addEventListener('activate', event => event.waitUntil(clients.claim()))
addEventListener('fetch', event => { if (own.has(event.request.url)) event.respondWith(caches.match(event.request)) })`

let files

/** By name: content type and text. @returns {Promise<Record<string, [string, string]>>} */
export function fieldFiles () {
  files ??= Promise.all([clientFiles(), mirrorScript()]).then(([client, pouch]) => ({
    ...client,
    '': ['text/html', HTML],
    'pouchdb.js': ['text/javascript', pouch],
    'sw.js': ['text/javascript', WORKER]
  }))
  return files
}
