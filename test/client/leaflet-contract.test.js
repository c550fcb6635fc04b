/* global window -- of the page, in functions that run there */
// Runs the contract of map libraries on Leaflet.
import { mapContract } from '../support/client/map-contract.js'

/** Moves the map with an animation, and waits for its end. */
const move = (page, change) => page.evaluate(([name, ...values]) => new Promise(resolve => {
  const { map } = window
  map.once('moveend', resolve)[name](...values)
}), change)

mapContract({
  name: 'Leaflet',
  isPixels: false,
  mapZoom: z => z,
  mapCenter: ([lng, lat]) => [lat, lng],
  moveTo: (page, [lng, lat]) => move(page, ['panTo', [lat, lng]]),
  async zoomTo (page, z) {
    await move(page, ['setZoom', z])
    await page.waitForFunction(zoom => window.layer._tileZoom === zoom, z)
  },
  remove: page => page.evaluate(() => { window.layer.remove() }),
  add: page => page.evaluate(() => { window.layer.addTo(window.map) })
})
