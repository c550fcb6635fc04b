// Reads the rows of a view tile by tile in the order of ids. The view sorts columns and rows as numbers. So it is read
// in series of columns whose numbers have equally many digits, and the series are merged.
import { checkLayer, compareRows, layerId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { columnKey, rowKey, seriesTo } from '../../core/order.js'
import { Columns, versions, zoomsIn } from './columns.js'
import { childSignal } from '../child-signal.js'
import { RangeReader, listDefaults } from './ranges.js'

/** Every row of a zoom. @returns {import('../../core/sweep.js').Run[]} */
const allRows = z => [[0, 2 ** z - 1]]

/**
 * @typedef {import('./columns.js').Column} Column
 * @typedef {import('./ranges.js').Row} Row
 * @typedef {{x: number, y: number, rows: Row[]}} TileRows
 * @typedef {import('./ranges.js').Range & {columns: Column[], whole: boolean}} ColumnRange whole: it has all rows of
 *   its columns
 * @typedef {{x: number, tiles: Iterable<TileRows> | AsyncIterable<TileRows>}} ColumnTiles
 */

/** @returns {AsyncGenerator<TileRows & {z: number}>} ascending by id */
export async function * walk (couch, index, layer, options) {
  const { signal, end } = childSignal(options.signal)
  try {
    const { zooms, reader, columnsOf } = await openLayer(couch, index, layer, { ...options, signal })
    for (const { z } of zooms) yield * walkZoom(reader, await columnsOf(z))
  } finally {
    end() // stops requests whose answers are no longer needed
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
  // columns 199, 19 and 1 have equal keys: the longest number comes first
  for await (const { tiles } of merge(series.reverse())) {
    for await (const tile of tiles) yield { z, ...tile }
  }
}

/**
 * Reads columns with their tiles. The next request is in flight while the columns of one answer are used.
 * @returns {AsyncGenerator<ColumnTiles>}
 */
async function * readColumns (reader, prefix, columns) {
  let next
  for (const { tall, ranges } of requests(columns, prefix)) {
    const previous = /** @type {Promise<ColumnTiles[]> | undefined} */ (next)
    next = tall
      ? Promise.resolve([tallColumn(reader, tall, prefix)])
      : reader.read(ranges).then(rows => columnTilesOf(ranges, rows, prefix[1]))
    next.catch(() => {}) // it is awaited after the previous request, unless the reader stops
    if (previous) yield * await previous
  }
  if (next) yield * await next
}

/**
 * Puts columns together into requests of about a page. Neighbours share a range.
 * @param {Iterable<Column>} columns ascending
 * @returns {Generator<{tall?: Column, ranges: ColumnRange[]}>}
 */
function * requests (columns, prefix) {
  /** @type {ColumnRange[]} */
  let ranges = []
  let rows = 0
  for (const column of columns) {
    const isWhole = !column.runs || column.count <= listDefaults.sparse
    const parts = (!isWhole && column.runs) || allRows(prefix[1])
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
    if (isWhole && last?.whole && column.before - rowsTo(last) <= listDefaults.waste) extend(last, column, prefix)
    else for (const [index, part] of parts.entries()) ranges.push(rangeOf(prefix, column, part, counts[index], isWhole))
  }
  if (ranges.length) yield { ranges }
}

/** @returns {ColumnRange} */
const rangeOf = (prefix, column, [y0, y1], count, isWhole) => ({
  startkey: [...prefix, column.x, y0],
  endkey: [...prefix, column.x, y1, {}],
  limit: Math.max(1, count + listDefaults.slack),
  columns: [column],
  whole: isWhole
})

/** The number of rows of the zoom up to the end of a range. */
function rowsTo ({ columns }) {
  const { before, count } = columns[columns.length - 1]
  return before + count
}

function extend (range, column, prefix) {
  range.limit += column.before + column.count - rowsTo(range)
  range.endkey = [...prefix, column.x, {}]
  range.columns.push(column)
}

/** Groups the rows of ranges by column, without other tiles. @param {ColumnRange[]} ranges @param {Row[][]} answers */
function columnTilesOf (ranges, answers, z) {
  /** @type {{x: number, tiles: TileRows[]}[]} */
  const tilesByColumn = []
  for (const [index, { columns }] of ranges.entries()) {
    const runs = new Map(columns.map(column => [column.x, column.runs ?? allRows(z)]))
    for (const tile of tilesIn(answers[index])) {
      if (!Number.isInteger(tile.y) || !runs.get(tile.x)?.some(([y0, y1]) => tile.y >= y0 && tile.y <= y1)) continue
      if (tilesByColumn.at(-1)?.x !== tile.x) tilesByColumn.push({ x: tile.x, tiles: [] })
      tilesByColumn[tilesByColumn.length - 1].tiles.push(tile)
    }
  }
  for (const { tiles } of tilesByColumn) tiles.sort((a, b) => compareRows(a.y, b.y))
  return tilesByColumn
}

/**
 * A column with more rows than one request should return. Its rows are read in series and merged, as columns are.
 * @param {RangeReader} reader @param {Column} column @param {any[]} prefix layer and zoom
 * @returns {ColumnTiles}
 */
function tallColumn (reader, { x, runs }, prefix) {
  const series = seriesTo(2 ** prefix[1] - 1).map(({ first, last, scale }) => {
    const seriesRuns = (runs ?? allRows(prefix[1])).filter(([y0, y1]) => y0 <= last && y1 >= first)
      .map(([y0, y1]) => [Math.max(y0, first), Math.min(y1, last)])
    return { items: tilesOfRuns(reader, [...prefix, x], seriesRuns), key: ({ y }) => rowKey(y, scale) }
  })
  return { x, tiles: merge(series) }
}

async function * tilesOfRuns (reader, prefix, runs) {
  for (const [y0, y1] of runs) {
    const range = { startkey: [...prefix, y0], endkey: [...prefix, y1, {}], limit: listDefaults.page }
    let lastRows = /** @type {Row[]} */ ([]) // of the last tile of a page: the next page may have more of them
    for await (const rows of reader.pagesOf(range)) {
      const tiles = [...tilesIn([...lastRows, ...rows])]
      lastRows = tiles.pop()?.rows ?? []
      yield * tiles
    }
    yield * tilesIn(lastRows)
  }
}

/**
 * Groups consecutive rows by tile.
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
 * Merges series by ascending key, as core/order.js does, but with items that must be awaited. Of two items with equal
 * keys, the one of the earlier series comes first.
 * @template T
 * @param {{items: AsyncGenerator<T>, key: (item: T) => number}[]} series each ascending
 * @returns {AsyncGenerator<T>}
 */
export async function * merge (series) {
  const cursors = series.map(({ items, key }) => ({ items, key, item: /** @type {any} */ (undefined), at: 0 }))
  try {
    const haveItems = await Promise.all(cursors.map(advance))
    for (let index = cursors.length - 1; index >= 0; index--) if (!haveItems[index]) cursors.splice(index, 1)
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

/** Takes the next item of a series. @returns {Promise<boolean>} whether there is one */
async function advance (cursor) {
  const { done, value } = await cursor.items.next()
  if (done) return false
  cursor.item = value
  cursor.at = cursor.key(value)
  return true
}
