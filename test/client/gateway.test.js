/* global window, document, L -- of the page, in functions that run there */
// Tests plain Leaflet on a gateway, from a page of another origin, with every kind of tile address.
import assert from 'node:assert/strict'
import { color, startWorld } from '../gateway/wmts/world.js'
import { onEachStore } from '../support/backends.js'
import { clientFiles } from '../support/client/client-page.js'
import { Pages } from '../support/client/pages.js'
import { servePages } from '../support/server.js'
import { openBrowser } from '../viewer/browser.js'

const HTML = '<!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="leaflet.css"><div ' +
  'id="map" style="position:absolute;inset:0"></div><script src="leaflet.js"></script>'

/** For each kind of address: the address, options of the layer, and the year that the map shows. */
const addresses = {
  'XYZ': ['world/{z}/{x}/{y}.png', {}, 2024],
  'XYZ as of a time': ['world@2023/{z}/{x}/{y}.png', {}, 2023],
  'WMTS': ['wmts/world/default/GoogleMapsCompatible/{z}/{y}/{x}.png', {}, 2024],
  'WMTS as of a time': ['wmts/world/default/2023/GoogleMapsCompatible/{z}/{y}/{x}.png', {}, 2023],
  'WMTS by KVP': [
    'wmts?service=WMTS&request=GetTile&version=1.0.0&layer=world&style=default&format=image/png&' +
      'tilematrixset=GoogleMapsCompatible&tilematrix={z}&tilerow={y}&tilecol={x}', {}, 2024
  ],
  'TMS': ['tms/1.0.0/world/{z}/{x}/{y}.png', { tms: true }, 2024],
  'quadkeys': ['quadkey/world/{key}.png', { quadkeys: true }, 2024]
}

onEachStore('Leaflet on a gateway', backend => {
  let world, pages, server

  before(async function () {
    pages = new Pages((await openBrowser(this, { webgl: false })).browser)
    world = await startWorld(await backend.database())
    server = await servePages({ ...await clientFiles(), '': ['text/html', HTML] })
  })
  afterEach(() => pages.leave())
  after(async () => {
    await server?.close()
    await world?.close()
  })

  for (const [name, [address, options, year]] of Object.entries(addresses)) {
    it(`draws every tile in its place without errors (${name})`, async () => {
      const page = await pages.open({ viewport: { width: 1024, height: 1024 } })
      await page.goto(server.url)
      await page.evaluate(([url, { quadkeys, ...layerOptions }]) => {
        const key = ({ x, y, z }) => Array.from({ length: z },
          (_, index) => (x >> (z - 1 - index) & 1) + 2 * (y >> (z - 1 - index) & 1)).join('')
        const map = L.map('map', { center: [0, 0], zoom: 2, fadeAnimation: false, zoomAnimation: false })
        window.layer = L.tileLayer(url,
          { crossOrigin: true, noWrap: true, maxZoom: 2, ...layerOptions, ...(quadkeys && { key }) }).addTo(map)
      }, [`${world.gateway.url}/${address}`, options])
      await page.waitForFunction(() => {
        const images = [...document.querySelectorAll('img.leaflet-tile')]
        return images.length === 16 && images.every(image => image.naturalWidth === 256)
      })
      const tiles = await page.evaluate(() => Object.values(window.layer._tiles).map(({ coords, el }) => {
        const pen = document.createElement('canvas').getContext('2d')
        pen.drawImage(el, 0, 0)
        return { x: coords.x, y: coords.y, rgb: [...pen.getImageData(100, 100, 1, 1).data].slice(0, 3) }
      }))
      assert.equal(tiles.length, 16)
      for (const { x, y, rgb } of tiles) assert.deepEqual(rgb, color(2, x, y, year), `${x}/${y}`)
    })
  }
})
