// What the tests of expiry share: a published store, with tiles that differ in what they say of their end.
import { addSeconds } from '../../core/index.js'
import { useStore } from './store.js'
import { png } from './tiles.js'

export const T = '2024-03-01T00:00:00Z'
export const HOUR = 3600

/** So many seconds after T. @param {number} seconds */
export const at = seconds => addSeconds(T, seconds)

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
     * Changes a document behind everybody's back, as another program would.
     * @param {number} x
     * @param {Record<string, any>} fields
     */
    twist: (x, fields) => context.store.couch.update(`osm:6:${x}:0`, doc => ({ ...doc, ...fields })),
    /** The history of a tile, in words: `T+0 5`. @param {number} x */
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
