// Reads from manifests what editions covered: the tiles and the box of one edition, the times of editions that checked
// a view of the map, and when a version was confirmed.
import { pMapIterable } from 'p-map'
import { areaFrom, asOf, endOf, parseArea, startOf, tileId } from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { Extent } from '../../core/store/extent.js'
import { versionIn } from '../../core/store/plan.js'
import { firstTileOf, placesIn } from '../../core/store/blocks.js'
import { layerGrid } from './layers.js'

const PAGE = 500 // blocks a request, to sum their sizes
const READ_AHEAD = 8 // blocks

/**
 * @typedef {import('../../core/store/statements.js').LayerStatements} LayerStatements
 * @typedef {import('../../core/store/statements.js').Manifest} Manifest
 *
 * @typedef {object} Coverage
 * @property {string} layer
 * @property {string} time
 * @property {boolean} complete all other tiles of `area` and `zooms` are gone
 * @property {Record<string, any>} [area] of a complete edition that has only a part of the layer
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {string[]} roots of its manifests; none during the load, or if the edition is older than manifests
 * @property {number} tiles that it named
 * @property {number} blocks of 64 x 64 tiles in which they lie
 * @property {import('../../core/grid.js').Bbox} [bounds]
 * @property {{z: number, tiles: number, blocks: number, bounds: import('../../core/grid.js').Bbox}[]} byZoom
 * @property {number} [changed] tiles that got a new version by it
 * @property {number} [unchanged] tiles that it confirmed
 */

/**
 * Describes what an edition covered.
 * @param {string} time a partial time may name the only edition of its period
 * @returns {Promise<Coverage>}
 */
export async function editionCoverage (statements, editions, time) {
  const edition = editionAt(statements.layer, editions, time)
  await statements.refresh()
  const manifests = statements.manifests.filter(manifest => manifest.time === edition.time)
  const completeManifest = manifests.findLast(({ complete }) => complete)
  const grid = await layerGrid(statements.couch, statements.layer)
  const wholeExtent = new Extent(grid)
  const zooms = new Map()
  for await (const { place, names } of placesOf(statements, manifests)) {
    const tiles = new Map()
    for (const { manifest, block } of names) {
      for (const tile of tilesIn(statements, manifest, place, block)) tiles.set(`${tile.x}:${tile.y}`, tile)
    }
    if (!tiles.size) continue
    const { z } = firstTileOf(place)
    const entry = zooms.get(z) ?? { z, tiles: 0, blocks: 0, extent: new Extent(grid) }
    zooms.set(z, entry)
    entry.tiles += tiles.size
    entry.blocks++
    for (const { x, y } of tiles.values()) for (const extent of [entry.extent, wholeExtent]) extent.add(z, x, y)
  }
  const byZoom = [...zooms.values()].sort((a, b) => a.z - b.z)
    .map(({ extent, ...entry }) => ({ ...entry, bounds: extent.bounds }))
  const sum = field => byZoom.reduce((total, entry) => total + entry[field], 0)
  const { created, advanced, backfilled, unchanged } = edition
  return {
    layer: statements.layer,
    time: edition.time,
    complete: Boolean(completeManifest),
    ...(completeManifest?.area && { area: completeManifest.area }),
    ...(completeManifest?.zooms && { zooms: completeManifest.zooms }),
    roots: manifests.map(({ root }) => root),
    tiles: sum('tiles'),
    blocks: sum('blocks'),
    ...(byZoom.length && { bounds: wholeExtent.bounds }),
    byZoom,
    ...(created !== undefined && { changed: created + advanced + backfilled, unchanged })
  }
}

function editionAt (layer, editions, time) {
  const [start, end] = [startOf(time), endOf(time)]
  const inPeriod = editions.filter(edition => edition.time >= start && edition.time <= end)
  const match = inPeriod.find(edition => edition.time === start) ?? (inPeriod.length === 1 ? inPeriod[0] : undefined)
  if (!match) throw new TilecouchError('NO_EDITION', { layer, time, others: inPeriod.map(edition => edition.time) })
  return match
}

/** Gives each place at which any of the manifests has blocks, with these blocks. */
async function * placesOf (statements, manifests) {
  const places = new Map()
  for (const manifest of manifests) {
    for (const [place, names] of Object.entries(await statements.blocksOf(manifest))) {
      places.set(place, [...places.get(place) ?? [], ...names.map(name => ({ manifest, name }))])
    }
  }
  yield * pMapIterable(places, async ([place, names]) => {
    const read = async ({ manifest, name }) => ({ manifest, block: await statements.block(place, name) })
    const blocks = await Promise.all(names.map(read))
    return { place, names: blocks.filter(({ block }) => block) }
  }, { concurrency: READ_AHEAD })
}

/** The tiles of a block, without removed ones. */
function tilesIn (statements, { time, run }, place, block) {
  const { layer, removals } = statements
  const isRemoved = ({ z, x, y }) => removals.length > 0 && statements.isRemoved(tileId(layer, z, x, y), time, run)
  return [...block?.tilesAt(place) ?? []].filter(tile => !isRemoved(tile))
}

/**
 * Counts the manifests of a layer, their blocks and the bytes of these.
 * @returns {Promise<{count: number, blocks: number, bytes: number}>}
 */
export async function manifestTotals (couch, statements) {
  await statements.refresh()
  const total = { count: statements.manifests.length, blocks: 0, bytes: 0 }
  const { layer } = statements
  const range = { startkey: `block:${layer}:`, endkey: `block:${layer};`, include_docs: true }
  for await (const rows of couch.pages(range, { page: PAGE })) {
    total.blocks += rows.length
    for (const { doc } of rows) total.bytes += doc?._attachments?.digests?.length ?? 0
  }
  return total
}

/**
 * The times of editions that checked any tile in a view of the map, or in the layer, whether it had changed or not.
 * @param {LayerStatements} statements
 * @param {{bbox?: import('../../core/grid.js').Bbox, z?: number}} view
 * @param {Set<string>} [skippedTimes]
 * @returns {Promise<string[]>}
 */
export async function timesLooked (statements, { bbox, z }, skippedTimes = new Set()) {
  await statements.refresh()
  const area = bbox && parseArea({ bbox, grid: await layerGrid(statements.couch, statements.layer) })
  const times = new Set()
  for (const manifest of statements.manifests) {
    const { time } = manifest
    if (skippedTimes.has(time) || times.has(time)) continue
    if (statements.isRunRemoved(time, manifest.run)) continue
    if (await hasLooked(statements, manifest, area, z)) times.add(time)
  }
  return [...times]
}

/** @param {import('../../core/area.js').Area | undefined} area in the grid of the layer */
async function hasLooked (statements, manifest, area, z) {
  if (z === undefined) return true
  const hasZoom = !manifest.zooms || (z >= manifest.zooms.min && z <= manifest.zooms.max)
  if (manifest.complete && hasZoom && touches(manifest.area, area?.bbox, z)) return true
  const isInArea = ({ x, y }) => !area || area.has(z, x, y)
  const places = area
    ? namesIn(statements, manifest, z, area.grid.ranges(area.bbox, z))
    : namesOf(statements, manifest, z)
  for await (const [place, names] of places) {
    for (const name of names) {
      if (tilesIn(statements, manifest, place, await statements.block(place, name)).some(isInArea)) return true
    }
  }
  return false
}

/**
 * Names of the blocks of a view, by place. Of a long manifest, only the needed parts are read.
 * @returns {AsyncGenerator<[string, string[]]>}
 */
async function * namesIn (statements, manifest, z, ranges) {
  for (const range of ranges) {
    for (const place of placesIn(z, range)) yield [place, await statements.namesAt(manifest, place) ?? []]
  }
}

/** Names of the blocks of a zoom, by place. @returns {AsyncGenerator<[string, string[]]>} */
async function * namesOf (statements, manifest, z) {
  const blocks = await statements.blocksOf(manifest).catch(ignoring('NOT_FOUND')) // a part is not replicated yet
  yield * Object.entries(blocks ?? {}).filter(([place]) => place.startsWith(`${z}:`))
}

/** Whether an area has any tile of a box. */
function touches (area, bbox, z) {
  if (!area || !bbox) return true
  return !areaFrom(area).within(bbox).columns(z).next().done
}

/**
 * Finds when each version of a tile was last confirmed after its own time: by an edition, a single write or an
 * upstream.
 * @param {{time: string}[]} versions of one tile, oldest first
 * @param {any[]} docs their documents
 * @param {import('../../core/store/plan.js').TileFacts} facts
 * @param {string} until
 * @returns {Map<string, string>} time of a version -> time of its last confirmation
 */
export function checkedAt (versions, docs, { statements, isRemoved: isTakenOut }, until) {
  const stored = docs.map(versionIn)
  const contentById = new Map(stored.map(({ id, content }) => [id, content]))
  const storedStatements = stored.flatMap(version =>
    version.seen.map(([time, run]) => ({ time, run, content: version.content })))
  const checked = new Map()
  for (const { time, run, content } of [...statements, ...storedStatements]) {
    if (time > until) continue
    const shown = /** @type {any} */ (asOf(versions, time))
    if (!shown || shown.time === time || contentById.get(shown.id) !== content || isTakenOut(time, run)) continue
    if (time > (checked.get(shown.time) ?? '')) checked.set(shown.time, time)
  }
  return checked
}

/**
 * Since when a tile has shown its present content, and when that was last confirmed.
 * @param {import('./reader.js').StoredVersion[]} versions oldest first
 */
export function shownSince (versions) {
  const shown = versions.at(-1)
  if (!shown) return undefined
  // a version that repeats the one before it is a confirmation of it
  let first = versions.length - 1
  while (first > 0 && versions[first - 1].digest === shown.digest) first--
  return { since: versions[first].time, checked: shown.checked ?? shown.time, gone: shown.gone }
}
