/* global document -- of the page, in functions that run there */

/** Waits until every tile on the map has its image, of whichever layer. @param {import('playwright-core').Page} page */
export const drawn = page => page.waitForFunction(() => {
  const tiles = [...document.querySelectorAll('#map .leaflet-tile')]
  const images = tiles.flatMap(tile => tile.tagName === 'IMG' ? [tile] : [...tile.querySelectorAll('img')])
  return images.length >= 4 && tiles.every(tile => tile.classList.contains('leaflet-tile-loaded')) && images.every(image => /** @type {any} */ (image).naturalWidth > 0)
})
