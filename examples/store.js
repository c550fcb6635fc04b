// Every example uses this: it finds the store and loads Leaflet and tilecouch from it. In a page of your own four lines of
// HTML do the same; docs/client.md has them.

/** The database: `?db=…` of the page's address, or the one that `npm start` opens. */
const db = (new URLSearchParams(location.search).get('db') ?? 'http://127.0.0.1:5984/tiles').replace(/\/+$/, '')

/** What the store serves beside its documents: tiles, the viewer, Leaflet and the library. */
const served = `${db}/_design/tiles/_rewrite/`

const load = (name, attributes) => new Promise((resolve, reject) => {
  const element = Object.assign(document.createElement(name), attributes, { onload: resolve, onerror: reject })
  document.head.append(element)
})

/** When the page may begin. Scripts run in the order in which they stand here. */
const ready = Promise.all([
  load('link', { rel: 'stylesheet', href: `${served}leaflet.css` }),
  load('link', { rel: 'stylesheet', href: `${served}tilecouch.css` }),
  load('script', { src: `${served}leaflet.js`, async: false }),
  load('script', { src: `${served}tilecouch.js`, async: false })
])

ready.catch(() => {
  const says = Object.assign(document.createElement('p'), { className: 'trouble', textContent: `There is no store at ${db}. Start one with “npm start”, or name yours: ?db=http://…/tiles` })
  document.querySelector('.card').append(says)
})
