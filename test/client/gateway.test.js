/* global window, document, L -- of the page, in functions that run there */
// Plain Leaflet on a gateway, from a page of another origin, at every kind of address that a tile has.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { color, startWorld } from '../gateway/wmts/world.js'
import { onEachStore } from '../support/backends.js'
import { openBrowser, openPage } from '../viewer/browser.js'

const root = new URL('../../', import.meta.url)

onEachStore('Leaflet on a gateway', backend => {
  /** @type {Awaited<ReturnType<typeof startWorld>>} */
  let world
  before(async () => { world = await startWorld(await backend.database()) })
  after(() => world?.close())

  const HTML = '<!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="leaflet.css"><div ' +
    'id="map" style="position:absolute;inset:0"></div><script src="leaflet.js"></script>'
  const TYPES = { css: 'text/css', js: 'text/javascript' }
  let browser, pages

  // pages of another origin than the gateway's, as those of its users are
  before(async function () {
    browser = await openBrowser(this)
    pages = createServer(async ({ url }, res) => {
      const [, file, extension] = /^\/(leaflet\.(css|js))$/.exec(url) ?? []
      res.setHeader('Content-Type', TYPES[extension] ?? 'text/html')
      res.end(file ? await readFile(new URL(`node_modules/leaflet/dist/${file}`, root)) : HTML)
    })
    await new Promise(resolve => { pages.listen(0, '127.0.0.1', () => resolve(undefined)) })
  })
  after(async () => {
    await browser?.close()
    await new Promise(resolve => { pages ? pages.close(resolve) : resolve(undefined) })
  })

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
  for (const [name, [address, options, year]] of Object.entries(addresses)) {
    it(`draws every tile in its place without errors (${name})`, async () => {
      const { page, errors, close } = await openPage(browser, { viewport: { width: 1024, height: 1024 } })
      try {
        await page.goto(`http://127.0.0.1:${pages.address().port}/`)
        await page.evaluate(([url, { quadkeys, ...given }]) => {
          const key = ({ x, y, z }) => Array.from({ length: z },
            (_, index) => (x >> (z - 1 - index) & 1) + 2 * (y >> (z - 1 - index) & 1)).join('')
          const map = L.map('map', { center: [0, 0], zoom: 2, fadeAnimation: false, zoomAnimation: false })
          const layer = L.tileLayer(url,
            { crossOrigin: true, noWrap: true, maxZoom: 2, ...given, ...(quadkeys && { key }) }).addTo(map)
          Object.assign(window, { layer })
        }, [`${world.gateway.url}/${address}`, options])
        await page.waitForFunction(() => {
          const images = [...document.querySelectorAll('img.leaflet-tile')]
          return images.length === 16 && images.every(image => /** @type {any} */ (image).naturalWidth === 256)
        })
        const seen =
          await page.evaluate(() => Object.values(/** @type {any} */ (window).layer._tiles).map(({ coords, el }) => {
          const canvas = document.createElement('canvas')
          const pen = /** @type {any} */ (canvas.getContext('2d'))
          pen.drawImage(el, 0, 0)
          return { x: coords.x, y: coords.y, rgb: [...pen.getImageData(100, 100, 1, 1).data].slice(0, 3) }
        }))
        assert.equal(seen.length, 16)
        for (const { x, y, rgb } of seen) {
          assert.deepEqual(rgb, color(2, x, y, /** @type {number} */ (year)), `${x}/${y}`)
        }
        assert.deepEqual(errors, [])
      } finally {
        await close()
      }
    })
  }
})
