// Opens MBTiles 1.3 as a source: one SQLite file. `tiles` may be a table, or a view over `map` and `images` in
// deduplicated files. Rows are counted from the south. In a diff, a row without bytes says that the tile is gone.
import path from 'node:path'
import { chunks } from '../../../core/lists.js'
import { compareInner, compareRows, gridOf } from '../../../core/index.js'
import { readAhead } from './ahead.js'
import { BINARY_DIFFS, DIFF_KEYS } from '../../formats/gone.js'
import { invalid, readingMetadata, sourceLimits, throwFaults, unreadable } from '../../formats/reading.js'
import { layerFieldsOf, otherGridOf, timeOf } from '../../formats/metadata.js'
import { checkPages, missingTiles, readMetadata, readTables } from '../../formats/mbtiles/reader.js'
import { SqliteFile, cell, textOf } from '../../formats/mbtiles/sqlite.js'

const COLUMNS = 1000 // of a zoom whose rows are read at once
const TILE = `SELECT
  CASE WHEN length(tile_data) <= ${sourceLimits.tile} THEN CAST(tile_data AS BLOB) END, length(tile_data)
  FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ? LIMIT 1`

/** With the scheme xyz, rows are not flipped: some writers forget it. @type {import('./index.js').OpenSource} */
export async function open (file, { signal, ...options }) {
  const source = new Mbtiles(file, new SqliteFile(file, signal), options)
  try {
    return await source.begin()
  } catch (error) {
    await source.close()
    throw error
  }
}

class Mbtiles {
  #file
  #db
  #options
  #isDiff = false

  /** @param {SqliteFile} db @param {import('./index.js').SourceOptions} options */
  constructor (file, db, options) {
    this.#file = file
    this.#db = db
    this.#options = options
  }

  /** @returns {Promise<import('./index.js').Source>} */
  async begin () {
    const metadata = await this.#readMetadata()
    this.#isDiff = DIFF_KEYS.some(key => Object.hasOwn(metadata, key))
    if (this.#isDiff) await this.#refuseBinary()
    const fields = layerFieldsOf(metadata, why => this.#options.onFault?.('bad-metadata', 'metadata', why))
    return {
      name: path.basename(this.#file),
      fields,
      bounds: fields.bounds,
      profile: otherGridOf(metadata),
      scheme: this.#options.scheme ?? 'tms',
      time: timeOf(metadata),
      diff: this.#isDiff,
      tiles: () => readAhead(this.#places(), places => this.#readMany(places)),
      close: () => this.close()
    }
  }

  async #readMetadata () {
    const { onFault } = this.#options
    const refuse = throwFaults(this.#file)
    const throwCause = (code, where, why, cause) => {
      if (cause) throw cause
      refuse(code, where, why)
    }
    try {
      const tables = await readTables(this.#db, onFault ?? throwCause)
      const why = tables ? missingTiles(tables) : 'it is no database'
      if (why && tables) onFault?.('bad-structure', 'tiles', why)
      if (why || !tables) throw new Error(why)
      if (onFault) await checkPages(this.#db, onFault)
      return await readingMetadata(onFault, () => readMetadata(this.#db, tables, onFault ?? refuse))
    } catch (error) {
      throw unreadable(this.#file, error)
    }
  }

  async #refuseBinary () {
    for await (const [name] of this.#rows(`SELECT ${cell('name')} FROM sqlite_schema WHERE type = 'table'`)) {
      const binary = BINARY_DIFFS.find(table => table === textOf(name))
      if (binary) {
        throw invalid(this.#file, `its table ${binary} holds differences within tiles, not tiles: make it with ` +
          '--patch-type whole')
      }
    }
  }

  async * #places () {
    const { zooms, selected } = this.#options
    for (const z of await this.#numbers('zoom_level', '', [], compareInner)) {
      if (zooms && (z < zooms.min || z > zooms.max)) continue
      const columns = await this.#numbers('tile_column', 'WHERE zoom_level = ?', [z], compareInner)
      for (const chunk of chunks(columns, COLUMNS)) {
        for await (const tile of this.#columns(z, chunk)) {
          if (selected(tile.z, tile.x, tile.y)) yield tile
        }
      }
    }
  }

  /** The tiles of some columns of a zoom, one column after the other. */
  async * #columns (z, columns) {
    const sql = `SELECT ?2, ${cell('tile_row')}, ${this.#isDiff ? 'tile_data IS NULL' : '0'} FROM tiles WHERE ` +
      'zoom_level = ?1 AND tile_column = ?2'
    const isFlipped = this.#options.scheme !== 'xyz' && Number.isInteger(z)
    const grid = gridOf(this.#options)
    let tiles = []
    for await (const [x, rowCell, gone] of this.#rows(sql, columns.map(column => [z, column]))) {
      if (tiles.length && tiles[0].x !== x) {
        yield * sortedByRow(tiles)
        tiles = []
      }
      const row = textOf(rowCell)
      tiles.push({ z, x, y: isFlipped && Number.isInteger(row) ? grid.flipY(z, row) : row, row, gone: Boolean(gone) })
      this.#refuseMore(tiles.length, `rows in a column of zoom ${z}`)
    }
    yield * sortedByRow(tiles)
  }

  /** Reads tiles together. Those that are too large for memory are read later, one by one. */
  async #readMany (places) {
    const rows = await this.#db.get(TILE, places.map(parametersOf))
    return places.map((place, index) => async () => {
      const row = rows[index] === undefined ? (await this.#db.get(TILE, [parametersOf(place)]))[0] : rows[index]
      return this.#bytesOf(place, row)
    })
  }

  // a row without bytes is a damaged tile: only in a diff does it have a meaning
  #bytesOf ({ z, x, y }, row) {
    if (row instanceof Error) throw invalid(this.#file, `${z}/${x}/${y} cannot be read: ${row.message}`, row)
    if (row?.[1] > sourceLimits.tile) throw invalid(this.#file, `${z}/${x}/${y} has ${row[1]} bytes`)
    return row?.[0] ?? Buffer.alloc(0)
  }

  async #numbers (name, where, parameters, compare) {
    const numbers = []
    for await (const [number] of this.#rows(`SELECT ${cell('found')} FROM (SELECT DISTINCT ${name} AS found FROM ` +
      `tiles ${where})`, [parameters])) {
      numbers.push(textOf(number))
      this.#refuseMore(numbers.length, `different values of ${name}`)
    }
    return numbers.sort(compare)
  }

  #refuseMore (count, noun) {
    if (count > sourceLimits.names) throw invalid(this.#file, `it has more than ${sourceLimits.names} ${noun}`)
  }

  async * #rows (sql, each) {
    try {
      yield * this.#db.rows(sql, each)
    } catch (error) {
      throw unreadable(this.#file, error)
    }
  }

  close () {
    return this.#db.close()
  }
}

const parametersOf = ({ z, x, row }) => [z, x, row]

const sortedByRow = tiles => tiles.sort((a, b) => compareRows(a.y, b.y))
