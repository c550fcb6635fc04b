// Opens the target of an export. The writer of each format (see loader/formats) is a `Target`. This file locks it,
// counts the written tiles, and turns errors of the file system into errors of the catalogue.
//
// To add a format: a module with `open(path, options)`, and its name in the list below.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { extensionOf, gridOf } from '../../core/index.js'
import { byCount } from '../../core/values.js'
import { TilecouchError } from '../errors.js'
import { Extent } from '../../core/store/extent.js'
import { find, targetError, writingTo } from '../formats/atomic-file.js'
import { lock } from '../formats/lock.js'

/**
 * @typedef {object} TargetTile
 * @property {number} z
 * @property {number} x
 * @property {number} y XYZ
 * @property {string} time of the version
 * @property {string} type content type
 * @property {Buffer} bytes
 * @property {string} digest `md5-` and base64, as CouchDB has it
 * @property {string} [stored]
 * @property {string} [expires]
 * @property {Record<string, any>} [origin]
 *
 * @typedef {{z: number, x: number, y: number, time: string, size: number, digest?: string}} Known
 *   a tile without its bytes; digest: undefined if its document was deleted
 *
 * @typedef {object} TargetOptions
 * @property {string} layer
 * @property {Record<string, any>} doc the layer document
 * @property {string} run key of the export: unfinished files of another one are not resumed
 * @property {string} [time] exact time of the exported state
 * @property {string} [typedTime] the time as the user wrote it
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {'xyz' | 'tms'} [scheme] how a folder counts rows (xyz)
 * @property {boolean} [cache] MBTiles with the times of fetching and expiry
 * @property {boolean} [force] replaces existing files
 *
 * @typedef {object} Target
 * @property {boolean} resumed there are files of an earlier run
 * @property {(tile: Known) => boolean | Promise<boolean>} has this version exists; only called when resumed
 * @property {(tile: TargetTile) => void | Promise<void>} add any order, each tile once; in practice by ascending ids
 * @property {(versions: import('../store/list.js').ListedTile, shown: string | undefined) => Promise<number>} [tidy]
 *   called after the last tile, when resumed: removes old files of a tile; shown: time of the version that stays
 * @property {(facts: Facts) => Promise<{size: number, distinct?: number}>} finish gives the file its final name
 * @property {() => Promise<void>} stop keeps the files that a later run needs; also called after a failed finish()
 *
 * @typedef {object} Kind
 * @property {(path: string, options: TargetOptions) => Promise<Target>} open
 * @property {(path: string) => string} [lockOf] the path of its lock
 */

/** Loaded when needed: packages such as SQLite are large. @type {Record<string, () => Promise<Kind>>} */
const kinds = {
  folder: () => import('../formats/folder/writer.js'),
  mbtiles: () => import('../formats/mbtiles/writer.js'),
  pmtiles: () => import('../formats/pmtiles/writer.js')
}

export const targetFormats = Object.keys(kinds)

/** The format of a target, by default from its name. @param {string} [format] */
export async function formatOf (target, format) {
  if (format !== undefined) {
    if (!Object.hasOwn(kinds, format)) {
      throw new TilecouchError('BAD_OPTION', {
        option: '--format', value: format, why: `there are ${targetFormats.join(', ')}`
      })
    }
    return format
  }
  const extension = /\.([a-z][a-z0-9]{0,15})[/\\]?$/i.exec(path.basename(target))?.[1].toLowerCase()
  if (/[/\\]$/.test(target) || !extension || await isFolder(target)) return 'folder'
  if (extension === 'folder' || !Object.hasOwn(kinds, extension)) {
    throw new TilecouchError('TARGET_UNKNOWN', { value: target })
  }
  return extension
}

const isFolder = async name => (await find(name))?.isDirectory() ?? false

/** Throws TARGET_EXISTS if an export may not replace the target. The folder writer checks the files in a folder. */
async function checkFree (name, format, force) {
  const stats = await find(name)
  if (!stats || (stats.isDirectory() && format === 'folder')) return
  if (stats.isDirectory()) throw new TilecouchError('TARGET_EXISTS', { value: name, why: 'it is a folder' })
  if (format === 'folder') throw new TilecouchError('TARGET_EXISTS', { value: name, why: 'it is no folder' })
  if (!force) throw new TilecouchError('TARGET_EXISTS', { value: name })
}

/** An open target and the facts about its tiles. */
export class Opened {
  #target
  #unlock
  #ended = false

  /** @param {import('../../core/grids/grid.js').Grid} grid of the tiles @param {() => Promise<void>} unlock */
  constructor (name, format, target, grid, unlock) {
    this.facts = new Facts(grid)
    this.name = name
    this.format = format
    this.#target = target
    this.#unlock = unlock
  }

  get resumed () { return this.#target.resumed }
  get tidies () { return this.resumed && Boolean(this.#target.tidy) }

  /** @param {Known & {type?: string}} tile */
  async has (tile) {
    if (!this.resumed || !await this.#guard(() => this.#target.has(tile))) return false
    this.facts.add(tile)
    return true
  }

  /** @param {TargetTile} tile */
  async add (tile) {
    await this.#guard(() => this.#target.add(tile))
    this.facts.add({ ...tile, size: tile.bytes.length })
  }

  /**
   * @param {import('../store/list.js').ListedTile} tile
   * @param {string} [shown]
   * @returns {Promise<number>} files removed
   */
  tidy (tile, shown) {
    return this.#guard(() => this.#target.tidy?.(tile, shown) ?? 0)
  }

  async finish () {
    const result = await this.#guard(() => this.#target.finish(this.facts))
    this.#ended = true
    await this.#unlock()
    return result
  }

  /** Closes the target, unless finish() did. */
  async stop () {
    if (this.#ended) return
    this.#ended = true
    try {
      await this.#target.stop()
    } finally {
      await this.#unlock()
    }
  }

  #guard (action) {
    return writingTo(this.name, action)
  }
}

/**
 * Locks and opens a target. Call finish() or stop() in the end.
 * @param {string} name @param {TargetOptions & {format?: string}} options
 * @returns {Promise<Opened>}
 */
export async function openTarget (name, { format, ...options }) {
  const kindName = await formatOf(name, format)
  const kind = await kinds[kindName]()
  /** @type {(() => Promise<void>) | undefined} */
  let unlock
  try {
    await checkFree(name, kindName, options.force)
    const lockFile = kind.lockOf?.(name) ?? `${name}.part-lock`
    await mkdir(path.dirname(lockFile), { recursive: true })
    unlock = await lock(lockFile, name)
    return new Opened(name, kindName, await kind.open(name, options), gridOf(options.doc), unlock)
  } catch (error) {
    await unlock?.().catch(() => {})
    throw targetError(error, name)
  }
}

/** Counts the tiles of a target, for its metadata. */
export class Facts {
  tiles = 0
  bytes = 0
  /** Tiles by content type. @type {Record<string, number>} */
  types = {}
  /** @type {string | undefined} latest time of a tile */
  last
  #extent

  /** @param {import('../../core/grids/grid.js').Grid} [grid] */
  constructor (grid) {
    this.#extent = new Extent(grid)
  }

  /** @param {{z: number, x: number, y: number, time?: string, type?: string, size: number}} tile */
  add ({ z, x, y, time, type, size }) {
    this.tiles++
    this.bytes += size
    if (type) this.types[type] = (this.types[type] ?? 0) + 1
    if (time && (!this.last || time > this.last)) this.last = time
    this.#extent.add(z, x, y)
  }

  get minzoom () { return this.tiles ? Math.min(...this.#extent.zooms.keys()) : undefined }
  get maxzoom () { return this.tiles ? Math.max(...this.#extent.zooms.keys()) : undefined }

  /** A box that touches all tiles: west, south, east, north. @returns {[number, number, number, number] | undefined} */
  get bounds () { return this.tiles ? this.#extent.bounds : undefined }

  get areTypesKnown () {
    return Object.values(this.types).reduce((sum, tiles) => sum + tiles, 0) === this.tiles
  }

  /** Extension of most tiles. */
  get format () {
    return extensionOf(byCount(this.types)[0])
  }
}
