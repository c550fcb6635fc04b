/* global window -- of the page, in functions that run there */
// Runs the contract of map libraries on MapLibre.
import { mapContract } from '../support/client/map-contract.js'
import { maplibre } from '../support/client/maplibre-page.js'

/** @param {Record<string, any>} options */
const move = (page, options) => page.evaluate(camera => new Promise(resolve => {
  const { map } = window
  map.once('moveend', () => resolve(undefined)).easeTo({ ...camera, duration: 200 })
}), options)

mapContract({
  name: 'MapLibre',
  library: maplibre,
  isPixels: true,
  mapZoom: z => z - 1, // its own tiles have 512 pixels
  mapCenter: place => place,
  moveTo: (page, center) => move(page, { center }),
  zoomTo: (page, z) => move(page, { zoom: z - 1 }),
  remove: page => page.evaluate(() => { window.layer.remove() }),
  add: page => page.evaluate(() => { window.layer.addTo(window.map) })
})
