// The rows of a view, tile by tile in the order of ids. The view has zooms, columns and rows as numbers: it is read in
// ranges of columns whose numbers have equally many digits, and those series are merged.
import { checkLayer, compareRows, layerId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { columnKey, rowKey, seriesTo } from '../../core/order.js'
import { Columns, versions, zoomsIn } from './columns.js'
import { childSignal } from './follow.js'
import { RangeReader, listDefaults } from './ranges.js'

/** Every row of a zoom. @returns {import('../../core/sweep.js').Run[]} */
const all = z => [[0, 2 ** z - 1]]

/**
 * @typedef {import('./columns.js').Column} Column
 * @typedef {import('./ranges.js').Row} Row
 * @typedef {{x: number, y: number, rows: Row[]}} TileRows
 * @typedef {import('./ranges.js').Range & {columns: Column[], whole: boolean}} ColumnRange whole: no row of its columns
 *   was left out
 * @typedef {{x: number, tiles: Iterable<TileRows> | AsyncIterable<TileRows>}} ColumnTiles
 */

/** @returns {AsyncGenerator<TileRows & {z: number}>} ascending by id */
export async function * walk (couch, index, layer, options) {
  const { signal, end } = childSignal(options.signal)
  try {
    const { zooms, reader, columnsOf } = await openLayer(couch, index, layer, { ...options, signal })
    for (const { z } of zooms) yield * walkZoom(reader, await columnsOf(z))
  } finally {
    end() // what is on its way is not wanted any more
  }
}

/**
 * @param {import('./couch.js').Couch} couch
 * @param {import('./columns.js').Index} index
 * @param {string} layer
 * @param {import('./list.js').ListOptions} options
 */
export async function openLayer (couch, index, layer, { area, zooms, signal }) {
  const zoomCounts = await zoomsIn(couch, index, checkLayer(layer), { zooms, signal })
  if (!zoomCounts.length && !await couch.get(layerId(layer))) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  return {
    zooms: zoomCounts,
    reader: await new RangeReader(couch, index.view, { settled: index === versions, signal }).open(),
    columnsOf: z => new Columns(index, layer, z, area).read(couch, signal)
  }
}

/** @returns {AsyncGenerator<TileRows & {z: number}>} ascending by id */
export async function * walkZoom (reader, columns) {
  const { layer, z } = columns
  const series = seriesTo(2 ** z - 1).map(({ first, last, scale }) => (
    { items: readColumns(reader, [layer, z], columns.between(first, last)), key: ({ x }) => columnKey(x, scale) }
  ))
  // 199, 19 and 1 end at one key: the longest comes first
  for await (const { tiles } of merge(series.reverse())) {
    for await (const tile of tiles) yield { z, ...tile }
  }
}

/**
 * Columns with their tiles, the next request on its way while those of one are taken.
 * @returns {AsyncGenerator<ColumnTiles>}
 */
async function * readColumns (reader, prefix, columns) {
  let next
  for (const { tall, ranges } of requests(columns, prefix)) {
    const before = /** @type {Promise<ColumnTiles[]> | undefined} */ (next)
    next = tall
      ? Promise.resolve([tallColumn(reader, tall, prefix)])
      : reader.read(ranges).then(rows => wantedOf(ranges, rows, prefix[1]))
    next.catch(() => {}) // it is awaited after those before it, if anybody still wants it
    if (before) yield * await before
  }
  if (next) yield * await next
}

/**
 * Columns put together to requests of about a page; neighbours are one range.
 * @param {Iterable<Column>} columns ascending
 * @returns {Generator<{tall?: Column, ranges: ColumnRange[]}>}
 */
function * requests (columns, prefix) {
  /** @type {ColumnRange[]} */
  let ranges = []
  let rows = 0
  for (const column of columns) {
    const whole = !column.runs || column.count <= listDefaults.sparse
    const parts = (!whole && column.runs) || all(prefix[1])
    const counts = parts.map(([y0, y1]) => Math.min(column.count, listDefaults.depth * (y1 - y0 + 1)))
    const count = counts.reduce((sum, part) => sum + part, 0)
    if (ranges.length && (rows + count > listDefaults.page || ranges.length >= listDefaults.ranges)) {
      yield { ranges }
      ranges = []
      rows = 0
    }
    if (count > listDefaults.page) {
      yield { tall: column, ranges }
      continue
    }
    rows += count
    const last = ranges.at(-1)
    if (whole && last?.whole && column.before - rowsTo(last) <= listDefaults.waste) extend(last, column, prefix)
    else for (const [at, part] of parts.entries()) ranges.push(rangeOf(prefix, column, part, counts[at], whole))
  }
  if (ranges.length) yield { ranges }
}

/** @returns {ColumnRange} */
const rangeOf = (prefix, column, [y0, y1], count, whole) => ({
  startkey: [...prefix, column.x, y0],
  endkey: [...prefix, column.x, y1, {}],
  limit: Math.max(1, count + listDefaults.slack),
  columns: [column],
  whole
})

/** Rows of the zoom up to the end of a range. */
function rowsTo ({ columns }) {
  const { before, count } = columns[columns.length - 1]
  return before + count
}

function extend (range, column, prefix) {
  range.limit += column.before + column.count - rowsTo(range)
  range.endkey = [...prefix, column.x, {}]
  range.columns.push(column)
}

/** What is wanted of the rows of ranges, in columns. @param {ColumnRange[]} ranges @param {Row[][]} answers */
function wantedOf (ranges, answers, z) {
  /** @type {{x: number, tiles: TileRows[]}[]} */
  const tilesByColumn = []
  for (const [at, { columns }] of ranges.entries()) {
    const runs = new Map(columns.map(column => [column.x, column.runs ?? all(z)]))
    for (const tile of tilesIn(answers[at])) {
      if (!Number.isInteger(tile.y) || !runs.get(tile.x)?.some(([y0, y1]) => tile.y >= y0 && tile.y <= y1)) continue
      if (tilesByColumn.at(-1)?.x !== tile.x) tilesByColumn.push({ x: tile.x, tiles: [] })
      tilesByColumn[tilesByColumn.length - 1].tiles.push(tile)
    }
  }
  for (const { tiles } of tilesByColumn) tiles.sort((a, b) => compareRows(a.y, b.y))
  return tilesByColumn
}

/**
 * A column with more rows than a request should answer: the same again with its rows.
 * @param {RangeReader} reader @param {Column} column @param {any[]} prefix layer and zoom
 * @returns {ColumnTiles}
 */
function tallColumn (reader, { x, runs }, prefix) {
  const series = seriesTo(2 ** prefix[1] - 1).map(({ first, last, scale }) => {
    const within = (runs ?? all(prefix[1])).filter(([y0, y1]) => y0 <= last && y1 >= first)
      .map(([y0, y1]) => [Math.max(y0, first), Math.min(y1, last)])
    return { items: tilesOfRuns(reader, [...prefix, x], within), key: ({ y }) => rowKey(y, scale) }
  })
  return { x, tiles: merge(series) }
}

async function * tilesOfRuns (reader, prefix, runs) {
  for (const [y0, y1] of runs) {
    const range = { startkey: [...prefix, y0], endkey: [...prefix, y1, {}], limit: listDefaults.page }
    let begun = /** @type {Row[]} */ ([]) // rows of the last tile of a page: it may go on in the next one
    for await (const rows of reader.pagesOf(range)) {
      const tiles = [...tilesIn([...begun, ...rows])]
      begun = tiles.pop()?.rows ?? []
      yield * tiles
    }
    yield * tilesIn(begun)
  }
}

/**
 * Rows that follow one another put together to tiles.
 * @param {Iterable<Row>} rows in the order of the view
 * @returns {Generator<TileRows>}
 */
function * tilesIn (rows) {
  /** @type {TileRows | undefined} */
  let tile
  for (const row of rows) {
    const [, , x, y] = row.key
    if (tile && tile.x === x && tile.y === y) {
      tile.rows.push(row)
      continue
    }
    if (tile) yield tile
    tile = { x, y, rows: [row] }
  }
  if (tile) yield tile
}

/**
 * The merge of core/order.js for items that have to be waited for: by ascending key; of equal keys, that of the earlier
 * series first.
 * @template T
 * @param {{items: AsyncGenerator<T>, key: (item: T) => number}[]} series each ascending
 * @returns {AsyncGenerator<T>}
 */
export async function * merge (series) {
  const cursors = series.map(({ items, key }) => ({ items, key, item: /** @type {any} */ (undefined), at: 0 }))
  try {
    const begun = await Promise.all(cursors.map(advance))
    for (let index = cursors.length - 1; index >= 0; index--) if (!begun[index]) cursors.splice(index, 1)
    while (cursors.length) {
      let least = 0
      for (let index = 1; index < cursors.length; index++) if (cursors[index].at < cursors[least].at) least = index
      const cursor = cursors[least]
      yield cursor.item
      if (!await advance(cursor)) cursors.splice(least, 1)
    }
  } finally {
    for (const { items } of cursors) await items.return(undefined)
  }
}

async function advance (cursor) {
  const { done, value } = await cursor.items.next()
  if (done) return false
  cursor.item = value
  cursor.at = cursor.key(value)
  return true
}
