// Reads manifests and blocks with the session of who has signed in.
import { BLOCK_SIDE, isPlace } from '../../../core/store/blocks.js'
import { faultInRecord } from '../../../core/store/records.js'
import { LayerStatements } from '../../../core/store/statements.js'
import { breathe } from '../../dom.js'

const FEW = 40 // blocks whose tiles are drawn one by one; of more the blocks are drawn

/**
 * The statements of a layer, of editions between two times only.
 * @param {import('../couch.js').Couch} couch
 * @param {{from?: string, to?: string, signal?: AbortSignal}} [options]
 */
export function statementsOf (couch, layer, { from = '', to = '~', signal } = {}) {
  const manifests = `manifest:${layer}@`
  const within = ({ startkey, endkey, ...range }) => startkey.startsWith(manifests)
    ? { ...range, startkey: startkey > manifests + from ? startkey : manifests + from, endkey: `${manifests}${to}~` }
    : { ...range, startkey, endkey }
  return new LayerStatements({
    async ranges (ranges) {
      const body = { queries: ranges.map(within) }
      const { results } = await couch.ask('_all_docs/queries', { method: 'POST', body, signal })
      return results.map(({ rows }) => rows)
    },
    docs: (ids, { attachments = false } = {}) => docsOf(couch, ids, { attachments, signal })
  }, layer, signal)
}

/**
 * Documents by their ids, in that order.
 * @returns {Promise<{id: string, doc?: any}[]>} without a document: there is none
 */
export async function docsOf (couch, ids, { attachments = false, signal = /** @type {any} */ (undefined) } = {}) {
  if (!ids.length) return []
  const query = { include_docs: true, ...(attachments && { attachments }) }
  const { rows } = await couch.ask('_all_docs', { method: 'POST', body: { keys: ids }, query, signal })
  const found = new Map(rows.map(row => [row.id ?? row.key, row]))
  return ids.map(id => {
    const { error, doc } = found.get(id) ?? { error: 'no answer' }
    if (error && error !== 'not_found') throw new Error(`${id}: ${error}`)
    return doc ? { id, doc } : { id }
  })
}

/**
 * What an edition looked at.
 * @typedef {object} Footprint
 * @property {number} tiles
 * @property {{min: number, max: number}} zooms
 * @property {Rectangle[]} rectangles of the deepest zoom
 * @property {boolean} areTiles rectangles of tiles, else of blocks
 * @property {{boxes: any[], polygon?: any, grid?: any} | undefined} area of a complete edition
 *
 * @typedef {{z: number, x0: number, x1: number, y0: number, y1: number}} Rectangle columns and rows, inclusive
 *
 * @param {import('../couch.js').Couch} couch
 * @returns {Promise<Footprint | undefined>} nothing: the edition has no manifest
 */
export async function footprintOf (couch, layer, time, signal) {
  const docs = []
  for await (const page of couch.documents(`manifest:${layer}@${time}:`, { signal, limit: 50 })) {
    docs.push(...page.filter(doc => !faultInRecord(doc)))
    await breathe()
  }
  const ended = docs.filter(({ part }) => part === undefined)
  if (!ended.length) return undefined
  const runs = new Set(ended.map(({ run }) => run))
  const named = /** @type {Map<string, Set<string>>} */ (new Map())
  for (const { run, blocks = {} } of docs) {
    if (!runs.has(run)) continue // a load that did not end
    for (const [place, names] of Object.entries(blocks)) {
      if (isPlace(place)) named.set(place, new Set([...named.get(place) ?? [], ...names]))
    }
  }
  const newest = ended.reduce((most, doc) => doc.run > most.run ? doc : most)
  const zooms = [...named.keys()].map(place => parseInt(place))
  const range = {
    min: zooms.reduce((least, z) => Math.min(least, z), Infinity), max: zooms.reduce((most, z) => Math.max(most, z), 0)
  }
  const deepest = [...named.keys()].filter(place => parseInt(place) === range.max)
  const tiles = deepest.length <= FEW ? await tilesOf(couch, layer, deepest, named, signal) : undefined
  return {
    tiles: newest.tiles ?? 0,
    zooms: range,
    rectangles: tiles ?? deepest.map(blockAt),
    areTiles: Boolean(tiles),
    area: newest.complete ? newest.area : undefined
  }
}

/** The tiles that blocks name. @returns {Promise<Rectangle[] | undefined>} nothing: one of the blocks is not here */
async function tilesOf (couch, layer, places, named, signal) {
  const statements = statementsOf(couch, layer, { signal })
  const wanted = places.flatMap(place => [...named.get(place)].map(name => ({ place, name })))
  await statements.preload(wanted)
  const found = []
  for (const { place, name } of wanted) {
    const block = await statements.block(place, name)
    if (!block) return undefined
    const { z, x0, y0 } = blockAt(place)
    found.push(...rowsOf([...block.tiles()].map(({ column, row }) => row * BLOCK_SIDE + column), { z, x: x0, y: y0 }))
    await breathe()
  }
  return found
}

/** @param {string} place @returns {Rectangle} */
export function blockAt (place) {
  const [z, column, row] = place.split(':').map(Number)
  const last = 2 ** z - 1
  const end = start => Math.min(start + BLOCK_SIDE - 1, last)
  const [x, y] = [column * BLOCK_SIDE, row * BLOCK_SIDE]
  return { z, x0: x, x1: end(x), y0: y, y1: end(y) }
}

/**
 * Neighbours in a row are one rectangle.
 * @param {number[]} tiles 64 * row + column, ascending @param {{z: number, x: number, y: number}} corner of their block
 * @returns {Rectangle[]}
 */
export function rowsOf (tiles, { z, x, y }) {
  const found = /** @type {Rectangle[]} */ ([])
  let before = -2
  for (const tile of tiles) {
    const [row, column] = [y + Math.floor(tile / BLOCK_SIDE), x + tile % BLOCK_SIDE]
    const last = found[found.length - 1]
    if (tile === before + 1 && last.y0 === row) last.x1 = column
    else found.push({ z, x0: column, x1: column, y0: row, y1: row })
    before = tile
  }
  return found
}
