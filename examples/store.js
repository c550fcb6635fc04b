// Every example uses this: it finds the store and loads tilecouch from it, and Leaflet. In a page of your own four
// lines of HTML do the same; docs/client.md has them.

/** The database: `?db=…` of the page's address, or the one that `npm start` opens. */
const db = (new URLSearchParams(location.search).get('db') ?? 'http://127.0.0.1:5984/tiles').replace(/\/+$/, '')

/** What the store serves beside its documents: tiles, the viewer, Leaflet and the library. */
const served = `${db}/_design/tiles/_rewrite/`

const load = (name, attributes) => new Promise((resolve, reject) => {
  const element = Object.assign(document.createElement(name), attributes, { onload: resolve, onerror: reject })
  document.head.append(element)
})

/** What each map library needs of the store. Scripts run in the order in which they stand here. */
const parts = {
  leaflet: () => Promise.all([
    load('link', { rel: 'stylesheet', href: `${served}leaflet.css` }),
    load('script', { src: `${served}leaflet.js`, async: false }),
    load('script', { src: `${served}tilecouch.js`, async: false })
  ]),
  openlayers: () => Promise.all([
    load('link', { rel: 'stylesheet', href: 'https://unpkg.com/ol@10.11.0/ol.css' }),
    load('script', { src: 'https://unpkg.com/ol@10.11.0/dist/ol.js', async: false }),
    load('script', { src: `${served}tilecouch-openlayers.js`, async: false })
  ]),
  maplibre: () => import(`${served}tilecouch-maplibre.esm.js`)
}

/** When the page may begin; gives what the module of tilecouch exports. */
const ready = Promise.all([
  parts[document.currentScript.dataset.library ?? 'leaflet'](),
  load('link', { rel: 'stylesheet', href: `${served}tilecouch.css` })
]).then(([module]) => module)

ready.catch(() => {
  const textContent = `There is no store at ${db}. Start one with “npm start”, or name yours: ?db=http://…/tiles`
  const says = Object.assign(document.createElement('p'), { className: 'trouble', textContent })
  document.querySelector('.card').append(says)
})
