// What a load would do, for its dry run: reads which tiles the source has, and none of their bytes.
import { checkLayer, gridOf, layerId, now, selectorOf, startOf } from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { Georeference } from './georeference.js'
import { missingTiles } from './missing.js'

/**
 * @typedef {object} LoadPlan
 * @property {string} layer
 * @property {string} time of the edition
 * @property {boolean} isNew the layer does not exist yet
 * @property {string | null} before an edition of this time exists: what it was loaded from
 * @property {number} tiles
 * @property {{z: number, tiles: number}[]} zooms
 * @property {import('../../core/grid.js').Bbox | null} bounds
 * @property {string} [place] as people call it
 * @property {TilecouchError[]} [warnings] what looks wrong with where the tiles lie
 * @property {number | null} gone with `complete`: tiles of the layer that the source lacks; null while that is unknown
 */

/**
 * @param {import('../store/index.js').Store | undefined} store undefined: there is none yet
 * @param {import('./sources/index.js').Source} source
 * @param {Pick<import('./index.js').LoadOptions, 'layer' | 'time' | 'complete' | 'area' | 'zooms' | 'signal'>} options
 * @returns {Promise<LoadPlan>}
 */
export async function planLoad (store, source, { layer, time, complete, area: given, zooms, signal }) {
  checkLayer(layer)
  const when = time ? startOf(time) : source.time ?? now()
  const doc = await store?.couch.get(layerId(layer))
  const editions = doc ? await store?.editions(layer) ?? [] : []
  const hasOthers = editions.some(other => other.time !== when && other.finished)
  const grid = gridOf({ ...source.fields, ...doc })
  const area = given?.in(grid)
  const georeference = new Georeference(source, { grid, layerBounds: hasOthers ? doc.bounds : undefined })
  const { extent } = georeference
  const counts = new Map()
  for await (const { z, x, y, gone } of source.tiles()) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (!gone) extent.add(z, x, y)
    counts.set(z, (counts.get(z) ?? 0) + 1)
  }
  const byZoom = [...counts].sort(([a], [b]) => a - b).map(([z, tiles]) => ({ z, tiles }))
  const edition = await store?.edition(layer, when)
  const where = georeference.describe({})
  const warnings = georeference.warnings({ layer })
  return {
    layer,
    time: when,
    isNew: !doc,
    before: edition ? edition.source ?? '' : null,
    tiles: byZoom.reduce((sum, zoom) => sum + zoom.tiles, 0),
    zooms: byZoom,
    bounds: where?.bounds ?? null,
    ...(where && { place: where.place }),
    ...(warnings.length && { warnings }),
    gone: !complete || !store || !doc
      ? 0
      : await lost(store, source, { layer, area, zooms, signal }).catch(ignoring('INDEX_MISSING')) ?? null
  }
}

/** How many tiles of the layer the source lacks. */
async function lost (store, source, { layer, area, zooms, signal }) {
  const heads = store.list(layer, { signal }) // those that are not gone already
  const missing = missingTiles(heads, source, { layer, isSelected: selectorOf(area, zooms) })
  let number = 0
  while (!(await missing.next()).done) number++
  return number
}
