// Which versions go: those of an area, of named tiles, of a time or of an edition.
import { AFTER, TilecouchError, checkLayer, editionId, endOf, headId, manifestId, startOf, tileId } from '../../core/index.js'
import { batchesOf } from '../../core/batches.js'
import { readLeaves } from '../resolve/leaves.js'
import { BY_TIME } from '../store/reader.js'
import { childSignal } from '../store/child-signal.js'
import { readTileLeaves } from '../../core/store/leaves.js'
import { listedOf } from './documents.js'
import { Remover } from './remover.js'

const LOT = 200 // tiles named that are read at once
const PAGE = 2000 // rows of an edition a request

/**
 * @typedef {import('./tally.js').Tally} Tally
 * @typedef {{z: number, x: number, y: number}} Tile
 *
 * @typedef {object} Which
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {AsyncIterable<Tile> | Iterable<Tile>} [only] these tiles, whatever area and zooms are
 * @property {string} [since] versions from this time on: the start of the period that is written
 * @property {string} [until] versions up to this time: the end of the period that is written
 */

/**
 * Removes tiles, or the versions of a time of theirs. With neither area, zooms nor tiles named, the editions of that time go, too.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {Which & import('./remover.js').RemoverOptions} options
 * @returns {Promise<Tally & {editions: number}>}
 */
export async function removeTiles (store, layer, { area, zooms, only, since, until, ...options }) {
  checkLayer(layer)
  const [first, last] = [since === undefined ? '' : startOf(since), until === undefined ? AFTER : endOf(until)]
  const isDoomed = (/** @type {any} */ { time }) => time >= first && time <= last
  const times = { ...(since !== undefined && { since: first }), ...(until !== undefined && { until: last }) }
  const remover = await begin(store, options)
  const { signal, end } = childSignal(options.signal)
  let run = ''
  try {
    if (only) {
      for await (const lot of batchesOf(only, { most: LOT, bytes: Infinity })) {
        const tiles = [...new Set(lot.map(({ z, x, y }) => tileId(layer, z, x, y)))]
        await remover.state(layer, { ...times, tiles })
        for (const tile of await readListed(store.couch, tiles, signal)) await remover.take(tile, tile.versions.filter(isDoomed))
        await remover.flush()
      }
    } else {
      run = await remover.state(layer, { ...times, area, zooms })
      for await (const tile of store.listTiles(layer, { area, zooms, signal })) await remover.take(tile, tile.versions.filter(isDoomed))
    }
  } finally {
    end()
  }
  const isPart = only || area || zooms || (since === undefined && until === undefined)
  return finish(remover, layer, isPart ? [] : (await store.editions(layer)).filter(isDoomed).map(({ time }) => time), run)
}

/** @param {import('../store/index.js').Store} store @param {import('./remover.js').RemoverOptions} options */
async function begin (store, options) {
  const remover = new Remover(store, { ...options, isStated: true })
  await remover.begin()
  return remover
}

/** Tiles as the primary index has them. @returns {Promise<import('../store/list.js').ListedTile[]>} */
async function readListed (couch, ids, signal) {
  return (await readTileLeaves(couch, ids, signal)).flatMap(({ heads: [head], pasts }) => head || pasts.length ? [tileOf([...pasts, ...head ? [head] : []])] : [])
}

/**
 * Removes an edition: whatever was said of its time, and its document. Heads fall back to the version before.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} time exact
 * @param {import('./remover.js').RemoverOptions} [options]
 * @returns {Promise<Tally & {editions: number}>}
 */
export async function removeEdition (store, layer, time, options = {}) {
  checkLayer(layer)
  if (startOf(time) !== time) throw new TilecouchError('BAD_TIME', { value: time })
  const remover = await begin(store, options)
  const run = await remover.state(layer, { since: time, until: time })
  // a load that was on its way may have written more meanwhile
  for (let pass = 0, found = true; found && pass < remover.limits.passes; pass++) {
    found = false
    for await (const ids of documentsAt(store.couch, layer, time, options.signal)) {
      for (const tile of await readListed(store.couch, [...new Set(ids.map(headId))], options.signal)) {
        const doomed = tile.versions.filter(version => version.time === time)
        found ||= doomed.length > 0
        await remover.take(tile, doomed)
      }
    }
    await remover.flush()
    if (remover.dryRun || remover.tally.refused || remover.tally.changed) break
  }
  return finish(remover, layer, [time], run)
}

/** Ids of the documents of a time, page by page. @returns {AsyncGenerator<string[]>} */
async function * documentsAt (couch, layer, time, signal) {
  const range = { startkey: [layer, time], endkey: [layer, time, {}] }
  for await (const rows of couch.viewPages(BY_TIME, range, { page: PAGE, signal })) {
    for (let at = 0; at < rows.length; at += LOT) yield rows.slice(at, at + LOT).map(({ id }) => id)
  }
}

/** @param {any[]} docs of one tile, oldest first, the head last; a copy of the head is not another version */
function tileOf (docs) {
  const versions = docs.map(listedOf).filter(({ current, time }, at) => current || at === docs.length - 1 || time !== docs[docs.length - 1].time)
  const { layer, z, x, y } = versions[0] ?? {}
  return { id: tileId(layer, z, x, y), z, x, y, versions }
}

/**
 * Documents of editions and their manifests, when all of their versions are gone. What was loaded after the removal began stays.
 * @param {Remover} remover @param {string} layer @param {string[]} times @param {string} run of the removal
 */
async function finish (remover, layer, times, run) {
  await remover.flush()
  const { changed, refused } = remover.tally
  let editions = 0
  if (!changed && !refused) {
    const said = remover.saidOf(layer)
    await said.refresh()
    const manifests = said.manifests.filter(manifest => times.includes(manifest.time) && manifest.run < run)
    // the end first: without it nothing of the manifest counts
    await endPapers(remover, manifests.map(({ id }) => id))
    await endPapers(remover, manifests.flatMap(({ time, run: of, parts = [] }) => parts.map((_, part) => manifestId(layer, time, of, part))))
    editions = await endPapers(remover, times.map(time => editionId(layer, time)), doc => (doc.run ?? '') < run)
  }
  return { ...await remover.finish(), editions }
}

/** @param {Remover} remover @param {string[]} ids of editions, manifests and layers @param {(doc: any) => boolean} [isMeant] @returns {Promise<number>} */
export async function endPapers (remover, ids, isMeant = () => true) {
  let removed = 0
  for (let at = 0; at < ids.length; at += LOT) {
    const leaves = await readLeaves(remover.couch, ids.slice(at, at + LOT), remover.signal)
    removed += (await remover.end([...leaves.values()].flatMap(({ living }) => living).filter(isMeant))).size
  }
  return removed
}
