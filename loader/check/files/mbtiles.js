// Verifies MBTiles: the database itself, its metadata, the rows of its tables, and every tile.
import { createHash, hash } from 'node:crypto'
import { MAX_ZOOM, gridOf, selectorOf } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { DIFF_KEYS } from '../../formats/gone.js'
import { missingTiles, readMetadata, readTables } from '../../formats/mbtiles/reader.js'
import { SqliteFile, cell, textOf } from '../../formats/mbtiles/sqlite.js'
import { Claims, claimsOf } from './claims.js'
import { decodeDefaults } from './decode.js'
import { examineAll } from './tiles.js'

const PLACE = ['zoom_level', 'tile_column', 'tile_row']
const MUST = ['name', 'format']
const SHOULD = ['bounds', 'center', 'minzoom', 'maxzoom']
const SMALL = 250e3 // bytes of a tile that is read with others
const LARGE = `SELECT tile_data FROM tiles WHERE typeof(tile_data) = 'blob' AND length(tile_data) = ? AND ${PLACE.map(name => `${name} = ?`).join(' AND ')} LIMIT 1`

/** Values that are not integers come as texts. */
const numberOf = name => `iif(typeof(${name}) = 'integer', ${name}, substr(CAST(${name} AS BLOB), 1, 200))`

/**
 * @param {string} file
 * @param {import('./index.js').SelectionOptions} options scheme: xyz for files whose writer forgot to flip rows
 */
export async function verifyMbtiles (file, options) {
  const { report, area, zooms, isPart, decode, scheme, signal, onProgress } = options
  const db = new SqliteFile(file, signal)
  try {
    const tables = await readTables(db, report.add)
    if (!tables) return { tiles: 0, bytes: 0, checked: {} }
    const missing = missingTiles(tables)
    if (missing) report.add('bad-structure', 'tiles', missing)
    const { values, isDiff, claims: claimed } = await checkMetadata(db, tables, report.add)
    const total = await checkTables(db, tables, report, file)
    if (missing) return { tiles: 0, bytes: 0, checked: {} }
    const grid = gridOf({ grid: options.grid ?? claimed.grid })
    const claims = new Claims(report, { ...claimed, grid: grid.field }, isPart)
    const rows = new Rows(db, {
      report, selected: selectorOf(area?.in(grid), zooms), isDiff, flipped: scheme !== 'xyz', grid, claims, hashed: tables.tiles_with_hash, wanted: values.agg_tiles_hash
    })
    const onTile = now => onProgress?.({ ...now, total })
    const done = await examineAll(rows.jobs(), { report, decode, unpacked: true, signal, onTile })
    const { tiles, bytes, decoded, types } = done
    claims.end('metadata')
    rows.compareHash()
    return { tiles, bytes, checked: { decoded, types, ...(isDiff && { gone: rows.gone }) } }
  } finally {
    await db.close()
  }
}

/** What the specification wants to be in the metadata, and whether it is what it should be. */
async function checkMetadata (db, tables, onFault) {
  const bad = why => onFault('bad-metadata', 'metadata', why)
  const nothing = { values: /** @type {Record<string, any>} */ ({}), isDiff: false, claims: {} }
  let values
  try {
    values = await readMetadata(db, tables, onFault)
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    bad(error.message)
    return nothing
  }
  if (!values) {
    bad('there is no table of metadata')
    return nothing
  }
  for (const name of MUST) if (values[name] === undefined || values[name] === '') bad(`${name} is missing`)
  const isDiff = DIFF_KEYS.some(key => Object.hasOwn(values, key))
  const missing = SHOULD.filter(name => values[name] === undefined || values[name] === '')
  // a diff does not describe the layer
  if (missing.length && !isDiff) onFault('sparse-metadata', 'metadata', `${missing.join(', ')} missing`)
  const claims = claimsOf(values, bad)
  checkCenter(values.center, bad)
  checkJson(values, claims.format, bad)
  return { values, isDiff, claims }
}

function checkCenter (center, bad) {
  if (center === undefined || center === '') return
  const numbers = String(center).split(',').map(Number)
  const [lon, lat, zoom = 0] = numbers
  if (numbers.length < 2 || numbers.length > 3 || !numbers.every(Number.isFinite) || Math.abs(lon) > 180 || Math.abs(lat) > 90 || zoom < 0 || zoom > 30) bad(`center ${JSON.stringify(center)}`)
}

/** @param {Record<string, any>} values */
function checkJson ({ json }, format, bad) {
  if (json === undefined) {
    if (format === 'pbf') bad('json is missing: vector tiles need their vector_layers')
    return
  }
  try {
    const { vector_layers: layers } = JSON.parse(json)
    if (format === 'pbf' && !(Array.isArray(layers) && layers.every(layer => typeof layer?.id === 'string'))) bad('json has no vector_layers')
  } catch (error) {
    bad(`json: ${error.message}`)
  }
}

/**
 * What the rows say when all of them are looked at together.
 * @param {SqliteFile} db
 * @param {Record<string, string[]>} tables their columns
 * @returns {Promise<number | undefined>} how many tiles there are
 */
async function checkTables (db, tables, report, file) {
  let total
  const has = (table, ...names) => names.every(name => tables[table]?.includes(name))
  const isDeduplicated = has('map', 'tile_id', ...PLACE) && has('images', 'tile_id', 'tile_data')
  const places = isDeduplicated ? 'map' : 'tiles'
  const place = PLACE.map(numberOf).join(', ')
  const where = cells => `${cells.slice(0, 3).map(textOf).join('/')} (its row)`

  await ask(`SELECT ${cell('quick_check')} FROM pragma_quick_check(100)`, ([text]) => { if (text !== 'ok') report.add('damaged-file', file, text) })
  if (has(places, ...PLACE)) {
    await ask(`SELECT count(*) FROM ${places}`, ([count]) => { total = count })
    await ask(`SELECT ${place}, count(*) FROM ${places} GROUP BY ${PLACE.join(', ')} HAVING count(*) > 1`, row => report.add('duplicate-tile', where(row), `${row[3]} times`))
  }
  if (isDeduplicated) {
    await ask(`SELECT ${place}, ${cell('tile_id')} FROM map WHERE tile_id IS NULL OR tile_id NOT IN (SELECT tile_id FROM images WHERE tile_id IS NOT NULL)`,
      row => report.add('unreadable-tile', where(row), `there is no image ${row[3]}`))
    await ask(`SELECT ${cell('tile_id')}, count(*) FROM images GROUP BY tile_id HAVING count(*) > 1`, ([id, count]) => report.add('bad-structure', `image ${id}`, `is there ${count} times`))
    await ask(`SELECT ${cell('tile_id')}, length(tile_data) FROM images WHERE tile_id IS NULL OR tile_id NOT IN (SELECT tile_id FROM map WHERE tile_id IS NOT NULL)`,
      ([id, length]) => report.add('unused-bytes', `image ${id}`, `${length} bytes`))
  }
  return total

  async function ask (sql, onRow) {
    try {
      for await (const row of db.rows(sql)) onRow(row.map(textOf))
    } catch (error) {
      if (error instanceof TilecouchError) throw error
      report.add('damaged-file', file, error.message)
    }
  }
}

/** The rows of `tiles`, one after the other. */
class Rows {
  #db
  #options
  #digest
  #isWhole = true
  gone = 0

  constructor (db, options) {
    this.#db = db
    this.#options = options
    if (options.wanted !== undefined) this.#digest = createHash('md5')
  }

  /** Of all rows, as martin keeps it in the metadata. */
  compareHash () {
    const { report, wanted } = this.#options
    const own = this.#isWhole && this.#digest?.digest('hex').toUpperCase()
    if (own && own !== String(wanted).toUpperCase()) report.add('wrong-digest', 'metadata', `agg_tiles_hash ${wanted}, that of the tiles is ${own}`)
  }

  /** @returns {AsyncGenerator<import('./tiles.js').Job>} */
  async * jobs () {
    const table = this.#options.hashed?.includes('tile_hash') ? 'tiles_with_hash' : 'tiles'
    const sql = `SELECT ${PLACE.map(numberOf).join(', ')}, typeof(tile_data), length(tile_data),
      CASE WHEN typeof(tile_data) = 'blob' AND length(tile_data) <= ${SMALL} THEN tile_data END, ${table === 'tiles' ? 'NULL' : cell('tile_hash')}
      FROM ${table}${this.#digest ? ` ORDER BY ${PLACE.join(', ')}` : ''}`
    try {
      for await (const [z, x, row, kind, size, small, tileHash] of this.#db.rows(sql)) {
        const data = kind === 'blob' && size > SMALL && size <= decodeDefaults.bytes ? await this.#large(size, z, x, row) : small
        this.#digest?.update(`${textOf(z)}${textOf(x)}${textOf(row)}`).update(data ?? '')
        const job = this.#job(textOf(z), textOf(x), textOf(row), { kind, size, data, tileHash: textOf(tileHash) })
        if (job) yield job
      }
    } catch (error) {
      if (error.code === 'ABORTED') throw error
      // what a damaged page holds is lost, and where to go on behind it too
      this.#isWhole = false
      this.#options.report.add('damaged-file', 'tiles', `the rest of them cannot be read: ${error.message}`)
    }
  }

  async #large (...parameters) {
    const [row] = await this.#db.get(LARGE, [parameters])
    if (row instanceof Error) throw row
    return row?.[0]
  }

  #job (z, x, row, { kind, size, data, tileHash }) {
    const { report, selected, isDiff, flipped, grid, claims } = this.#options
    const areNumbers = [z, x, row].every(value => Number.isInteger(value) && value >= 0)
    const isPlace = areNumbers && z <= MAX_ZOOM && x < 2 ** z && row < 2 ** z
    if (!isPlace) {
      report.add('outside-pyramid', `zoom_level ${z}, tile_column ${x}, tile_row ${row}`)
      return
    }
    const y = flipped ? grid.flipY(z, row) : row
    if (!selected(z, x, y)) return
    const where = `${z}/${x}/${y}`
    if (kind === 'null' && isDiff) {
      this.gone++
      return
    }
    claims.see(where, z, x, y)
    return {
      where,
      size: size ?? 0,
      read () {
        if (kind === 'null') return Buffer.alloc(0)
        if (kind !== 'blob') throw new Error(`its data is of the type ${kind}`)
        if (!data) throw new Error('it cannot be found again')
        return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      },
      compare: found => [...claims.compare(found), ...compareHash(tileHash, found.bytes)]
    }
  }
}

function compareHash (tileHash, bytes) {
  if (typeof tileHash !== 'string') return []
  const own = hash('md5', bytes, 'hex').toUpperCase()
  return own === tileHash.toUpperCase() ? [] : /** @type {import('./decode.js').Problems} */ ([['wrong-digest', `${own}, tile_hash is ${tileHash}`]])
}
