// Plans a load for its dry run: lists the tiles of the source, without reading their bytes.
import { gridOf, layerId, now, selectorOf, startOf } from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { changedLayer } from '../store/layers.js'
import { withFields } from './edition-load.js'
import { Georeference } from './georeference.js'
import { missingTiles } from './missing.js'
import { checkLoad } from './source-checks.js'

/**
 * @typedef {object} LoadPlan
 * @property {string} layer
 * @property {string} time of the edition
 * @property {boolean} isNew the layer does not exist yet
 * @property {string | null} before source of an existing edition of this time
 * @property {number} tiles
 * @property {{z: number, tiles: number}[]} zooms
 * @property {import('../../core/grid.js').Bbox | null} bounds
 * @property {string} [place] as people call it
 * @property {TilecouchError[]} [warnings] about the place of the tiles
 * @property {number | null} gone with `complete`: tiles of the layer that the source lacks; null while that is unknown
 */

/**
 * @param {import('../store/index.js').Store | undefined} store undefined: there is none yet
 * @param {import('./sources/index.js').Source} source
 * @param {Pick<import('./index.js').LoadOptions, 'layer' | 'time' | 'complete' | 'area' | 'zooms' | 'signal'>} options
 * @returns {Promise<LoadPlan>}
 */
export async function planLoad (store, source, { layer, time, complete, area: areaOption, zooms, signal }) {
  await checkLoad(store, source, { layer, complete })
  const editionTime = time ? startOf(time) : source.time ?? now()
  const doc = await store?.couch.get(layerId(layer))
  const layerDoc = await changedLayer(store?.couch, layer, doc, stored => withFields(stored, source.fields))
  const editions = store && doc ? await store.editions(layer) : []
  const hasOthers = editions.some(edition => edition.time !== editionTime && edition.finished)
  const grid = gridOf(layerDoc)
  const area = areaOption?.in(grid)
  const georeference = new Georeference(source, { grid, layerBounds: hasOthers ? doc.bounds : undefined })
  const byZoom = await countByZoom(source, georeference.extent, signal)
  const edition = await store?.edition(layer, editionTime)
  const where = georeference.describe({})
  const warnings = georeference.warnings({ layer })
  return {
    layer,
    time: editionTime,
    isNew: !doc,
    before: edition ? edition.source ?? '' : null,
    tiles: byZoom.reduce((sum, zoom) => sum + zoom.tiles, 0),
    zooms: byZoom,
    bounds: where?.bounds ?? null,
    ...(where && { place: where.place }),
    ...(warnings.length && { warnings }),
    gone: !complete || !store || !doc
      ? 0
      : await countLacking(store, source, { layer, area, zooms, signal }).catch(ignoring('INDEX_MISSING')) ?? null
  }
}

/** Counts the tiles of the source by zoom, and extends an extent by those with an image. */
async function countByZoom (source, extent, signal) {
  const counts = new Map()
  for await (const { z, x, y, gone } of source.tiles()) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (!gone) extent.add(z, x, y)
    counts.set(z, (counts.get(z) ?? 0) + 1)
  }
  return [...counts].sort(([a], [b]) => a - b).map(([z, tiles]) => ({ z, tiles }))
}

/** Counts the tiles of the layer that the source lacks. */
async function countLacking (store, source, { layer, area, zooms, signal }) {
  const heads = store.list(layer, { signal }) // without tiles that are gone already
  const missing = missingTiles(heads, source, { layer, isSelected: selectorOf(area, zooms) })
  let count = 0
  while (!(await missing.next()).done) count++
  return count
}
