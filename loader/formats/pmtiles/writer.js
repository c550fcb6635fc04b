// Writes PMTiles v3. Tiles come in any order and are staged beside the file; at the end they are put in the order of
// the format, each content once, and the file gets its name. Data too large for memory waits in files beside it.
import { closeSync, openSync, rmSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { zxyToTileId } from 'pmtiles'
import { MAX_LATITUDE } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { readAllSync, writeAllSync } from '../files.js'
import { digestOf } from '../../store/tile.js'
import { metadataOf } from '../metadata.js'
import { copyPieces } from './copy.js'
import { writeDirectories } from './directory.js'
import { VECTOR, commonestType, extensionOfType, headerBytes, tileTypes } from './header.js'
import { LAST_ZOOM, zoomOf } from './ids.js'
import { StagedTiles, removeStaged } from './staging.js'

const LONGEST_RUN = 2 ** 32 - 1
const WORLD = [-180, -MAX_LATITUDE, 180, MAX_LATITUDE]

const waitingFiles = part => ({ entries: `${part}-entries`, leaves: `${part}-leaves` })

/** @type {import('../../export/target.js').Kind['open']} */
export async function open (file, options) {
  const { doc, zooms, run } = options
  const deepest = Math.min(zooms?.max ?? Infinity, doc.maxzoom ?? 0)
  if (deepest > LAST_ZOOM) throw tooDeepError(file, deepest)
  const part = `${file}.part`
  // files of a run that was killed while it assembled the archive
  for (const leftover of [part, ...Object.values(waitingFiles(part))]) await fs.rm(leftover, { force: true })
  return new PmtilesWriter(file, options, await StagedTiles.open(part, run))
}

class PmtilesWriter {
  #file
  #part
  #options
  #staged
  #vector = /** @type {boolean | undefined} */ (undefined)

  constructor (file, options, staged) {
    this.#file = file
    this.#part = `${file}.part`
    this.#options = options
    this.#staged = staged
    this.resumed = staged.resumed
  }

  /** @param {import('../../export/target.js').Known} tile */
  has ({ z, x, y, time, digest }) {
    return z <= LAST_ZOOM && this.#staged.has(zxyToTileId(z, x, y), time, digest)
  }

  async add ({ z, x, y, time, type, bytes, digest = digestOf(bytes) }) {
    if (z > LAST_ZOOM) throw tooDeepError(this.#file, z)
    if (!bytes.length) throw new TilecouchError('EMPTY_IMAGE')
    const number = tileTypes[type]
    if (!number) throw this.#unwritable(`PMTiles has no tiles of the type ${type}`)
    this.#check(number)
    await this.#staged.add(zxyToTileId(z, x, y), { time, type: number, bytes, digest })
  }

  // readers unpack every tile of an archive or none
  #check (type) {
    this.#vector ??= type === VECTOR
    if (this.#vector !== (type === VECTOR)) {
      throw this.#unwritable('there are vector tiles and images in it, and PMTiles holds either')
    }
  }

  #unwritable (why) {
    return new TilecouchError('TARGET_UNWRITABLE', { value: this.#file, why })
  }

  async finish (facts) {
    if (!facts.tiles) throw this.#unwritable('PMTiles have to have tiles')
    await this.#staged.flush()
    const result = await this.#assemble(facts)
    await fs.rename(this.#part, this.#file)
    await this.#staged.close()
    await removeStaged(this.#part)
    return result
  }

  /** Header, root directory, metadata, leaf directories, tile data. */
  async #assemble (facts) {
    const part = this.#part
    const files = waitingFiles(part)
    const entries = new EntryFile(files.entries)
    const leavesFile = await fs.open(files.leaves, 'w+')
    const target = await fs.open(part, 'w')
    try {
      const { counts, types, length, zooms } = await placeContents(this.#staged, entries)
      for (const type of Object.keys(types)) this.#check(+type)
      const { root, leaves } = await writeDirectories(entries, {
        clear: () => leavesFile.truncate(0),
        write: bytes => leavesFile.appendFile(bytes)
      })
      const { metadata: fields, bounds, center } = archiveFacts(this.#options, facts, types)
      const metadata = gzipSync(JSON.stringify(fields), { level: 9 })
      const lengths = { root: root.length, metadata: metadata.length, leaves, data: length }
      const header = headerBytes({ lengths, counts, type: commonestType(types), zooms, bounds, center })
      const front = Buffer.concat([header, root, metadata])
      await target.writeFile(front)
      await copyPieces(leavesFile, target, front.length, [{ offset: 0, length: leaves }])
      await copyPieces(this.#staged.data, target, front.length + leaves, contents(entries))
      await target.sync()
      return { size: front.length + leaves + length, distinct: counts.contents }
    } catch (error) {
      await fs.rm(part, { force: true }) // it is large, and the disk may be full
      throw error
    } finally {
      entries.close()
      await Promise.all([target.close(), leavesFile.close()])
      await fs.rm(files.leaves, { force: true })
    }
  }

  async stop () {
    try {
      await this.#staged.flush()
    } finally {
      await this.#staged.close()
      if (this.#staged.isEmpty) await removeStaged(this.#part)
    }
  }
}

const tooDeepError = (file, z) => new TilecouchError('TARGET_UNWRITABLE', {
  value: file,
  why: `it would hold zoom ${z}, and PMTiles are read up to zoom ${LAST_ZOOM}; use --zoom 0-${LAST_ZOOM}`
})

/** Gives every content its place, in the order of the first tile that shows it, and makes the entries. */
async function placeContents (staged, entries) {
  const counts = { addressed: 0, entries: 0, contents: 0 }
  const types = /** @type {Record<number, number>} */ ({})
  let [first, entry, end] = [-1, /** @type {any} */ (undefined), 0]
  for (const tiles of staged.pages()) {
    if (first < 0) first = tiles[0].id
    for (const { id, stagedOffset, length, type, shared } of tiles) {
      counts.addressed++
      types[type] = (types[type] ?? 0) + 1
      if (entry?.stagedOffset === stagedOffset && entry.id + entry.run === id && entry.run < LONGEST_RUN) {
        entry.run++
        continue
      }
      if (entry) entries.push(entry)
      let offset = shared ? staged.placeOf(stagedOffset) : undefined
      if (offset === undefined) {
        offset = end
        end += length
        counts.contents++
        if (shared) staged.place(stagedOffset, offset)
      }
      entry = { id, run: 1, offset, length, stagedOffset }
    }
    await setImmediate() // let other work run
  }
  entries.push(entry)
  staged.forgetPlaces()
  counts.entries = entries.count
  return { counts, types, length: end, zooms: { min: zoomOf(first), max: zoomOf(entry.id + entry.run - 1) } }
}

/**
 * The contents in their new order. An entry is the first with its content if its offset is the end of all before it.
 */
function * contents (entries) {
  let end = 0
  for (const group of entries.groups()) {
    for (const { stagedOffset, offset, length } of group) {
      if (offset !== end) continue
      yield { offset: stagedOffset, length }
      end += length
    }
  }
}

/**
 * @param {import('../../export/target.js').TargetOptions} options @param {import('../../export/target.js').Facts} facts
 * @param {Record<number, number>} types tiles of each type
 * @returns {{metadata: Record<string, any>, bounds: number[], center: number[]}}
 */
function archiveFacts ({ layer, doc, time, typedTime, area }, facts, types) {
  const values = metadataOf(doc, facts, { layer, time, typedTime, area })
  const { bounds, center, minzoom, maxzoom, json, ...fields } = values
  const type = commonestType(types)
  const isMixed = Object.keys(types).length > 1
  return {
    metadata: {
      ...fields,
      format: extensionOfType(type),
      ...(isMixed && { formats: Object.keys(types).map(extensionOfType).join(',') }),
      ...(type === VECTOR && { vector_layers: doc.vector_layers ?? [] })
    },
    bounds: bounds ? widen(parseNumbers(bounds)) : WORLD,
    center: center ? parseNumbers(center) : [0, 0, 0]
  }
}

const parseNumbers = text => text.split(',').map(Number)

// a box that crosses the antimeridian cannot be written: readers want west < east
const widen = ([west, south, east, north]) => west < east ? [west, south, east, north] : [-180, south, 180, north]

const FIELDS = 5
const CHUNK = 8192 // entries read and written at once

/** @typedef {import('./directory.js').Entry & {stagedOffset?: number}} PlacedEntry stagedOffset: of its content */

/** The entries of an archive, ascending, in a temporary file: written once, read in order as often as wanted. */
export class EntryFile {
  #file
  #fd
  #chunk = new Float64Array(FIELDS * CHUNK)
  #filled = 0
  #written = 0
  count = 0

  constructor (file) {
    this.#file = file
    this.#fd = openSync(file, 'w+')
  }

  /** @param {PlacedEntry} entry */
  push ({ id, run, offset, length, stagedOffset = 0 }) {
    this.#chunk.set([id, run, offset, length, stagedOffset], this.#filled)
    this.#filled += FIELDS
    this.count++
    if (this.#filled === this.#chunk.length) this.#flush()
  }

  #flush () {
    const bytes = new Uint8Array(this.#chunk.buffer, 0, this.#filled * 8)
    writeAllSync(this.#fd, bytes, this.#written)
    this.#written += bytes.length
    this.#filled = 0
  }

  /** Groups of `size` entries; the last may have fewer. @param {number} [size] @returns {Generator<PlacedEntry[]>} */
  * groups (size = CHUNK) {
    this.#flush()
    const chunk = new Float64Array(FIELDS * CHUNK)
    let group = /** @type {PlacedEntry[]} */ ([])
    for (let position = 0; position < this.#written;) {
      const bytes = new Uint8Array(chunk.buffer, 0, Math.min(chunk.byteLength, this.#written - position))
      const read = readAllSync(this.#fd, bytes, position)
      if (read < bytes.length) throw new Error(`${this.#file} was cut off by another program`)
      for (let index = 0; index < read / 8; index += FIELDS) {
        const [id, run, offset, length, stagedOffset] = chunk.subarray(index, index + FIELDS)
        group.push({ id, run, offset, length, stagedOffset })
        if (group.length === size) {
          yield group
          group = []
        }
      }
      position += read
    }
    if (group.length) yield group
  }

  close () {
    closeSync(this.#fd)
    rmSync(this.#file, { force: true })
  }
}
