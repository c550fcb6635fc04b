// MBTiles: the database itself, its metadata, the rows of its tables, and every tile.
import { createHash, hash } from 'node:crypto'
import { MAX_ZOOM, flipY } from '../../../core/index.js'
import { recogniser } from '../../sources/magic.js'
import { SqliteFile, cell, textOf } from '../../sources/sqlite/file.js'
import { endless } from '../../sources/sqlite/mbtiles.js'
import { decodeDefaults } from '../decode.js'
import { Claims } from '../metadata.js'
import { examineAll } from '../tiles.js'
import { readMetadata } from './metadata.js'
import { checkTables, numberOf, readSchema } from './schema.js'

const COLUMNS = ['zoom_level', 'tile_column', 'tile_row', 'tile_data']
const PLACE = COLUMNS.slice(0, 3)
const SMALL = 250e3 // bytes of a tile that is read with others
const LARGE = `SELECT tile_data FROM tiles WHERE typeof(tile_data) = 'blob' AND length(tile_data) = ? AND ${PLACE.map(name => `${name} = ?`).join(' AND ')} LIMIT 1`

export const isMbtiles = recogniser('sqlite', /\.(mbtiles|sqlite|db)$/i)

/**
 * @param {string} file
 * @param {import('../files.js').PickedOptions} options scheme: xyz for files whose writer forgot to flip rows
 */
export async function verifyMbtiles (file, { report, selected, isPart, decode, scheme, signal, onProgress }) {
  const db = new SqliteFile(file, signal)
  try {
    const schema = await schemaOf(db, file, report)
    if (!schema) return { tiles: 0, bytes: 0, checked: {} }
    const { tiles, tiles_with_hash: hashed } = schema
    const missing = COLUMNS.filter(name => !tiles?.includes(name))
    if (missing.length) report.add('bad-structure', 'tiles', tiles ? `there is no column ${missing.join(', ')}` : 'there is no table or view of this name')
    const { values, isDiff, claims: claimed } = await readMetadata(db, report)
    const total = await checkTables(db, schema, report, file)
    if (missing.length) return { tiles: 0, bytes: 0, checked: {} }
    const claims = new Claims(report, claimed, isPart)
    const rows = new Rows(db, { report, selected, isDiff, flipped: scheme !== 'xyz', claims, hashed, wanted: values.agg_tiles_hash })
    const done = await examineAll(rows.jobs(), { report, decode, unpacked: true, signal, onTile: now => onProgress?.({ ...now, total }) })
    claims.end('metadata')
    rows.compareHash()
    return { tiles: done.tiles, bytes: done.bytes, checked: { decoded: done.decoded, types: done.types, ...(isDiff && { gone: rows.gone }) } }
  } finally {
    await db.close()
  }
}

async function schemaOf (db, file, report) {
  try {
    const schema = await readSchema(db)
    const table = await endless(db, [...Object.keys(schema), 'metadata'])
    if (!table) return schema
    report.add('bad-structure', table, 'it is a recursive view, which may never end: nothing was read')
  } catch (error) {
    if (error.code === 'ABORTED') throw error
    report.add('damaged-file', file, error.message)
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

  /** @returns {AsyncGenerator<import('../tiles.js').Job>} */
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
    const { report, selected, isDiff, flipped, claims } = this.#options
    const isPlace = [z, x, row].every(value => Number.isInteger(value) && value >= 0) && z <= MAX_ZOOM && x < 2 ** z && row < 2 ** z
    if (!isPlace) {
      report.add('outside-pyramid', `zoom_level ${z}, tile_column ${x}, tile_row ${row}`)
      return
    }
    const y = flipped ? flipY(z, row) : row
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
  return own === tileHash.toUpperCase() ? [] : /** @type {import('../decode.js').Problems} */ ([['wrong-digest', `${own}, tile_hash is ${tileHash}`]])
}
