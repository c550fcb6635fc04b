// Lists of the tiles that differ, as JSON lines or as polygons for a map, written as they come.
import { once } from 'node:events'
import { open, rename, rm, stat } from 'node:fs/promises'
import { gridOf } from '../../../core/index.js'
import { union } from '../../../core/store/extent.js'
import { TilecouchError } from '../../errors.js'
import { lock } from '../lock.js'
import { targetError } from '../target.js'

const DIGITS = 10 // of a degree: a hundredth of a millimetre, and a hundredth of a tile of zoom 30

/** @param {import('./changes.js').Change} change */
function describeChange ({ z, x, y, change, from, to, since }) {
  return { z, x, y, change, from: from?.time ?? null, to: to?.time ?? since ?? null, bytes: (to ?? from)?.size ?? 0 }
}

/** One JSON object a line. */
export class ListReport {
  #out
  tiles = 0

  /** @param {string} file @param {NodeJS.WritableStream} stdout what `-` means */
  static open = async (file, stdout) => new ListReport(file === '-' ? new Stream(stdout) : await AtomicFile.open(file))

  /** @param {AtomicFile | Stream} out */
  constructor (out) {
    this.#out = out
  }

  /** @param {import('./changes.js').Change} change */
  add (change) {
    this.tiles++
    return this.#out.write(`${JSON.stringify(describeChange(change))}\n`)
  }

  finish () { return this.#out.finish() }
  discard () { return this.#out.discard() }
}

/** Writes no faster than it is read. */
class Stream {
  /** @param {NodeJS.WritableStream} stream */
  constructor (stream) {
    this.stream = stream
  }

  async write (text) {
    if (!this.stream.write(text)) await once(this.stream, 'drain')
  }

  async finish () {}
  async discard () {}
}

/** A FeatureCollection as RFC 7946 has it, one polygon a tile. */
export class GeoJsonReport {
  #out
  tiles = 0
  #begin
  #everyZoom
  #deepest = -1
  #separator = ''
  #bounds
  #grid

  /**
   * @param {string} file
   * @param {{name: string, everyZoom?: boolean, grid?: import('../../../core/grids/grid.js').Grid}} options everyZoom:
   * polygons for the tiles of every zoom, not of the deepest alone; grid: of the tiles
   */
  static open = async (file, options) => new GeoJsonReport(await AtomicFile.open(file), options)

  /**
   * @param {AtomicFile} out
   * @param {{name: string, everyZoom?: boolean, grid?: import('../../../core/grids/grid.js').Grid}} options
   */
  constructor (out, { name, everyZoom = false, grid = gridOf() }) {
    this.#out = out
    this.#grid = grid
    this.#begin = `{"type":"FeatureCollection","name":${JSON.stringify(name)},"features":[`
    this.#everyZoom = everyZoom
  }

  /** The zoom of the polygons, if all are of one. */
  get zoom () {
    return this.#everyZoom || this.#deepest < 0 ? undefined : this.#deepest
  }

  /** @param {import('./changes.js').Change} change */
  async add (change) {
    const { z, x, y } = change
    // zooms come in the order of ids, 10 before 9: only at the end is it known which is the deepest
    if (!this.#everyZoom && z < this.#deepest) return
    if (!this.#everyZoom && z > this.#deepest) await this.#restart()
    this.#deepest = Math.max(z, this.#deepest)
    this.tiles++
    const bounds = this.#grid.tileBounds(z, x, y).map(degrees => +degrees.toFixed(DIGITS))
    this.#bounds = union(this.#bounds, bounds)
    const [west, south, east, north] = bounds
    const feature = {
      type: 'Feature',
      properties: describeChange(change),
      // counterclockwise; no tile crosses the antimeridian
      geometry: {
        type: 'Polygon', coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]]
      }
    }
    await this.#out.write(`${this.#separator || this.#begin}\n${JSON.stringify(feature)}`)
    this.#separator = ','
  }

  async #restart () {
    if (this.#separator) await this.#out.restart()
    this.#separator = ''
    this.#bounds = undefined
    this.tiles = 0
  }

  async finish () {
    const bbox = this.#bounds ? `,"bbox":${JSON.stringify(this.#bounds)}` : ''
    await this.#out.write(`${this.#separator ? '' : this.#begin}\n]${bbox}}\n`)
    await this.#out.finish()
  }

  discard () { return this.#out.discard() }
}

/**
 * Features of vector tiles that differ, as a FeatureCollection. Written at the end: a feature may lie in several tiles.
 */
export class FeatureReport {
  #out
  #name
  changes

  /**
   * @param {string} file @param {NodeJS.WritableStream} stdout what `-` means
   * @param {{name: string, changes: import('./features.js').FeatureChanges}} options
   */
  static open = async (file, stdout, options) =>
    new FeatureReport(file === '-' ? new Stream(stdout) : await AtomicFile.open(file), options)

  /**
   * @param {AtomicFile | Stream} out
   * @param {{name: string, changes: import('./features.js').FeatureChanges}} options
   */
  constructor (out, { name, changes }) {
    this.#out = out
    this.#name = name
    this.changes = changes
  }

  /** @param {import('./changes.js').Change} change */
  add (change) { return this.changes.add(change) }

  async finish () {
    await this.changes.finish()
    await this.#out.write(`{"type":"FeatureCollection","name":${JSON.stringify(this.#name)},"features":[`)
    let separator = ''
    for (const feature of this.changes.features()) {
      await this.#out.write(`${separator}\n${JSON.stringify(feature)}`)
      separator = ','
    }
    await this.#out.write('\n]}\n')
    await this.#out.finish()
  }

  discard () { return this.#out.discard() }
}

const BUFFER = 65536 // characters collected before they are written

/** An empty file in place of one that was left. A link that somebody put there is not followed. */
async function openNew (file) {
  await rm(file, { force: true })
  return open(file, 'wx')
}

/** A text file that gets its final name only when it is complete. */
class AtomicFile {
  #file
  #part
  #handle
  #unlock
  #text = ''

  /** @param {string} file */
  static async open (file) {
    let unlock
    try {
      const isFolder = (await stat(file).catch(() => undefined))?.isDirectory()
      if (isFolder) throw new TilecouchError('TARGET_EXISTS', { value: file, why: 'it is a folder' })
      unlock = await lock(`${file}.part-lock`, file)
      return new AtomicFile(file, await openNew(`${file}.part`), unlock)
    } catch (error) {
      await unlock?.()
      throw targetError(error, file)
    }
  }

  constructor (file, handle, unlock) {
    this.#file = file
    this.#part = `${file}.part`
    this.#handle = handle
    this.#unlock = unlock
  }

  /** @param {string} text */
  async write (text) {
    this.#text += text
    if (this.#text.length >= BUFFER) await this.#flush()
  }

  /** Forgets what was written. */
  async restart () {
    this.#text = ''
    await this.#try(async () => {
      await this.#handle.truncate(0)
      await this.#handle.close()
      this.#handle = await openNew(this.#part)
    })
  }

  async #flush () {
    const text = this.#text
    this.#text = ''
    await this.#try(() => this.#handle.writeFile(text))
  }

  async finish () {
    await this.#flush()
    await this.#try(async () => {
      await this.#handle.close()
      await rename(this.#part, this.#file)
      await this.#unlock()
    })
  }

  async discard () {
    await this.#handle.close().catch(() => {})
    await rm(this.#part, { force: true }).catch(() => {})
    await this.#unlock().catch(() => {})
  }

  async #try (action) {
    try {
      return await action()
    } catch (error) {
      throw targetError(error, this.#file)
    }
  }
}
