// A seeded store that grows: blocks of tiles at several zooms. Each tile has the same number of versions, so that a
// view holds the same number of rows at every size. A few tiles with a very long past lie beside them.
import { addSeconds } from '../../core/index.js'
import { compose } from '../../loader/couchapp/compose.js'
import { push } from '../../loader/couchapp/push.js'
import { warm } from '../../loader/store/indexes.js'
import { PUBLIC_SECURITY } from '../../loader/store/index.js'
import { tileDocument } from '../../core/store/documents.js'
import { Tile } from '../../loader/store/tile.js'
import { until } from '../wait.js'
import { noiseTile, random } from '../tiles.js'

export const LAYER = 'wide' // 10 versions per tile
export const DEEP = 'deep' // 100 versions per tile
export const VIEW = { columns: 10, rows: 8 } // tiles of a map window
const START = '2015-01-01T00:00:00Z'
const EDITION = 7 * 86400 // seconds between two editions
const GAP = 4 // average number of editions between two changes of a tile
const BATCH = 1000 // documents per request
const FLIGHTS = 4 // concurrent requests

// All numbers of a zoom have one length, so that the order of ids is the order of numbers.
const CORNERS =
  [{ z: 10, x: 300, y: 300 }, { z: 12, x: 1500, y: 1500 }, { z: 14, x: 5000, y: 5000 }, { z: 16, x: 20000, y: 20000 }]
const DEEP_CORNER = { z: 12, x: 2000, y: 2000 }

/**
 * Each stage contains the previous one in a corner. `versions`: in total; `wide`, `deep`: columns and rows of the
 * blocks at every zoom.
 */
export const STAGES = [
  { versions: 10_000, wide: [25, 10], deep: [0, 0] },
  { versions: 100_000, wide: [50, 30], deep: [20, 20] },
  { versions: 1_000_000, wide: [200, 120], deep: [20, 20] }
]
/** The stages of a short run. */
export const SHORT = [STAGES[0], { versions: 40_000, wide: [50, 15], deep: [10, 10] }]
const DEPTH = { [LAYER]: 10, [DEEP]: 100 } // versions per tile

/** @typedef {typeof STAGES[number]} Stage */

/** The blocks of a stage in the order of their ids. @param {Stage} stage */
export function blocksOf ({ wide, deep }) {
  return [
    ...(deep[0] ? [{ layer: DEEP, ...DEEP_CORNER, columns: deep[0], rows: deep[1] }] : []),
    ...CORNERS.map(corner => ({ layer: LAYER, ...corner, columns: wide[0], rows: wide[1] }))
  ]
}

/**
 * The tiles of a stage that the previous stage lacks, in the order of their ids.
 * @param {Stage} stage
 * @param {Stage} [before]
 */
export function * newTiles (stage, before) {
  const existing = before ? blocksOf(before) : []
  for (const { layer, z, x, y, columns, rows } of blocksOf(stage)) {
    const oldBlock = existing.find(block => block.layer === layer && block.z === z)
    for (let column = 0; column < columns; column++) {
      for (let row = oldBlock && column < oldBlock.columns ? oldBlock.rows : 0; row < rows; row++) {
        yield { layer, z, x: x + column, y: y + row }
      }
    }
  }
}

/** The documents of all versions of a tile in the order of their ids: the head first. */
export function versionsOf ({ layer, z, x, y }) {
  const seed = ((z * 65536 + x) * 65536 + y) >>> 0
  const next = random(seed)
  const docs = Array.from({ length: DEPTH[layer] }, (_, index, depth = DEPTH[layer]) => {
    const time = addSeconds(START, EDITION * (GAP * index + Math.floor(next() * GAP)))
    const tile = new Tile({ layer, z, x, y, time, type: 'image/png', bytes: noiseTile(seed * 1000 + index, 64) })
    return tileDocument(tile, { current: index === depth - 1, stored: time })
  })
  return [docs[docs.length - 1], ...docs.slice(0, -1)]
}

/**
 * Writes a stage straight into the database, as prepared documents in the order of their ids.
 * @param {any} store @param {Iterable<any>} documents
 * @param {{signal: AbortSignal, onProgress?: (written: number) => void, batch?: number}} options
 */
export async function fill (store, documents, { signal, onProgress = () => {}, batch = BATCH }) {
  const start = performance.now()
  const source = documents[Symbol.iterator]()
  let written = 0
  const writeBatches = async () => {
    for (;;) {
      const docs = []
      for (let item; docs.length < batch && !(item = source.next()).done;) docs.push(item.value)
      if (!docs.length) return
      const failed = (await store.couch.bulk(docs, { signal })).find(result => result.error)
      if (failed) throw new Error(`a document was not written: ${JSON.stringify(failed)}`)
      onProgress(written += docs.length)
    }
  }
  await Promise.all(Array.from({ length: FLIGHTS }, writeBatches))
  return { documents: written, seconds: (performance.now() - start) / 1000 }
}

export function * documentsOf (tiles) {
  for (const tile of tiles) yield * versionsOf(tile)
}

/**
 * Deploys the design documents under measurement, and waits for the index. It omits the validation function, which no
 * read runs, and the files of the viewer.
 * @param {import('../../loader/store/index.js').Store} store
 * @param {{signal: AbortSignal, docs?: any[], onProgress?: (percent: number) => void}} options
 * @returns {Promise<number>} seconds
 */
export async function deploy (store, { signal, docs, onProgress }) {
  docs ??= await compose()
  const start = performance.now()
  const neededDocs = docs.filter(({ _id }) => ['_design/tiles', '_design/versions'].includes(_id))
    .map(({ validate_doc_update: _, _attachments, ...doc }) => doc)
  const report = (/** @type {any} */ { done, total }) => { if (total) onProgress?.(Math.floor(100 * done / total)) }
  await push(store.couch, neededDocs, { signal, onProgress: report })
  // an existing index is updated only by a query
  await warm(store.couch, '_design/versions', 'by_tile', { signal, onProgress: report })
  const seconds = (performance.now() - start) / 1000
  await store.secure(PUBLIC_SECURITY)
  await untilIdle(store, signal)
  return seconds
}

/** Waits until the index, if it exists, is committed, and the server neither builds nor compacts anything. */
async function untilIdle (store, signal) {
  const versionsDesign = await store.couch.get('_design/versions')
  await until(async () => {
    signal.throwIfAborted()
    const tasks = await store.couch.request({ path: '_active_tasks', server: true, signal })
    const { compact_running: compacting } = await store.info()
    if (tasks.length || compacting) return false
    if (!versionsDesign) return true
    const { view_index: index } = await store.couch.request({ path: '_design/versions/_info', signal })
    return !index.waiting_commit && !index.updater_running && !index.compact_running
  }, { timeout: 900_000, every: 250, what: 'the server to have nothing else to do' })
}

/** Random windows of 10 x 8 tiles, the same on every machine. @param {ReturnType<typeof blocksOf>} blocks */
export function viewsOf (blocks, count, seed) {
  const next = random(seed)
  return Array.from({ length: blocks.length && count }, () => {
    const { layer, z, x, y, columns, rows } = blocks[Math.floor(next() * blocks.length)]
    return { layer, z, x: x + Math.floor(next() * (columns - VIEW.columns + 1)), y: y +
      Math.floor(next() * (rows - VIEW.rows + 1)) }
  })
}
