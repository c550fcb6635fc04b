/* global window -- of the page, in functions that run there */
import { mapContract } from '../support/client/map-contract.js'
import { maplibre } from '../support/client/maplibre-page.js'

/** @param {Record<string, any>} to */
const move = (page, to) => page.evaluate(camera => new Promise(resolve => {
  const { map } = window
  map.once('moveend', () => resolve(undefined)).easeTo({ ...camera, duration: 200 })
}), to)

mapContract({
  name: 'MapLibre',
  library: maplibre,
  isPixels: true,
  mapZoom: z => z - 1, // its own tiles have 512 pixels
  mapCenter: place => place,
  moveTo: (page, center) => move(page, { center }),
  zoomTo: (page, z) => move(page, { zoom: z - 1 }),
  remove: page => page.evaluate(() => { window.layer.remove() }),
  async add (page) {
    await page.evaluate(() => { window.layer.addTo(window.map) })
    // the layer's document is read first: until then the map has nothing to load, and is at rest
    await page.waitForFunction(() => window.map.getSource('steps'))
  }
})
