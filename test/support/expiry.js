// Helpers for tests of expiry: a published store, and tiles with different expiry times.
import { addSeconds } from '../../core/index.js'
import { useStore } from './store.js'
import { png } from './tiles.js'

export const T = '2024-03-01T00:00:00Z'
export const HOUR = 3600

/** The time some seconds after T. @param {number} seconds */
export const later = seconds => addSeconds(T, seconds)

/** @param {{database: () => Promise<string>}} backend */
export function useExpiry (backend) {
  const context = Object.assign(useStore(backend, { once: true, published: true }), {
    /** @param {number} x @param {Record<string, any>} [fields] @param {string} [layer] */
    tile: (x, { time = T, image = x, ...fields } = {}, layer = 'osm') => (
      { layer, z: 6, x, y: 0, time, ...(image === null ? { gone: true } : { bytes: png(image) }), ...fields }
    ),
    /** @param {any[]} tiles @param {string} [stored] */
    write: (tiles, stored = T) => context.store.write(tiles, { stored }),
    /**
     * Changes a document directly, as another program would.
     * @param {number} x
     * @param {Record<string, any>} fields
     */
    twist: (x, fields) => context.store.couch.update(`osm:6:${x}:0`, doc => ({ ...doc, ...fields })),
    /** The versions of a tile as texts such as `0 tile head 60`: times in seconds after T. @param {number} x */
    async history (x) {
      const versions = await context.store.versions('osm', 6, x, 0)
      return versions.map(
        ({ time, gone, current, expires }) => [(Date.parse(time) - Date.parse(T)) / 1000,
          gone ? 'gone' : 'tile', ...(current ? ['head'] : []),
          ...(current && expires ? [(Date.parse(expires) - Date.parse(T)) / 1000] : [])].join(' ')
      )
    }
  })
  return context
}
