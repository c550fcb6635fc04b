// MBTiles: the database itself, its metadata, the rows of its tables, and every tile.
import { createHash, hash } from 'node:crypto'
import { MAX_ZOOM, flipY } from '../../../core/index.js'
import { recogniser } from '../../sources/magic.js'
import { decodeDefaults } from '../decode.js'
import { Claims } from '../metadata.js'
import { examineAll } from '../tiles.js'
import { ask } from './ask.js'
import { readMetadata } from './metadata.js'
import { open } from './open.js'

const COLUMNS = ['zoom_level', 'tile_column', 'tile_row', 'tile_data']
const [PLACE] = [COLUMNS.slice(0, 3).join(', ')]

export const isMbtiles = recogniser('sqlite', /\.(mbtiles|sqlite|db)$/i)

/**
 * @param {string} file
 * @param {import('../files.js').PickedOptions} options scheme: xyz for files whose writer forgot to flip rows
 */
export async function verifyMbtiles (file, { report, selected, isPart, decode, scheme, signal, onProgress }) {
  let db, schema
  try {
    db = open(file)
    schema = readSchema(db)
  } catch (error) {
    db?.close()
    report.add('damaged-file', file, error.message)
    return { tiles: 0, bytes: 0, checked: {} }
  }
  try {
    const { tiles, tiles_with_hash: hashed } = schema
    const missing = COLUMNS.filter(name => !tiles?.includes(name))
    if (missing.length) report.add('bad-structure', 'tiles', tiles ? `there is no column ${missing.join(', ')}` : 'there is no table or view of this name')
    const { values, isDiff, claims: claimed } = readMetadata(db, report)
    const total = await askLong(file, schema, report, signal)
    if (missing.length) return { tiles: 0, bytes: 0, checked: {} }
    const claims = new Claims(report, claimed, isPart)
    const rows = new Rows(db, { report, selected, isDiff, flipped: scheme !== 'xyz', claims, hashed, wanted: values.agg_tiles_hash })
    const done = await examineAll(rows.jobs(), { report, decode, unpacked: true, signal, onTile: now => onProgress?.({ ...now, total }) })
    claims.end('metadata')
    rows.compareHash()
    return { tiles: done.tiles, bytes: done.bytes, checked: { decoded: done.decoded, types: done.types, ...(isDiff && { gone: rows.gone }) } }
  } finally {
    db.close()
  }
}

/** Tables and views with their columns. */
function readSchema (db) {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").raw().all().map(([name]) => name)
  const wanted = ['tiles', 'map', 'images', 'tiles_with_hash'].filter(name => tables.includes(name))
  return /** @type {Record<string, string[]>} */ (Object.fromEntries(wanted.map(name => [name, columnsOf(db, name)])))
}

function columnsOf (db, name) {
  try {
    return db.prepare(`SELECT name FROM pragma_table_info('${name}')`).raw().all().map(([column]) => column)
  } catch {
    return [] // a view over what is not there
  }
}

/** What takes a look at everything; answers how many tiles there are. */
async function askLong (file, columns, report, signal) {
  let total
  const has = (table, ...names) => names.every(name => columns[table]?.includes(name))
  const isDeduplicated = has('map', 'tile_id', 'zoom_level') && has('images', 'tile_id')
  const places = isDeduplicated ? 'map' : 'tiles'
  const where = ([z, x, row]) => `${z}/${x}/${row} (its row)`
  /** @type {[sql: string, tell: (row: any[]) => void][]} */
  const questions = [
    ['PRAGMA quick_check(100)', ([text]) => { if (text !== 'ok') report.add('damaged-file', file, text) }],
    ...(has(places, 'zoom_level', 'tile_column', 'tile_row')
      ? /** @type {any} */ ([
          [`SELECT count(*) FROM ${places}`, ([count]) => { total = count }],
          [`SELECT ${PLACE}, count(*) FROM ${places} GROUP BY ${PLACE} HAVING count(*) > 1`, row => report.add('duplicate-tile', where(row), `${row[3]} times`)]
        ])
      : []),
    ...(isDeduplicated
      ? /** @type {any} */ ([
          [`SELECT ${PLACE}, tile_id FROM map WHERE tile_id IS NULL OR tile_id NOT IN (SELECT tile_id FROM images WHERE tile_id IS NOT NULL)`,
            row => report.add('unreadable-tile', where(row), `there is no image ${row[3]}`)],
          ['SELECT tile_id, count(*) FROM images GROUP BY tile_id HAVING count(*) > 1', ([id, count]) => report.add('bad-structure', `image ${id}`, `is there ${count} times`)],
          ['SELECT tile_id, length(tile_data) FROM images WHERE tile_id NOT IN (SELECT tile_id FROM map WHERE tile_id IS NOT NULL)',
            ([id, length]) => report.add('unused-bytes', `image ${id}`, `${length} bytes`)]
        ])
      : [])
  ]
  for await (const { question, row, error } of ask(file, questions.map(([sql]) => sql), signal)) {
    if (error) report.add('damaged-file', file, error)
    else questions[question][1](/** @type {any[]} */ (row))
  }
  return total
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

  /** @returns {Generator<import('../tiles.js').Job>} */
  * jobs () {
    const { hashed } = this.#options
    const table = hashed?.includes('tile_hash') ? 'tiles_with_hash' : 'tiles'
    const most = decodeDefaults.bytes
    const statement = this.#db.prepare(`SELECT ${PLACE}, typeof(tile_data), length(tile_data), CASE WHEN length(tile_data) <= ${most} THEN tile_data END, ${table === 'tiles' ? 'NULL' : 'tile_hash'}
      FROM ${table}${this.#digest ? ` ORDER BY ${PLACE}` : ''}`).raw()
    for (const [z, x, row, kind, size, data, tileHash] of this.#all(statement)) {
      this.#digest?.update(`${z}${x}${row}`).update(data ?? '')
      const job = this.#job(z, x, row, { kind, size, data, tileHash })
      if (job) yield job
    }
  }

  // what a damaged page holds is lost, and where to go on behind it too
  * #all (statement) {
    const rows = statement.iterate()
    for (;;) {
      let next
      try {
        next = rows.next()
      } catch (error) {
        this.#isWhole = false
        this.#options.report.add('damaged-file', 'tiles', `the rest of them cannot be read: ${error.message}`)
        return
      }
      if (next.done) return
      yield next.value
    }
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
        return data
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
