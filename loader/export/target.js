// What tiles can be exported to. The writer of each format (see loader/formats) is a `Target`; this locks it, counts
// what is written, and turns failures of the file system into errors of the catalogue.
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
 *   a tile without its bytes; digest: missing where no document has it any more
 *
 * @typedef {object} TargetOptions
 * @property {string} layer
 * @property {Record<string, any>} doc the layer document
 * @property {string} run what is exported: the unfinished work of another run is not resumed
 * @property {string} [time] as of which; exact
 * @property {string} [named] the time that its name says, as written
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {'xyz' | 'tms'} [scheme] how a folder counts rows (xyz)
 * @property {boolean} [cache] MBTiles with when tiles were fetched and expire
 * @property {boolean} [force] replaces what is there
 *
 * @typedef {object} Target
 * @property {boolean} resumed something is there from a run before
 * @property {(tile: Known) => boolean | Promise<boolean>} has this version is there; only asked when resumed
 * @property {(tile: TargetTile) => void | Promise<void>} add any order, each tile once; ids ascending in practice
 * @property {(versions: import('../store/list.js').ListedTile, shown: string | undefined) => Promise<number>} [tidy]
 *   after the last tile, when resumed: removes older files of a tile; shown: time of the version that stays
 * @property {(facts: Facts) => Promise<{size: number, distinct?: number}>} finish gives it its final name
 * @property {() => Promise<void>} stop keeps what a later run needs; also after a failed finish()
 *
 * @typedef {object} Kind
 * @property {(path: string, options: TargetOptions) => Promise<Target>} open
 * @property {(path: string) => string} [lockOf] where its lock is
 */

/** Loaded when they are needed: SQLite and the like are not small. @type {Record<string, () => Promise<Kind>>} */
const kinds = {
  folder: () => import('../formats/folder/writer.js'),
  mbtiles: () => import('../formats/mbtiles/writer.js'),
  pmtiles: () => import('../formats/pmtiles/writer.js')
}

export const targetFormats = Object.keys(kinds)

/** The format of a target: from its name unless it is given. @param {string} [format] */
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

/** Throws TARGET_EXISTS if an export must not touch what is there. The writer of folders checks what a folder holds. */
async function checkFree (name, format, force) {
  const stats = await find(name)
  if (!stats || (stats.isDirectory() && format === 'folder')) return
  if (stats.isDirectory()) throw new TilecouchError('TARGET_EXISTS', { value: name, why: 'it is a folder' })
  if (format === 'folder') throw new TilecouchError('TARGET_EXISTS', { value: name, why: 'it is no folder' })
  if (!force) throw new TilecouchError('TARGET_EXISTS', { value: name })
}

/** A target that is open, with what went into it. */
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
    const ended = await this.#guard(() => this.#target.finish(this.facts))
    this.#ended = true
    await this.#unlock()
    return ended
  }

  /** Whatever happened before. */
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

/** What was written to a target: for its metadata. */
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

  /** West, south, east, north: the box that all tiles touch. @returns {[number, number, number, number] | undefined} */
  get bounds () { return this.tiles ? this.#extent.bounds : undefined }

  get areTypesKnown () {
    return Object.values(this.types).reduce((sum, tiles) => sum + tiles, 0) === this.tiles
  }

  /** Extension of most tiles. */
  get format () {
    return extensionOf(byCount(this.types)[0])
  }
}
