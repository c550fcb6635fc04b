// A layer of a store: its documents in one walk over the primary index, their bytes behind it, the time index beside it.
import {
  checkLayer, endOf, isAhead, pastRange, selector, tileBounds, RESERVED, editionId, examine, faultIn, layerDocument, layerId
} from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { Extent, union, widen } from '../../core/store/extent.js'
import { fieldsOf } from '../store/revisions.js'
import { BY_ZOOM } from '../store/stats.js'
import { Report } from '../verify/report.js'
import { examineAll } from '../verify/tiles.js'
import { readBytes } from './bytes.js'
import { ByTile, Sums } from './indexes.js'
import { checkManifests } from './manifests.js'
import { checkDocument, Timelines, checkTimeline, shownAt, versionOf } from './tile.js'
import { walkDocuments } from './walk.js'

const TILE_SIZE = 256 // pixels, unless the layer says otherwise

/**
 * @typedef {import('./walk.js').Part & {time?: string, decode?: boolean, signal?: AbortSignal, between?: () => Promise<void>}} LayerOptions time: only what the layer showed then is decoded; between: waited for after every page of documents
 *
 * @typedef {{extent: Extent, outside: number[] | null}} Reach outside: the box of the tiles that lie outside of the bounds of the layer
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {LayerOptions & {report: import('../verify/report.js').Report, onProgress?: (done: {tiles: number, bytes: number, total?: number}) => void}} options
 */
export async function verifyLayer (store, layer, { time, area, zooms, decode, signal, report, between, onProgress }) {
  checkLayer(layer)
  const { couch } = store
  const asOfTime = time === undefined ? undefined : endOf(time)
  const doc = await checkLayerDocument(couch, layer, report)
  const editions = await checkEditions(couch, layer, report)
  const total = area || asOfTime ? undefined : await totalOf(couch, layer, zooms, signal)
  const sums = area || zooms ? undefined : new Sums(couch, layer, signal)
  const { faults } = report
  const manifests = {}
  const walk = new LayerWalk({ couch, layer, doc, editions, area, zooms, asOfTime, signal, report, sums, between })
  const content = await examineAll(readBytes(couch, walk.wanted(), signal), {
    report, decode, tileSize: doc?.tileSize ?? TILE_SIZE, signal, onTile: done => onProgress?.({ ...done, total })
  })
  if (!doc && !walk.documents) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  if (!doc) report.add('no-layer', `layer:${layer}`)
  if (!area && !zooms) {
    checkCounts(editions, walk.versionsAt, report, Boolean(doc?.pruned))
    const why = await walk.index.count()
    if (why) report.add('index-too-long', layer, why)
    Object.assign(manifests, await checkManifests(couch, layer, { editions, doc, report, signal }))
    if (report.faults === faults) await sums?.compare((view, how) => report.add('wrong-sums', layer, `${view.replace(/^_design\/|_view\//g, '')}: ${how}`))
  }
  return {
    tiles: walk.tiles,
    bytes: content.bytes,
    reach: walk.reach,
    checked: {
      documents: walk.documents, gone: walk.gone, contents: content.tiles, decoded: content.decoded, editions: editions.length,
      index: walk.index.isThere, layer: Boolean(doc), types: content.types, ...manifests
    }
  }
}

/** How many versions have bytes, for the progress; a store without views does not say. */
async function totalOf (couch, layer, zooms, signal) {
  try {
    const rows = await couch.view(BY_ZOOM, { startkey: [layer], endkey: [layer, {}], group_level: 3 }, signal)
    return rows.filter(({ key: [, z, kind] }) => kind !== 'gone' && (!zooms || (z >= zooms.min && z <= zooms.max)))
      .reduce((sum, { value: [{ count }] }) => sum + count, 0)
  } catch (error) {
    if (error.code !== 'INDEX_MISSING') throw error
  }
}

/** The documents of a layer as they pass. */
class LayerWalk {
  #part
  #couch
  #layer
  #report
  #signal
  #asOfTime
  #isInside
  #isWithin
  #timelines = new Timelines()
  #sums
  #between

  constructor ({ couch, layer, doc, editions, area, zooms, asOfTime, signal, report, sums, between }) {
    this.#couch = couch
    this.#layer = layer
    this.#part = { area, zooms, signal }
    this.#asOfTime = asOfTime
    this.#signal = signal
    this.#report = report
    this.#isInside = selector({ zooms: { min: doc?.minzoom ?? 0, max: doc?.maxzoom ?? 30 } })
    this.#isWithin = doc?.bounds ? selector({ bbox: doc.bounds }) : () => true
    this.#sums = sums
    this.#between = between
    this.index = new ByTile(couch, layer, signal)
    /** How far the tiles reach that exist now. @type {Reach} */
    this.reach = { extent: new Extent(), outside: null }
    this.tiles = 0
    this.documents = 0
    this.gone = 0
    /** @type {Map<string, number>} time of an edition -> versions of it */
    this.versionsAt = new Map(editions.map(edition => [edition.time, 0]))
  }

  /** The documents whose bytes are to be read, as everything else about them is looked at. */
  async * wanted () {
    await this.#sums?.begin()
    for await (const page of walkDocuments(this.#couch, this.#layer, this.#part)) {
      const tiles = page.map(doc => ({ doc, ...checkDocument(doc) })).filter(({ address }) => !address || !this.#part.area || this.#part.area.has(address.z, address.x, address.y))
      // the index is asked while the bytes are read
      const compared = this.index.compare(tiles.map(({ doc }) => doc), (id, why) => this.#report.add('not-in-index', id, why))
      compared.catch(() => {}) // met when it is waited for
      for (const { doc, address, problems } of tiles) {
        this.documents++
        this.#report.addAll(doc._id, problems)
        if (!address) continue
        this.#sums?.add(doc)
        for (const tile of this.#timelines.add(address, doc)) yield * this.#whole(tile)
        if (this.#asOfTime === undefined && doc._attachments?.tile) yield doc
      }
      await compared
      await this.#between?.()
    }
    for (const tile of this.#timelines.end()) yield * this.#whole(tile)
  }

  async * #whole (tile) {
    this.tiles++
    const head = tile.versions.find(({ current }) => current)
    for (const { time, current, doc } of tile.versions) {
      if (doc.gone === true) this.gone++
      // a load that was killed leaves the head's version in the past as well: one version
      if (this.versionsAt.has(time) && (current || time !== head?.time)) this.versionsAt.set(time, (this.versionsAt.get(time) ?? 0) + 1)
    }
    if (checkTimeline(tile).length) this.#report.addAll(tile.id, await this.#confirm(tile))
    if (head && isAhead(head.time) && !this.versionsAt.has(head.time)) this.#report.add('future-time', tile.id, head.time)
    if (head && head.digest !== null) {
      if (!this.#isInside(tile.z, tile.x, tile.y)) this.#report.add('outside-zooms', tile.id)
      this.reach.extent.add(tile.z, tile.x, tile.y)
      if (!this.#isWithin(tile.z, tile.x, tile.y)) {
        this.#report.add('outside-bounds', tile.id)
        this.reach.outside = union(this.reach.outside, boundsOf(tile))
      }
    }
    if (this.#asOfTime === undefined) return
    const shown = shownAt(tile, this.#asOfTime)
    if (shown && shown.digest !== null) yield shown.doc
  }

  // A load that goes on meanwhile moves heads to the past between two pages: what is wrong must be so at one moment. The
  // past is read before the head, which only ever becomes newer.
  async #confirm ({ id }) {
    const [past, [head]] = await this.#couch.ranges([
      { ...pastRange(id), include_docs: true },
      { keys: [id], include_docs: true }
    ], this.#signal)
    const versions = past.filter(row => row.doc).map(({ doc }) => versionOf(doc, doc._id.slice(id.length + 1)))
    return checkTimeline({ versions: head?.doc ? [versionOf(head.doc), ...versions] : versions })
  }
}

/** What a layer has to show for a tile to be in it. @param {{z: number, x: number, y: number}} tile @returns {number[]} */
export function boundsOf ({ z, x, y }) {
  const [west, south, east, north] = tileBounds(z, x, y)
  return [west, Math.max(south, -90), east, Math.min(north, 90)]
}

// The document of a layer, and its editions.

const COUNTS = ['tiles', 'created', 'advanced', 'backfilled', 'unchanged', 'failed', 'gone', 'bytes']

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {import('../verify/report.js').Report} report
 * @returns {Promise<Record<string, any> | undefined>} the document, as far as it is valid
 */
export async function checkLayerDocument (couch, layer, report) {
  if (RESERVED.has(layer)) report.add('reserved-name', layerId(layer))
  const doc = await couch.find({ path: encodeURIComponent(layerId(layer)), qs: { conflicts: true } })
  if (!doc) return undefined
  const { _id, _rev, _conflicts, type, layer: name } = doc
  if (_conflicts?.length) report.add('conflict', _id, `${_rev} and ${_conflicts}`)
  if (type !== 'layer' || name !== layer) report.add('bad-layer', _id, `type ${JSON.stringify(type)}, layer ${JSON.stringify(name)}`)
  const { faults, valid } = examine({ ...doc, type: 'layer', layer })
  for (const fault of faults) report.add('bad-layer', _id, fault)
  for (const field of ['upstream', 'retention']) {
    try {
      layerDocument(layer, { [field]: valid[field] })
    } catch (error) {
      if (!(error instanceof TilecouchError)) throw error
      report.add('bad-layer', _id, error.message)
    }
  }
  return valid
}

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {import('../verify/report.js').Report} report
 * @returns {Promise<any[]>} those that are valid
 */
export async function checkEditions (couch, layer, report) {
  const start = editionId(layer, '')
  const rows = await couch.page({ startkey: start, endkey: `${start}~`, include_docs: true, conflicts: true })
  const docs = rows.map(row => row.doc).filter(Boolean)
  return docs.filter(doc => {
    if (doc._conflicts?.length) report.add('conflict', doc._id, `${doc._rev} and ${doc._conflicts}`)
    const why = wrongWith(doc)
    if (!why && isAhead(doc.time)) report.add('future-time', doc._id)
    if (why) report.add('bad-edition', doc._id, why)
    else if (!doc.finished) report.add('unfinished-edition', doc._id, doc.source && `from ${doc.source}`)
    else if (doc.failed) report.add('failed-edition', doc._id, `${doc.failed} of ${doc.tiles} tiles`)
    return !why
  })
}

function wrongWith (doc) {
  const fault = doc.type === 'edition' ? faultIn(doc) : `type ${JSON.stringify(doc.type)}`
  if (fault) return fault
  if (COUNTS.some(field => doc[field] === undefined)) return undefined // by another program, or on its way
  const sum = doc.created + doc.advanced + doc.backfilled + doc.unchanged + doc.failed
  // a load that was run again for the same time counts what both have written
  if (sum < doc.tiles) return `${doc.tiles} tiles, but ${sum} new, changed, unchanged or failed`
  if (doc.gone > doc.advanced + doc.backfilled) return `${doc.gone} gone, but ${doc.advanced + doc.backfilled} changed`
}

/**
 * Versions that an edition wrote, and that are not there any more.
 * @param {any[]} editions
 * @param {Map<string, number>} versions of each time
 * @param {import('../verify/report.js').Report} report
 * @param {boolean} isPruned versions that say "gone" may be missed: with nothing before them they say nothing
 */
export function checkCounts (editions, versions, report, isPruned) {
  for (const { _id, time, finished, created = 0, advanced = 0, backfilled = 0, gone = 0 } of editions) {
    const written = created + advanced + backfilled - (isPruned ? gone : 0)
    const found = versions.get(time) ?? 0
    if (finished && found < written) report.add('short-edition', _id, `${written} written, ${found} found`)
  }
}

// The document of a layer, made or widened so that it says what its tiles are.

/**
 * @typedef {{reach: Reach, checked: {types: Record<string, number>}}} Found of the tiles of a layer
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {Found} found
 * @param {import('./repairs.js').RepairQueue} mender
 */
export async function repairLayer (store, layer, found, mender) {
  await mender.repairAll(['no-layer', 'outside-zooms', 'outside-bounds'], () => define(store, layer, found))
  await mender.repairAll(['bad-layer'], async () => {
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
