// Areas of the map on a device, without Leaflet: everything that `import … from 'tilecouch-client/offline'` gives.
export { TilecouchError } from '../../core/index.js'
export { OfflineStore } from './offline-store.js'
export { registerProj4 } from '../../core/grids/index.js'
