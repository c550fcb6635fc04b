// The document of a layer, made or widened so that it says what its tiles are.
import { layerId, selector } from '../../core/index.js'
import { union, widen } from '../../core/store/extent.js'
import { fieldsOf } from '../resolve/content.js'
import { Report } from '../verify/report.js'
import { boundsOf } from '../verify/store/index.js'
import { checkLayerDocument } from '../verify/store/layer.js'

/**
 * @typedef {{reach: import('../verify/store/index.js').Reach, checked: {types: Record<string, number>}}} Found of the tiles of a layer
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {Found} found
 * @param {import('./mender.js').Mender} mender
 */
export async function mendLayer (store, layer, found, mender) {
  await mender.mendAll(['no-layer', 'outside-zooms', 'outside-bounds'], () => define(store, layer, found))
  await mender.mendAll(['bad-layer'], async () => {
    const done = await define(store, layer, found)
    if (done !== true) return done
    const report = new Report()
    await checkLayerDocument(store.couch, layer, report)
    return !report.kinds['bad-layer']
  })
}

/** @param {import('../store/index.js').Store} store @param {string} layer @param {Found} found */
async function define (store, layer, { reach, checked }) {
  const doc = await store.couch.get(layerId(layer))
  if (doc && (doc.type !== 'layer' || doc.layer !== layer)) {
    await store.couch.update(layerId(layer), stored => ({ ...fieldsOf(stored), type: 'layer', layer }))
  }
  const outside = doc ? reach.outside : await outsideOf(store, layer, reach.extent)
  try {
    await store.defineLayer(layer, ({ minzoom, maxzoom, bounds, ...fields }) => {
      const zooms = minzoom > maxzoom ? {} : { minzoom, maxzoom } // the wrong way round, neither says anything
      const { bounds: own, ...reached } = widen({ ...fields, ...zooms }, reach.extent, checked)
      // a layer that does not say how far it reaches shows everything
      return { ...reached, bounds: doc ? bounds && union(bounds, outside) : union(own, outside) }
    })
    return true
  } catch (error) {
    if (error.code !== 'BAD_LAYER_FIELD' && error.code !== 'BAD_DOCUMENT') throw error
    return `${error.message}: put it right with \`tilecouch layer ${layer}\``
  }
}

/** How far tiles reach that are not where the finest zoom is. @param {import('../store/index.js').Store} store @param {string} layer @param {import('../../core/store/extent.js').Extent} extent */
async function outsideOf (store, layer, extent) {
  if (!extent.zooms.size) return null
  const isWithin = selector({ bbox: extent.bounds })
  let outside = null
  for await (const tile of store.heads(layer)) if (!isWithin(tile.z, tile.x, tile.y)) outside = union(outside, boundsOf(tile))
  return outside
}
