/* global window -- of the page, in functions that run there */
// Runs the contract of map libraries on OpenLayers, drawn by canvas and by WebGL.
import { mapContract } from '../support/client/map-contract.js'
import { READING, move, openlayers } from '../support/client/openlayers-page.js'

const EDGE = 20037508.342789 // half of the world's width, in metres

/** Converts a place to whole metres of Web Mercator. */
const metres = ([lng, lat]) => [
  lng / 180 * EDGE, Math.log(Math.tan(Math.PI / 4 + lat * Math.PI / 360)) / Math.PI * EDGE
].map(Math.round)

for (const webgl of [false, true]) {
  mapContract({
    name: `OpenLayers (${webgl ? 'WebGL' : 'canvas'})`,
    library: openlayers,
    options: { webgl },
    console: [READING],
    isPixels: true,
    mapZoom: z => z,
    mapCenter: metres,
      moveTo: move,
    zoomTo: (page, zoom) => page.evaluate(z => new Promise(resolve => {
      const { map, expectFrame } = window
      expectFrame()
      map.getView().animate({ zoom: z, duration: 150 }, resolve)
    }), zoom),
    remove: page => page.evaluate(() => {
      const { map, olLayer } = window
      map.removeLayer(olLayer)
    }),
    add: page => page.evaluate(() => {
      const { map, olLayer, expectFrame } = window
      expectFrame()
      map.addLayer(olLayer)
    })
  })
}
