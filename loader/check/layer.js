// Checks a layer of a store. Reads its documents once, in the order of their ids, and meanwhile their bytes and the
// time index.
import {
  RESERVED, checkLayer, editionId, endOf, examine, faultIn, isAhead,
  gridOf, layerDocument, layerId, parseArea, pastRange, selectorOf, styleId
} from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { styleKinds } from '../../core/store/records.js'
import { TilecouchError } from '../errors.js'
import { Extent, union, widen } from '../../core/store/extent.js'
import { LayerStatements } from '../../core/store/statements.js'
import { fieldsOf } from '../store/revisions.js'
import { BY_ZOOM } from '../store/count.js'
import { imageOf } from '../store/tile.js'
import { Report } from './files/report.js'
import { examineAll } from './files/tiles.js'
import { readBytes } from './bytes.js'
import { IndexCheck } from './indexes.js'
import { checkManifests } from './manifests.js'
import { checkDocument, Timelines, checkTimeline, shownAt, versionOf } from './tile.js'
import { walkDocuments } from './walk.js'

const TILE_SIZE = 256 // pixels, unless the layer says otherwise

/**
 * @typedef {object} LayerOptions
 * @property {import('./files/report.js').Report} report
 * @property {string} [time] decode only the versions that the layer showed at this time
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {boolean} [decode]
 * @property {AbortSignal} [signal]
 * @property {(id: string) => Promise<void>} [merge] merges the revisions of the layer document before its tiles are
 *   checked: the merged one has all times that a prune dropped
 * @property {() => Promise<void>} [afterPage] awaited after every page of documents
 * @property {(done: {tiles: number, bytes: number}) => void} [onProgress] tiles: versions whose bytes were read
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {LayerOptions} options
 */
export async function verifyLayer (store, layer, options) {
  const { time, area: selectedArea, zooms, decode, signal, report, merge, afterPage, onProgress } = options
  checkLayer(layer)
  const { couch } = store
  const asOfTime = time === undefined ? undefined : endOf(time)
  const isWhole = !selectedArea && !zooms
  const doc = await checkLayerDocument(couch, layer, { report, merge })
  const area = selectedArea?.in(gridOf(doc))
  const editions = await checkEditions(couch, layer, report)
  await checkStyles(couch, layer, report)
  const { faults } = report
  const walk = new LayerWalk({ couch, layer, doc, editions, area, zooms, asOfTime, signal, report, afterPage })
  const tileSize = doc?.tileSize ?? TILE_SIZE
  const content = await examineAll(readBytes(couch, walk.documentsToRead(), signal), {
    report, decode, tileSize, signal, onTile: onProgress
  })
  if (!doc && !walk.documents) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  if (!doc) report.add('no-layer', `layer:${layer}`)
  let manifests
  if (isWhole) {
    const why = await walk.index.compareLength()
    if (why) report.add('index-too-long', layer, why)
    const statements = new LayerStatements(couch, layer, signal)
    manifests = await checkManifests(statements, { editions, doc, report })
    // a mirror of a part has fewer versions than its editions counted
    if (!statements.limits.isPart) checkCounts(editions, walk.versionsAt, report, Boolean(doc?.pruned))
    if (report.faults === faults) for (const sum of await walk.index.compareSums()) report.add('wrong-sums', layer, sum)
  }
  return {
    tiles: walk.tiles,
    bytes: content.bytes,
    extent: walk.extent,
    outside: walk.outside,
    checked: {
      documents: walk.documents, gone: walk.gone, contents: content.tiles, decoded: content.decoded,
      editions: editions.length, index: walk.index.hasTimes, layer: Boolean(doc), types: content.types, ...manifests
    }
  }
}

/**
 * Counts the versions with bytes, for the progress. The number is unknown without views.
 * @param {import('../store/couch.js').Couch} couch
 * @param {{layers?: string[], zooms?: import('../../core/grid.js').Zooms, signal?: AbortSignal}} selection layers:
 *   all unless given
 * @returns {Promise<number | undefined>}
 */
export async function countContents (couch, { layers, zooms, signal }) {
  const [layer] = layers ?? []
  const range = layers?.length === 1 ? { startkey: [layer], endkey: [layer, {}] } : {}
  const rows = await couch.view(BY_ZOOM, { ...range, group_level: 3 }, signal).catch(ignoring('INDEX_MISSING'))
  const isCounted = ({ key: [name, z, kind] }) =>
    kind !== 'gone' && (layers?.includes(name) ?? true) && (!zooms || (z >= zooms.min && z <= zooms.max))
  return rows?.filter(isCounted).reduce((sum, { value: [{ count }] }) => sum + count, 0)
}

class LayerWalk {
  tiles = 0
  documents = 0
  gone = 0
  /** The extent of the tiles that exist now. */
  extent
  /** Bounds of the tiles outside of the bounds of the layer. @type {number[] | null} */
  outside = null
  #timelines = new Timelines()
  #options

  constructor (options) {
    const { couch, layer, doc, editions, signal } = options
    this.#options = options
    this.isInZooms = selectorOf(undefined, { min: doc?.minzoom ?? 0, max: doc?.maxzoom ?? 30 })
    const grid = this.grid = gridOf(doc)
    this.extent = new Extent(grid)
    this.isInBounds = selectorOf(doc?.bounds && parseArea({ bbox: doc.bounds, grid }))
    this.index = new IndexCheck(couch, layer, signal)
    /** Versions at the time of each edition. @type {Map<string, number>} */
    this.versionsAt = new Map(editions.map(edition => [edition.time, 0]))
  }

  /** Checks every document, and yields the documents whose bytes are to be read. */
  async * documentsToRead () {
    const { couch, layer, area, zooms, signal, report, asOfTime, afterPage } = this.#options
    await this.index.begin()
    for await (const page of walkDocuments(couch, layer, { area, zooms, signal })) {
      const tiles = page.map(doc => ({ doc, ...checkDocument(doc) }))
        .filter(({ address }) => !address || !area || area.has(address.z, address.x, address.y))
      // query the index while the bytes are read
      const compared = this.index.compare(tiles.map(({ doc }) => doc), (id, why) => report.add('not-in-index', id, why))
      compared.catch(() => {}) // an error is thrown where it is awaited
      for (const { doc, address, problems } of tiles) {
        this.documents++
        report.addAll(doc._id, problems)
        if (!address) continue
        this.index.add(doc)
        for (const tile of this.#timelines.add(address, doc)) yield * this.#checkTile(tile)
        if (asOfTime === undefined && imageOf(doc)) yield doc
      }
      await compared
      await afterPage?.()
    }
    for (const tile of this.#timelines.end()) yield * this.#checkTile(tile)
  }

  /** Checks a tile with all of its versions. With a time, yields the version that the tile shows as of it. */
  async * #checkTile (tile) {
    const { report, asOfTime } = this.#options
    this.tiles++
    const head = tile.versions.find(({ current }) => current)
    for (const { time, current, doc } of tile.versions) {
      if (doc.gone === true) this.gone++
      // a load that was killed leaves the head's version in the past as well: it counts once
      const count = this.versionsAt.get(time)
      if (count !== undefined && (current || time !== head?.time)) this.versionsAt.set(time, count + 1)
    }
    if (checkTimeline(tile).length) report.addAll(tile.id, await this.#checkAgain(tile.id))
    if (head && isAhead(head.time) && !this.versionsAt.has(head.time)) report.add('future-time', tile.id, head.time)
    if (head && head.digest !== null) this.#checkReach(tile)
    if (asOfTime === undefined) return
    const shownVersion = shownAt(tile, asOfTime)
    if (shownVersion && shownVersion.digest !== null) yield shownVersion.doc
  }

  #checkReach ({ id, z, x, y }) {
    const { report } = this.#options
    if (!this.grid.isWebMercator && !this.grid.has(z, x, y)) {
      return report.add('outside-pyramid', id, `not in ${this.grid.id}`)
    }
    this.extent.add(z, x, y)
    if (!this.isInZooms(z, x, y)) report.add('outside-zooms', id)
    if (this.isInBounds(z, x, y)) return
    report.add('outside-bounds', id)
    this.outside = union(this.outside, boundsOfTile(this.grid, z, x, y))
  }

  /**
   * Checks the versions of a tile again, since a running load moves heads to the past between two pages. The past is
   * read before the head, which can only become newer.
   */
  async #checkAgain (id) {
    const { couch, signal } = this.#options
    const [past, [head]] = await couch.ranges([
      { ...pastRange(id), include_docs: true },
      { keys: [id], include_docs: true }
    ], signal)
    const versions = past.filter(row => row.doc).map(({ doc }) => versionOf(doc, doc._id.slice(id.length + 1)))
    return checkTimeline({ versions: head?.doc ? [versionOf(head.doc), ...versions] : versions })
  }
}

/** The bounds of a tile, in the form of layer bounds. @param {import('../../core/grids/grid.js').Grid} grid */
function boundsOfTile (grid, z, x, y) {
  const [west, south, east, north] = grid.tileBounds(z, x, y)
  return [west, Math.max(south, -90), east, Math.min(north, 90)]
}

const COUNTS = ['tiles', 'created', 'advanced', 'backfilled', 'unchanged', 'failed', 'gone', 'bytes']

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {Pick<LayerOptions, 'report' | 'merge'>} options
 * @returns {Promise<Record<string, any> | undefined>} the valid fields of the layer's document
 */
async function checkLayerDocument (couch, layer, options) {
  const { report, merge } = options
  if (RESERVED.has(layer)) report.add('reserved-name', layerId(layer))
  const find = () => couch.find({ path: encodeURIComponent(layerId(layer)), qs: { conflicts: true } })
  let doc = await find()
  if (doc?._conflicts?.length) {
    report.add('conflict', doc._id, `${doc._rev} and ${doc._conflicts}`)
    await merge?.(doc._id)
    doc = await find()
  }
  if (!doc) return undefined
  const { _id, type, layer: name } = doc
  const reportFault = why => report.add('bad-layer', _id, why)
  if (type !== 'layer' || name !== layer) reportFault(`type ${JSON.stringify(type)}, layer ${JSON.stringify(name)}`)
  const { faults, valid } = examine({ ...doc, type: 'layer', layer })
  faults.forEach(reportFault)
  for (const field of ['grid', 'upstream', 'retention']) {
    try {
      layerDocument(layer, { [field]: valid[field] })
    } catch (error) {
      if (!(error instanceof TilecouchError)) throw error
      reportFault(error.message)
      if (field === 'grid') delete valid.grid // its tiles are then checked as those of Web Mercator
    }
  }
  return valid
}

/** @returns {Promise<any[]>} the valid editions */
async function checkEditions (couch, layer, report) {
  const start = editionId(layer, '')
  const rows = await couch.page({ startkey: start, endkey: `${start}~`, include_docs: true, conflicts: true })
  return rows.map(row => row.doc).filter(Boolean).filter(doc => {
    const { _id, _rev, _conflicts, time, tiles, source, finished, failed } = doc
    if (_conflicts?.length) report.add('conflict', _id, `${_rev} and ${_conflicts}`)
    const why = faultInEdition(doc)
    if (!why && isAhead(time)) report.add('future-time', _id)
    if (why) report.add('bad-edition', _id, why)
    else if (!finished) report.add('unfinished-edition', _id, source && `from ${source}`)
    else if (failed) report.add('failed-edition', _id, `${failed} of ${tiles} tiles`)
    return !why
  })
}

async function checkStyles (couch, layer, report) {
  const start = styleId(layer)
  const rows = await couch.page({ startkey: start, endkey: `${start}~`, include_docs: true, conflicts: true })
  for (const { doc } of rows) {
    if (!doc) continue
    const { _id, _rev, _conflicts } = doc
    if (_conflicts?.length) report.add('conflict', _id, `${_rev} and ${_conflicts}`)
    const why = faultIn(doc, styleKinds)
    if (why) report.add('bad-style', _id, why)
  }
}

function faultInEdition (doc) {
  const fault = doc.type === 'edition' ? faultIn(doc) : `type ${JSON.stringify(doc.type)}`
  if (fault) return fault
  if (COUNTS.some(field => doc[field] === undefined)) return undefined // from another program, or not finished
  const changed = doc.advanced + doc.backfilled
  const sum = doc.created + changed + doc.unchanged + doc.failed
  // a repeated load for the same time counts the writes of both
  if (sum < doc.tiles) return `${doc.tiles} tiles, but ${sum} new, changed, unchanged or failed`
  if (doc.gone > changed) return `${doc.gone} gone, but ${changed} changed`
}

/** Reports editions that wrote more versions than the store has. */
function checkCounts (editions, versionsAt, report, isPruned) {
  for (const { _id, time, finished, created = 0, advanced = 0, backfilled = 0, gone = 0 } of editions) {
    // a prune may have removed gone versions with nothing before them
    const writtenCount = created + advanced + backfilled - (isPruned ? gone : 0)
    const storedCount = versionsAt.get(time) ?? 0
    if (finished && storedCount < writtenCount) {
      report.add('short-edition', _id, `${writtenCount} written, ${storedCount} found`)
    }
  }
}

/**
 * Makes or widens the document of a layer so that it describes its tiles.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {Awaited<ReturnType<typeof verifyLayer>>} layerCheck
 * @param {import('./repairs.js').RepairQueue} queue
 */
export async function repairLayer (store, layer, layerCheck, queue) {
  await queue.repairAll(['no-layer', 'outside-zooms', 'outside-bounds'], () => fitDocument(store, layer, layerCheck))
  await queue.repairAll(['bad-layer'], async () => {
    const done = await fitDocument(store, layer, layerCheck)
    if (done !== true) return done
    const report = new Report()
    await checkLayerDocument(store.couch, layer, { report })
    return !report.kinds['bad-layer']
  })
}

async function fitDocument (store, layer, { extent, outside, checked }) {
  const doc = await store.couch.get(layerId(layer))
  if (doc && (doc.type !== 'layer' || doc.layer !== layer)) {
    await store.couch.update(layerId(layer), stored => ({ ...fieldsOf(stored), type: 'layer', layer }))
  }
  const outer = doc ? outside : await boundsBeyond(store, layer, extent)
  try {
    await store.defineLayer(layer, ({ minzoom, maxzoom, bounds, ...fields }) => {
      const zooms = minzoom > maxzoom ? {} : { minzoom, maxzoom } // swapped: both are ignored
      const { bounds: widenedBounds, ...widenedFields } = widen({ ...fields, ...zooms }, extent, checked)
      // a layer without bounds shows everything
      return { ...widenedFields, bounds: doc ? bounds && union(bounds, outer) : union(widenedBounds, outer) }
    })
    return true
  } catch (error) {
    if (error.code !== 'BAD_LAYER_FIELD' && error.code !== 'BAD_DOCUMENT') throw error
    return `${error.message}: correct it with \`tilecouch layer ${layer}\``
  }
}

/** The bounds of tiles outside of the extent, which is that of the finest zoom. */
async function boundsBeyond (store, layer, extent) {
  if (!extent.zooms.size) return null
  const { grid } = extent
  const isWithin = selectorOf(parseArea({ bbox: extent.bounds, grid }))
  let outside = null
  for await (const { z, x, y } of store.heads(layer)) {
    if (!isWithin(z, x, y)) outside = union(outside, boundsOfTile(grid, z, x, y))
  }
  return outside
}
