/* global document -- of the page, in functions that run there */

/**
 * Waits until every tile of all layers on the map has its image. Maps on a canvas show it in their timeline.
 * @param {import('playwright-core').Page} page
 */
export const drawn = page => page.waitForFunction(() => {
  if (document.querySelector('#map canvas')) {
    const timeline = document.querySelector('.tilecouch-timeline')
    return timeline && !timeline.classList.contains('tilecouch-busy') &&
      timeline.querySelector('[aria-label="Time"]')?.getAttribute('aria-valuetext')
  }
  const tiles = [...document.querySelectorAll('#map .leaflet-tile')]
  const images = tiles.flatMap(tile => tile.tagName === 'IMG' ? [tile] : [...tile.querySelectorAll('img')])
  return images.length >= 4 && tiles.every(tile => tile.classList.contains('leaflet-tile-loaded')) &&
    images.every(image => /** @type {any} */ (image).naturalWidth > 0)
})
