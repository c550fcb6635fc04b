// The client library: everything that `import … from 'tilecouch/client'` gives. Leaflet comes from the page's own bundle.
export { TilecouchError } from '../core/index.js'
