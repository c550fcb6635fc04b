// Verifies a file or folder of tiles. The source of its kind lists and reads the tiles, and reports faults of the file.
// This module decodes every tile and compares it with the metadata of the file.
import { gridOf, parseArea, selectorOf } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { extensionOf } from '../../formats/names.js'
import { recognise } from '../../formats/recognise.js'
import { openSource } from '../../load/sources/index.js'
import { examineAll } from './tiles.js'

/**
 * @typedef {object} FileOptions
 * @property {import('./report.js').Report} report
 * @property {import('../../../core/area.js').Area} [area]
 * @property {import('../../../core/grid.js').Zooms} [zooms]
 * @property {boolean} [decode]
 * @property {'xyz' | 'tms'} [scheme]
 * @property {string | object} [grid] of the tiles (default: that of the file)
 * @property {AbortSignal} [signal]
 * @property {(done: {tiles: number, bytes: number, total?: number}) => void} [onProgress] total: tiles to
 *   be read, if it is known
 *
 * @typedef {import('../../load/sources/index.js').Source} Source
 * @typedef {import('../../load/sources/index.js').SourceTile} SourceTile
 * @typedef {{decoded: number, types: Record<string, number>, gone?: number}} Checked gone: tiles of a diff
 */

/**
 * @param {string} name @param {FileOptions} options
 * @returns {Promise<{kind: string, tiles: number, bytes: number, checked: Partial<Checked>}>}
 */
export async function verifyFile (name, { report, area, zooms, decode, scheme, grid, signal, onProgress }) {
  const kind = await recognise(name)
  if (!kind) throw new TilecouchError('SOURCE_UNKNOWN', { value: name })
  const source = await attempt(report, name, () =>
    openSource(name, { area, zooms, scheme, grid, signal, onFault: report.add }))
  if (!source) return { kind, tiles: 0, bytes: 0, checked: {} }
  try {
    const tiles = new FileTiles(source, report, name)
    const { total } = source
    const onTile = done => onProgress?.({ ...done, total })
    const done = await examineAll(tiles.jobs(), { report, decode, unpacked: true, signal, onTile })
    if (!done.tiles && !tiles.gone && !report.faults) report.add('no-tiles', name)
    const checked = { decoded: done.decoded, types: done.types, ...(source.diff && { gone: tiles.gone }) }
    return { kind, tiles: done.tiles, bytes: done.bytes, checked }
  } finally {
    await source.close()
  }
}

/**
 * Calls `read`, and reports damage that stops it, but only once. Throws other errors, such as that of Ctrl-C.
 * @template T
 * @param {import('./report.js').Report} report @param {string} name @param {() => Promise<T>} read
 * @returns {Promise<T | undefined>}
 */
async function attempt (report, name, read) {
  try {
    return await read()
  } catch (error) {
    if (!['ARCHIVE_INVALID', 'SOURCE_UNREADABLE'].includes(error.code)) throw error
    if (!report.faults) report.add('damaged-file', name, error.details.why)
    return undefined
  }
}

class FileTiles {
  /** Tiles that a diff says are gone. */
  gone = 0
  #previous = { id: '', where: '' }

  /** @param {Source} source @param {import('./report.js').Report} report @param {string} name of the file */
  constructor (source, report, name) {
    const { fields, bounds } = source
    this.source = source
    this.report = report
    this.name = name
    this.grid = gridOf(fields)
    this.zooms = { min: fields.minzoom ?? 0, max: fields.maxzoom ?? 30 }
    this.isInside = selectorOf(bounds && parseArea({ bbox: bounds, grid: this.grid }))
  }

  /** @returns {AsyncGenerator<import('./tiles.js').Job>} */
  async * jobs () {
    const tiles = this.source.tiles()[Symbol.asyncIterator]()
    for (;;) {
      const next = await attempt(this.report, this.name, async () => tiles.next())
      if (!next || next.done) return
      const tile = next.value
      if (tile.gone) this.gone++
      else if (this.#isPlaced(tile)) yield this.#job(tile)
    }
  }

  /** Whether the tile has a place in the pyramid. Reports a place that is doubtful. @param {SourceTile} tile */
  #isPlaced (tile) {
    const { z, x, y } = tile
    const { report, grid, zooms } = this
    const where = nameOf(tile)
    if (![z, x, y].every(Number.isInteger) || !grid.has(z, x, y)) {
      report.add('outside-pyramid', where, `not in ${grid.id}`)
      return false
    }
    const id = `${z}:${x}:${y}`
    if (this.#previous.id === id) report.add('duplicate-tile', where, `beside ${this.#previous.where}`)
    this.#previous = { id, where }
    if (z < zooms.min || z > zooms.max) report.add('outside-zooms', where, `zooms ${zooms.min} to ${zooms.max}`)
    if (!this.isInside(z, x, y)) report.add('outside-bounds', where)
    return true
  }

  /** @param {SourceTile} tile @returns {import('./tiles.js').Job} */
  #job (tile) {
    const statedFormat = this.source.fields.format
    return {
      where: nameOf(tile),
      content: tile.content,
      read: () => /** @type {Promise<Buffer>} */ (tile.read?.()),
      compare: ({ ext }) => ext ? compareFormats(ext, tile.ext, extensionOf(statedFormat)) : []
    }
  }
}

/** A tile as messages name it. @param {SourceTile} tile */
const nameOf = ({ z, x, y, file }) => file ?? `${z}/${x}/${y}`

/**
 * Browsers recognise images by their bytes, whatever the file says. They do not recognise vector tiles.
 * @param {string} ext of the bytes @param {string} [nameExt] of its name @param {string} [fileExt] of the file
 * @returns {import('./decode.js').Problems}
 */
function compareFormats (ext, nameExt, fileExt) {
  if (nameExt) return nameExt === ext ? [] : [['wrong-type', `${ext}, the name says ${nameExt}`]]
  if (!fileExt || fileExt === ext) return []
  const isVector = ext === 'pbf' || fileExt === 'pbf'
  return [[isVector ? 'wrong-type' : 'mixed-formats', `${ext}, the file says ${fileExt}`]]
}
