// Layers of vector tiles on the map: MapLibre draws them inside of Leaflet's map. A bundle of its own, which the page
// loads when the first such layer is opened.
import { setWorkerUrl } from 'maplibre-gl'
import worker from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker'

export { VectorPictures } from './pictures.js'
export { VectorLayer, readStyle } from './vector-layer.js'

setWorkerUrl(URL.createObjectURL(new Blob([worker], { type: 'text/javascript' })))
