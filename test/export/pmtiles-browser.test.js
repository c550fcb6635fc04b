/* global document -- of the page, in functions that run there */
// A map in a browser reads an exported archive by ranges, with the official plugin for Leaflet and a server that knows
// files only.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import sharp from 'sharp'
import { useFolder } from '../support/folder.js'
import { openBrowser, openPage } from '../viewer/browser.js'
import { tile, write } from './pmtiles-writing.js'
import { startServer } from '../support/server.js'

const packages = createRequire(import.meta.url)
const scripts = {
  '/leaflet.js': packages.resolve('leaflet/dist/leaflet.js'),
  '/leaflet.css': packages.resolve('leaflet/dist/leaflet.css'),
  '/pmtiles.js': path.join(path.dirname(packages.resolve('pmtiles/package.json')), 'dist/pmtiles.js')
}
const PAGE = `<!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="/leaflet.css">
<div id="map" style="width: 512px; height: 512px"></div>
<script src="/leaflet.js"></script><script src="/pmtiles.js"></script>
<script>
const map = L.map('map', { fadeAnimation: false }).setView([0, 0], 2)
pmtiles.leafletRasterLayer(new pmtiles.PMTiles('/map.pmtiles')).addTo(map)
</script>`

/** A server of files that answers ranges, and remembers which of the archive were asked for. */
async function serve (archive) {
  const ranges = /** @type {[number, number][]} */ ([])
  const { url, close } = await startServer((request, response) => {
    if (request.url === '/') return response.setHeader('content-type', 'text/html').end(PAGE)
    if (request.url !== '/map.pmtiles') {
      response.setHeader('content-type', request.url?.endsWith('.css') ? 'text/css' : 'text/javascript')
      return response.end(readFileSync(scripts[/** @type {string} */ (request.url)]))
    }
    const bytes = readFileSync(archive)
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')?.map(Number) ?? []
    const end = Math.min(last, bytes.length - 1)
    ranges.push([first, end])
    response.writeHead(206, { 'content-range': `bytes ${first}-${end}/${bytes.length}` })
      .end(bytes.subarray(first, end + 1))
  })
  return { url: `${url}/`, ranges, close }
}

describe('a map in a browser', function () {
  this.timeout(60000)
  const folder = useFolder()
  let browser
  before(async function () { browser = await openBrowser(this) })
  after(() => browser?.close())

  it('shows an exported PMTiles archive, and reads only the parts that it needs', async () => {
    const colours = Array.from({ length: 16 }, (_, index) => ({ r: index * 16, g: 255 - index * 16, b: 99 }))
    const tiles = await Promise.all(colours.map(async (background, index) => (
      tile(2, index >> 2, index & 3,
        await sharp({ create: { width: 256, height: 256, channels: 3, background } }).png().toBuffer()))))
    const deep = await sharp(
      { create: {
        width: 256, height: 256, channels: 3, background: 'red', noise: { type: 'gaussian', mean: 128, sigma: 60 }
      } }
    ).png().toBuffer()
    const { file, size } = await write(folder.dir, [...tiles, tile(3, 0, 0, deep)])
    const server = await serve(file)
    const { page, errors, close } = await openPage(browser)
    try {
      await page.goto(server.url)
      // the middle of the map is the corner of the four tiles in the middle
      await page.waitForFunction(() => [
        ...document.querySelectorAll('img.leaflet-tile-loaded')
      ].filter(image => /** @type {any} */ (image).naturalWidth === 256).length >= 4)
      const shot = await sharp(await page.locator('#map').screenshot()).removeAlpha().raw().toBuffer()
      for (const [left, top, x, y] of [[128, 128, 1, 1], [384, 128, 2, 1], [128, 384, 1, 2], [384, 384, 2, 2]]) {
        const { r, g, b } = colours[x * 4 + y]
        assert.deepEqual([...shot.subarray((top * 512 + left) * 3, (top * 512 + left) * 3 + 3)], [r, g, b], `${x}/${y}`)
      }
      assert.deepEqual(errors, [])
      assert.ok(size > 100000 && server.ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0) < size,
        'the deep tile was left where it is')
    } finally {
      await close()
      await server.close()
    }
  })
})
