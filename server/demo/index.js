// The demo: small layers with a past, loaded once into an empty store. Two are images, one is vector tiles.
import { STORE_ID, addSeconds, now } from '../../core/index.js'
import { load } from '../../loader/index.js'
import { cities } from '../../loader/store/place/names.js'
import { ZOOMS, forgetBasemap } from './basemap.js'
import { DAY } from './daylight.js'
import { FIRST_YEAR, TOWN_BOUNDS, YEARS, townLayers, townSource } from './town.js'
import { daylightSource, landSource } from './tiles.js'

const world = { bounds: [-180, -85.0511287798066, 180, 85.0511287798066], center: [10, 25, 2] }
const attribution = 'Natural Earth, public domain'

export const layers = {
  land: { name: 'Land and borders', description: 'Land, ice and country borders of the world.', attribution, ...world },
  daylight: {
    name: 'Daylight', description: 'Day, twilight and night on 20 June 2024, hour by hour.', attribution, ...world
  },
  tilby: {
    name: 'Tilby, a town', description: 'A town that never was, and how it grew, year by year. Vector tiles.',
    bounds: TOWN_BOUNDS, center: [-30, 45, 13], vector_layers: townLayers
  }
}

/** About when Natural Earth 4.1, which world-atlas 2 is made from, was published. */
const SURVEYED = '2018-05-21T00:00:00Z'

/**
 * The editions of the demo, in the order they are loaded.
 * @param {{zooms?: import('../../core/grid.js').Zooms, hours?: number, years?: number}} [size]
 */
export function demoEditions ({ zooms = ZOOMS, hours = 24, years = YEARS } = {}) {
  return [
    { layer: 'land', time: SURVEYED, title: 'Natural Earth 4.1', open: () => landSource(zooms) },
    ...Array.from({ length: hours }, (_, hour) => {
      const time = addSeconds(DAY, hour * 3600)
      const before = hour ? addSeconds(time, -3600) : undefined
      const title = `${time.slice(11, 16)} UTC`
      return { layer: 'daylight', time, title, open: () => daylightSource(time, before, zooms) }
    }),
    ...Array.from({ length: years }, (_, index) => {
      const year = FIRST_YEAR + index
      return { layer: 'tilby', time: `${year}-12-31T00:00:00Z`, title: `Survey of ${year}`, open: () => townSource(year) }
    })
  ]
}

/**
 * Whether the demo belongs into a store: it is empty, or a load of the demo was interrupted. Other layers with the same
 * names stay as they are, and a demo that was removed does not come back.
 * @param {import('../../loader/index.js').Store} store
 */
export async function isDemoWanted (store) {
  const [marker, stored] = await Promise.all([store.couch.get(STORE_ID), store.layers()])
  if (marker?.demo) return false
  const isOurs = doc => Object.hasOwn(layers, doc.layer) && doc.description === layers[doc.layer].description
  const named = stored.filter(({ layer }) => Object.hasOwn(layers, layer))
  return named.length ? named.every(isOurs) : stored.length === 0
}

/**
 * Loads the demo, or the rest of it.
 * @param {import('../../loader/index.js').Store} store @param {object} [options]
 * @param {import('../../core/grid.js').Zooms} [options.zooms]
 * @param {number} [options.hours]
 * @param {number} [options.years]
 * @param {AbortSignal} [options.signal]
 * @param {(event: {layer: string, title: string, done: number, editions: number, tiles: number, bytes: number}) =>
 *   void} [options.onProgress] after every batch; tiles and bytes so far
 * @returns {Promise<{tiles: number, bytes: number, editions: number}>} what was written now
 */
export async function loadDemo (store, { zooms, hours, years, signal, onProgress } = {}) {
  const editions = demoEditions({ zooms, hours, years })
  const total = { tiles: 0, bytes: 0, editions: 0 }
  const stored = await Promise.all(Object.keys(layers).map(layer => store.editions(layer)))
  const finished = new Set(stored.flat().filter(one => one.finished).map(({ layer, time }) => `${layer}@${time}`))
  try {
    for (const [done, { layer, time, title, open }] of editions.entries()) {
      if (finished.has(`${layer}@${time}`)) continue
      const report = ({ tiles, bytes }) => onProgress?.({
        layer, title, done, editions: editions.length, tiles: total.tiles + tiles, bytes: total.bytes + bytes
      })
      report({ tiles: 0, bytes: 0 })
      const fields = layers[layer]
      const summary = await load(store, open(), { layer, time, title, fields, signal, onProgress: report })
      total.tiles += summary.tiles
      total.bytes += summary.bytes
      total.editions++
    }
    const places = cities.map(({ name, lon, lat }) => [name, lon, lat, ZOOMS.max])
    await store.couch.update(STORE_ID, doc => ({ ...doc, demo: now(), places: doc?.places ?? places }))
  } finally {
    forgetBasemap()
  }
  return total
}
