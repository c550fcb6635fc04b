// Layers of vector tiles: MapLibre draws them inside of Leaflet's map. This is a separate bundle, which the page loads
// when the first such layer is opened.
import { setWorkerUrl } from 'maplibre-gl'
import worker from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker'

export { VectorPictures } from './pictures.js'
export { VectorLayer, readStyle } from './vector-layer.js'

setWorkerUrl(URL.createObjectURL(new Blob([worker], { type: 'text/javascript' })))
