// For script tags: adds the classes and factories to the global ol.
import * as client from './index.js'

/** @type {any} */ (globalThis).ol.couch = { ...client }
