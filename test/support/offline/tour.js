/* global window -- of the page, in functions that run there */
// A walk over a map in space and time, and what was to be seen.
import { at, draw, rest } from '../client/maps.js'

/**
 * @param {import('playwright-core').Page} page
 * @param {string} layer
 * @param {object} where
 * @param {[number, number, number][]} where.places latitude, longitude and zoom
 * @param {string[]} where.times
 * @param {object} [options] of the layer
 * @returns {Promise<Record<string, Record<string, string>>>} place and time -> z/x/y -> what is to be seen there
 */
export async function tour (page, layer, { places, times }, options = {}) {
  const seen = {}
  // a map below the zooms of a layer is moved to them; an animation would end somewhere in the middle of the walk
  await draw(page, layer,
    { ...options, fadeAnimation: false, map: {
      center: places[0].slice(0, 2), zoom: places[0][2], fadeAnimation: false, zoomAnimation: false
    } })
  await rest(page)
  for (const [lat, lng, zoom] of places) {
    await page.evaluate(([center, z]) => { window.map.setView(center, z, { animate: false }) }, [[lat, lng], zoom])
    for (const time of times) seen[`${lat},${lng},${zoom} ${time}`] = await at(page, time)
  }
  return seen
}
