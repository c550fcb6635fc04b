// For script tags: hangs the classes and factories on the global ol.
import * as client from './index.js'

/** @type {any} */ (globalThis).ol.couch = { ...client }
