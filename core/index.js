// Pure functions that every side uses: the browser, Node and the tests of what runs inside CouchDB.
export * from './errors.js'
export * from './ids.js'
export * from './times.js'
export * from './grid.js'
export * from './images.js'
export * from './versions.js'
export * from './layers.js'
export * from './upstream.js'
