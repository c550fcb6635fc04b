/* global window -- of the page, in functions that run there */
// Moves a map through places and times, and records what it shows.
import { draw, pictureAt, waitForRest } from '../client/maps.js'

/**
 * @param {import('playwright-core').Page} page
 * @param {string} layer
 * @param {object} where
 * @param {[number, number, number][]} where.places latitude, longitude and zoom
 * @param {string[]} where.times
 * @param {object} [options] of the layer
 * @returns {Promise<Record<string, Record<string, string>>>} place and time -> z/x/y -> what the map shows there
 */
export async function tour (page, layer, { places, times }, options = {}) {
  const pictures = {}
  // the layer moves a map whose zoom is too low; an animation of that move would end in the middle of the tour
  await draw(page, layer,
    { ...options, fadeAnimation: false, map: {
      center: places[0].slice(0, 2), zoom: places[0][2], fadeAnimation: false, zoomAnimation: false
    } })
  await waitForRest(page)
  for (const [lat, lng, zoom] of places) {
    await page.evaluate(([center, z]) => { window.map.setView(center, z, { animate: false }) }, [[lat, lng], zoom])
    for (const time of times) pictures[`${lat},${lng},${zoom} ${time}`] = await pictureAt(page, time)
  }
  return pictures
}
