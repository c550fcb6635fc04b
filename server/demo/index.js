// The demo: small layers with a past, loaded once into an empty store. The viewer opens a town that grows over
// ninety years.
import { STORE_ID, addSeconds, now } from '../../core/index.js'
import { load } from '../../loader/index.js'
import { cities } from '../../loader/store/place/names.js'
import { ZOOMS, forgetBasemap } from './basemap.js'
import { DAY } from './daylight.js'
import { daylightSource, landSource } from './tiles.js'
import { townImageSource, townLayers, townVectorSource } from './town-tiles.js'
import { FIRST_YEAR, INTERVAL, SURVEYS, TOWN_BOUNDS } from './town.js'

const world = { bounds: [-180, -85.0511287798066, 180, 85.0511287798066], center: [10, 25, 2] }
const attribution = 'Natural Earth, public domain'

const town = { bounds: TOWN_BOUNDS, center: [-30, 45, 14] }

/** The layer that the viewer opens first. */
const FIRST_LAYER = 'tilby-map'

export const layers = {
  [FIRST_LAYER]: {
    name: 'Tilby, a growing town',
    description: 'A town that never was, surveyed every ten years from 1930 to 2020.',
    order: 1,
    ...town
  },
  daylight: {
    name: 'Daylight',
    description: 'Day, twilight and night on 20 June 2024, hour by hour.',
    order: 2,
    attribution,
    ...world
  },
  tilby: {
    name: 'Tilby, vector tiles',
    description: 'The same town with its streets, buildings and parks as features.',
    order: 3,
    vector_layers: townLayers,
    ...town
  },
  land: {
    name: 'Land and borders',
    description: 'Land, ice and country borders of the world.',
    order: 4,
    attribution,
    ...world
  }
}

/** About when Natural Earth 4.1, which world-atlas 2 is made from, was published. */
const SURVEYED = '2018-05-21T00:00:00Z'

/**
 * The editions of the demo, in the order they are loaded.
 * @typedef {{zooms?: import('../../core/grid.js').Zooms, hours?: number, surveys?: number}} Size surveys: of the town
 * @param {Size} [size]
 */
export function demoEditions ({ zooms = ZOOMS, hours = 24, surveys = SURVEYS } = {}) {
  const land = { layer: 'land', time: SURVEYED, title: 'Natural Earth 4.1', open: () => landSource(zooms) }
  const daylight = Array.from({ length: hours }, (_, hour) => {
    const time = addSeconds(DAY, hour * 3600)
    const before = hour ? addSeconds(time, -3600) : undefined
    const title = `${time.slice(11, 16)} UTC`
    return { layer: 'daylight', time, title, open: () => daylightSource(time, before, zooms) }
  })
  const years = Array.from({ length: surveys }, (_, index) => FIRST_YEAR + index * INTERVAL)
  const townEditions = (layer, sourceOf) => years.map(year =>
    ({ layer, time: `${year}-06-01T00:00:00Z`, title: `Survey of ${year}`, open: () => sourceOf(year) }))
  return [
    ...townEditions(FIRST_LAYER, townImageSource),
    land,
    ...daylight,
    ...townEditions('tilby', townVectorSource)
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
  const isOurs = ({ layer, description }) => description === layers[layer].description
  const demoLayers = stored.filter(({ layer }) => Object.hasOwn(layers, layer))
  return demoLayers.length ? demoLayers.every(isOurs) : stored.length === 0
}

/**
 * Loads the demo, or the editions that an interrupted load left out.
 * @typedef {{layer: string, title: string, done: number, editions: number, tiles: number, bytes: number}} Progress
 *   tiles, bytes: so far
 * @param {import('../../loader/index.js').Store} store
 * @param {Size & {signal?: AbortSignal, onProgress?: (event: Progress) => void,
 *   onFirstLayer?: () => Promise<void>}} [options] onProgress: after every batch; onFirstLayer: when the layer that the
 *   viewer opens is loaded; the other layers wait for it
 * @returns {Promise<{tiles: number, bytes: number, editions: number}>} the writes of this call
 */
export async function loadDemo (store, { signal, onProgress, onFirstLayer, ...size } = {}) {
  const editions = demoEditions(size)
  const total = { tiles: 0, bytes: 0, editions: 0 }
  const stored = await Promise.all(Object.keys(layers).map(layer => store.editions(layer)))
  const finished = new Set(stored.flat().filter(edition => edition.finished)
    .map(({ layer, time }) => `${layer}@${time}`))
  const firstCount = editions.filter(({ layer }) => layer === FIRST_LAYER).length
  try {
    for (const [done, { layer, time, title, open }] of editions.entries()) {
      if (done && done === firstCount) await onFirstLayer?.()
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
    const opens = editions.some(({ layer }) => layer === FIRST_LAYER) ? FIRST_LAYER : undefined
    const settings = { places, ...opens && { opens } }
    await store.couch.update(STORE_ID, doc => ({ ...settings, ...doc, demo: now() }))
  } finally {
    forgetBasemap()
  }
  return total
}
