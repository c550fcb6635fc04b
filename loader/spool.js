// A list of tiles that need not fit into memory: entered in any order, read in the order of their ids, as often as wanted
// and by several readers at once. It lies in temporary files, with the bytes of the tiles beside it when they have no
// other place. The files lose their names as soon as they are open, so that nothing is left of a process that is killed.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import path from 'node:path'
import { TilecouchError } from '../core/index.js'
import { Scratch } from './scratch.js'

export const spoolDefaults = {
  page: 1000, // tiles read from the index at once
  buffer: 1e6 // bytes gathered before they are written
}

const FIELDS = 4 // that a tile may have beside its address
const GROUP = 100 // tiles entered by one statement
const COLUMNS = ['a', 'b', 'c', 'd'].slice(0, FIELDS)
const insertion = tiles => `INSERT INTO tiles VALUES ${Array(tiles).fill(`(?, ${COLUMNS.map(() => '?')}, 1)`)}
  ON CONFLICT DO UPDATE SET ${COLUMNS.map(name => `${name} = excluded.${name}`)}, times = times + 1`
const PAGE = 'SELECT * FROM tiles WHERE id > ? ORDER BY id LIMIT ?'

/** @typedef {string | number | null | undefined} Field */
/** @typedef {{z: number, x: number, y: number, fields: any[], times: number}} SpooledTile times: how often it was added */

export class Spool {
  #scratch
  #insert
  #insertOne
  #page
  #one
  /** @type {(string | number | null)[]} */
  #rows = []
  #data
  #buffer = Buffer.allocUnsafe(spoolDefaults.buffer)
  #written = 0
  #gathered = 0

  /** @param {{folder?: string}} [options] folder: where the temporary files lie */
  static open (options) {
    return Scratch.open((scratch, own) => new Spool(scratch, own), options)
  }

  /** Use `Spool.open`. @param {Scratch} scratch @param {string} folder of its own */
  constructor (scratch, folder) {
    this.#scratch = scratch
    scratch.db.exec(`CREATE TABLE tiles (id TEXT PRIMARY KEY, ${COLUMNS}, times INTEGER) WITHOUT ROWID; BEGIN`)
    this.#insert = this.#scratch.db.prepare(insertion(GROUP))
    this.#insertOne = this.#scratch.db.prepare(insertion(1))
    this.#page = this.#scratch.db.prepare(PAGE).raw()
    this.#one = this.#scratch.db.prepare('SELECT * FROM tiles WHERE id = ?').raw()
    this.#data = openSync(path.join(folder, 'data'), 'wx+', 0o600)
  }

  /**
   * Enters a tile. One that is there already is replaced.
   * @param {number} z @param {number} x @param {number} y
   * @param {...Field} fields up to four, given back as they are
   */
  add (z, x, y, ...fields) {
    if (fields.length > FIELDS) throw new TilecouchError('INTERNAL', { why: `a spool keeps ${FIELDS} fields of a tile, not ${fields.length}` })
    this.#rows.push(`${z}:${x}:${y}`)
    for (let index = 0; index < FIELDS; index++) this.#rows.push(fields[index] ?? null)
    if (this.#rows.length === GROUP * (FIELDS + 1)) {
      this.#work(() => this.#insert.run(this.#rows))
      this.#rows = []
    }
  }

  /**
   * The tiles in the order of their ids. What is added meanwhile comes too, where it lies ahead.
   * @returns {AsyncGenerator<SpooledTile>}
   */
  async * tiles () {
    let last = ''
    while (true) {
      this.#flush()
      const rows = this.#work(() => this.#page.all(last, spoolDefaults.page))
      for (const [id, ...fields] of rows) {
        const [z, x, y] = id.split(':')
        const times = fields.pop()
        yield { z: +z, x: +x, y: +y, fields, times }
      }
      if (rows.length < spoolDefaults.page) return
      last = rows.at(-1)[0]
    }
  }

  /**
   * The fields of one tile, if it is there.
   * @param {number} z @param {number} x @param {number} y
   * @returns {any[] | undefined}
   */
  get (z, x, y) {
    this.#flush()
    return this.#work(() => this.#one.get(`${z}:${x}:${y}`))?.slice(1, -1)
  }

  /** How many tiles there are. */
  count () {
    this.#flush()
    return /** @type {any} */ (this.#work(() => this.#scratch.db.prepare('SELECT count(*) FROM tiles').raw().get()))[0]
  }

  #flush () {
    if (!this.#rows.length) return
    const rows = this.#rows
    this.#rows = []
    this.#work(() => {
      for (let at = 0; at < rows.length; at += FIELDS + 1) this.#insertOne.run(rows.slice(at, at + FIELDS + 1))
    })
  }

  /**
   * Keeps bytes; the answer is where, for `slice`. They are copied.
   * @param {Uint8Array} bytes
   */
  append (bytes) {
    const offset = this.#written + this.#gathered
    if (this.#gathered + bytes.length > this.#buffer.length) this.#write()
    if (bytes.length > this.#buffer.length) {
      this.place(this.#written, bytes)
      this.#written += bytes.length
    } else {
      this.#buffer.set(bytes, this.#gathered)
      this.#gathered += bytes.length
    }
    return offset
  }

  /**
   * Keeps bytes at a place that the caller keeps account of: for who does not `append`. What is left out needs no room.
   * @param {number} offset @param {Uint8Array} bytes
   */
  place (offset, bytes) {
    this.#work(() => {
      for (let done = 0; done < bytes.length;) done += writeSync(this.#data, bytes, done, bytes.length - done, offset + done)
    })
  }

  #write () {
    this.place(this.#written, this.#buffer.subarray(0, this.#gathered))
    this.#written += this.#gathered
    this.#gathered = 0
  }

  /**
   * Bytes that were kept.
   * @param {number} offset @param {number} length
   */
  slice (offset, length) {
    if (this.#gathered && offset + length > this.#written) this.#write()
    const bytes = Buffer.allocUnsafe(length)
    this.#work(() => {
      for (let done = 0; done < length;) {
        const read = readSync(this.#data, bytes, done, length - done, offset + done)
        if (!read) throw new TilecouchError('INTERNAL', { why: `the spool has no ${length} bytes at ${offset}` })
        done += read
      }
    })
    return bytes
  }

  #work (work) {
    return this.#scratch.work(work)
  }

  /** Removes everything. */
  async close () {
    if (await this.#scratch.close()) closeSync(this.#data)
  }
}
