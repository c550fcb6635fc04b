// Removing tiles, editions and layers, so that everybody who follows the store hears of it and nobody who loads loses by it.
export { removeDefaults } from './defaults.js'
export { removeLayer } from './layer.js'
export { Remover } from './remover.js'
export { removeEdition, removeTiles } from './tiles.js'
