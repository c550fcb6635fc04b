// Verifies PMTiles: the header, the directories, the metadata, and every content once.
import { tileIdToZxy } from 'pmtiles'
import { gridOf } from '../../../core/index.js'
import { lowerBound } from '../../../core/search.js'
import { layerFieldsOf } from '../../formats/metadata.js'
import { LocalFile } from '../../formats/local-file.js'
import { Directories } from '../../formats/pmtiles/directory.js'
import { FIRST_BYTES, readHeader, readMetadata } from '../../formats/pmtiles/header.js'
import { ID_LIMIT, idSelection } from '../../formats/pmtiles/ids.js'
import { breather } from '../../formats/reading.js'
import { isGzip, unpack } from '../../formats/unpack.js'
import { Claims } from './claims.js'
import { examineAll } from './tiles.js'

export const contentsDefaults = {
  most: 2 ** 23 // contents that are remembered; beyond them neither counts nor overlaps are checked
}

const FIRST = 4096 // contents that there is room for at first
const COUNTED = 1e6 // tiles of one run that are counted one by one where only an area is wanted

/** @param {import('./index.js').SelectionOptions} options */
export async function verifyPmtiles (name, options) {
  const onFault = options.report.add
  const file = new LocalFile(name)
  try {
    const header = await readHeader(file, onFault)
    if (!header || !checkHeader(header, why => onFault('bad-structure', 'header', why), onFault)) return { tiles: 0, bytes: 0, checked: {} }
    const metadata = await checkMetadata(file, header, why => onFault('bad-metadata', 'metadata', why))
    const { grid = layerFieldsOf(metadata ?? {}).grid } = options
    const area = options.area?.in(gridOf({ grid }))
    return await new Archive(file, header, { ...options, area, grid }).verify()
  } finally {
    file.close()
  }
}

/** @returns {boolean} whether there is anything to read */
function checkHeader ({ root, codes, type, minzoom, maxzoom, bounds, center: [lon, lat, zoom] }, wrong, onFault) {
  if (!root.length) wrong('there is no root directory')
  else if (root.offset + root.length > FIRST_BYTES) wrong(`the root directory ends at byte ${root.offset + root.length}, beyond the first ${FIRST_BYTES}`)
  if (!root.length) return false
  if (codes.clustered > 1) wrong(`clustered is ${codes.clustered}, not 0 or 1`)
  if (!codes.packing) wrong('internal compression 0')
  if (!codes.tilePacking) wrong('tile compression 0')
  if (type === 'unknown' && codes.type) wrong(`tile type ${codes.type}`)
  if (minzoom > maxzoom || maxzoom > 30) wrong(`zooms ${minzoom} to ${maxzoom}`)
  if (!isBox(bounds)) wrong(`bounds ${bounds}`)
  else if (!bounds.some(Boolean)) onFault('sparse-metadata', 'header', 'there are no bounds')
  if (Math.abs(lon) > 180 || Math.abs(lat) > 90) wrong(`center ${lon}, ${lat}`)
  if (minzoom <= maxzoom && (zoom < minzoom || zoom > maxzoom)) {
    onFault('odd-structure', 'header', `zoom ${zoom} of the center is none of ${minzoom} to ${maxzoom}`)
  }
  return true
}

const isBox = ([west, south, east, north]) =>
  Math.abs(west) <= 180 && Math.abs(east) <= 180 && Math.abs(south) <= 90 && Math.abs(north) <= 90 && south <= north

/** @returns {Promise<Record<string, any> | undefined>} */
async function checkMetadata (file, header, bad) {
  if (!header.metadata.length) return bad('there is none: it must be a JSON object at least')
  try {
    const metadata = JSON.parse(await readMetadata(file, header))
    if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) bad('it is no JSON object')
    else if (header.type === 'mvt' && !Array.isArray(metadata.vector_layers)) bad('vector_layers is missing')
    return Object(metadata)
  } catch (error) {
    bad(error.message)
  }
}

class Archive {
  #file
  #header
  #options
  #report
  #directories
  #contents = new Contents()
  #wanted
  #claims
  #end = 0 // of the contents so far
  #tiles = 0
  #distinct = 0
  #isScattered = false

  constructor (file, header, options) {
    this.#file = file
    this.#header = header
    this.#options = options
    this.#report = options.report
    this.#directories = new Directories(file, header, options.report.add, { onEmpty: name => options.report.add('bad-structure', name, 'it is empty') })
    this.#wanted = options.area || options.zooms ? idSelection(options) : undefined
    const { minzoom, maxzoom, bounds, ext } = header
    const within = isBox(bounds) && bounds.some(Boolean) ? bounds : undefined
    const claims = { minzoom, maxzoom, bounds: within, format: ext, grid: options.grid }
    this.#claims = new Claims(options.report, claims, options.isPart)
  }

  async verify () {
    const { decode, signal, onProgress } = this.#options
    const total = this.#wanted ? undefined : this.#header.contents || undefined
    const isReadable = this.#header.type !== 'mlt'
    if (!isReadable) this.#report.add('odd-structure', 'header', 'MapLibre tiles (MLT) are not decoded here')
    const done = await examineAll(this.#jobs(), {
      report: this.#report, decode, unpacked: true, signal, onTile: now => onProgress?.({ ...now, total })
    })
    this.#claims.end('header')
    if (!this.#wanted) this.#count()
    const { tiles: contents, bytes, decoded, types } = done
    return { tiles: this.#tiles, bytes, checked: { entries: this.#directories.entries, contents, decoded, types } }
  }

  /** @returns {AsyncGenerator<import('./tiles.js').Job>} */
  async * #jobs () {
    const takeBreak = breather(this.#options.signal)
    for await (const entries of this.#directories.tiles()) {
      for (const entry of entries) {
        const pause = takeBreak()
        if (pause) await pause
        this.#see(entry)
        if (this.#header.clustered ? this.#isNew(entry) : this.#isBeyond(entry)) yield * this.#job(entry)
      }
    }
    if (!this.#header.clustered) yield * this.#scattered()
  }

  // the ends of a run show its zooms; a run that somebody made up has too many tiles to look at all
  #see ({ id, run }) {
    const ends = run > 1 ? [id, id + run - 1] : [id]
    for (const end of ends) {
      const [z, x, y] = tileIdToZxy(end)
      if (!this.#wanted || this.#wanted.any(end, end + 1)) this.#claims.see(`${z}/${x}/${y}`, z, x, y)
    }
    if (!this.#wanted) this.#tiles += run
    else if (this.#wanted.any(id, id + run)) {
      let counted = 0
      const tiles = this.#wanted.tiles(id, id + run)
      while (counted < COUNTED && !tiles.next().done) counted++
      this.#tiles += counted
    }
  }

  /** In a clustered archive, contents are in the order of the tiles that show them first. */
  #isNew ({ id, offset, length }) {
    if (offset < this.#end) {
      if (!this.#contents.isFull && !this.#contents.has(offset, length)) this.#report.add('bad-structure', nameOf(id), `it refers to ${length} bytes at ${offset}, where no content is`)
      return false
    }
    if (offset > this.#end && !this.#isScattered) {
      this.#isScattered = true
      this.#report.add('bad-structure', nameOf(id), `it says that it is clustered, but there are ${offset - this.#end} bytes before this tile that no tile before it refers to`)
    }
    this.#end = offset + length
    this.#contents.add(offset, length, id)
    return true
  }

  #isBeyond ({ id, offset, length }) {
    this.#contents.add(offset, length, id)
    return this.#contents.isFull
  }

  * #scattered () {
    for (const content of this.#contents.sorted()) {
      if (content.offset < this.#end) this.#report.add('bad-structure', nameOf(content.id), `its bytes at ${content.offset} are those of another tile as well`)
      this.#distinct++
      this.#end = Math.max(this.#end, content.offset + content.length)
      yield * this.#job(content)
    }
  }

  /** @returns {Generator<import('./tiles.js').Job>} */
  * #job ({ id, run = 1, offset, length }) {
    if (this.#header.type === 'mlt' || (this.#wanted && !this.#wanted.any(id, id + run))) return
    const { type, tilePacking } = this.#header
    const where = nameOf(id)
    yield {
      where,
      size: length,
      read: async () => {
        const bytes = this.#file.readSync(this.#header.data.offset + offset, length)
        if (isGzip(bytes) !== (tilePacking === 'gzip')) return bytes // compare reports it
        return (type === 'mvt' && tilePacking === 'gzip') || tilePacking === 'none' || tilePacking === 'unknown' ? bytes : unpack(bytes, { coding: tilePacking })
      },
      compare: found => [...this.#claims.compare(found), ...this.#comparePacking(found)]
    }
  }

  /** @param {{ext?: string, bytes: Buffer}} found @returns {import('./decode.js').Problems} */
  #comparePacking ({ ext, bytes }) {
    const { tilePacking } = this.#header
    const isPacked = isGzip(bytes)
    if (ext === 'pbf' && isPacked && tilePacking === 'none') return [['wrong-type', 'gzip, the header says that tiles are not compressed']]
    if (ext === 'pbf' && !isPacked && tilePacking === 'gzip') return [['wrong-type', 'not compressed, the header says gzip']]
    return []
  }

  #count () {
    const { addressed, entries, contents, clustered, data } = this.#header
    if (!this.#directories.isWhole) return
    const wrong = (what, stated, counted) => {
      if (stated && stated !== counted) this.#report.add('wrong-count', 'header', `${stated} ${what}, there are ${counted}`)
    }
    wrong('addressed tiles', addressed, this.#directories.addressed)
    wrong('tile entries', entries, this.#directories.entries)
    if (this.#contents.isFull) return
    wrong('tile contents', contents, clustered ? this.#contents.count : this.#distinct)
    if (data.length > this.#end) this.#report.add('unused-bytes', 'tile data', `${data.length - this.#end} bytes at its end`)
  }
}

function nameOf (id) {
  if (id >= ID_LIMIT) return `tile id ${id}`
  return tileIdToZxy(id).join('/')
}

/** Where the contents of an archive lie, in 20 bytes each, so that there may be millions. */
class Contents {
  #offsets = new Float64Array(FIRST)
  #lengths = new Float64Array(FIRST)
  #ids = new Float64Array(FIRST)
  #isAscending = true
  count = 0
  /** Whether there were more than can be remembered. */
  isFull = false

  add (offset, length, id) {
    if (this.count >= contentsDefaults.most) {
      this.isFull = true
      return
    }
    if (this.count === this.#offsets.length) this.#grow()
    if (this.count && offset <= this.#offsets[this.count - 1]) this.#isAscending = false
    this.#offsets[this.count] = offset
    this.#lengths[this.count] = length
    this.#ids[this.count++] = id
  }

  #grow () {
    const longer = old => {
      const grown = new Float64Array(2 * old.length)
      grown.set(old)
      return grown
    }
    this.#offsets = longer(this.#offsets)
    this.#lengths = longer(this.#lengths)
    this.#ids = longer(this.#ids)
  }

  /** Whether there is a content just there; asked while they come in ascending order. */
  has (offset, length) {
    const at = lowerBound(this.#offsets, offset, this.count)
    return at < this.count && this.#offsets[at] === offset && this.#lengths[at] === length
  }

  /**
   * In the order of the file, those at one place with one length once.
   * @returns {Generator<{offset: number, length: number, id: number}>}
   */
  * sorted () {
    const order = Uint32Array.from({ length: this.count }, (_, index) => index)
    if (!this.#isAscending) {
      order.sort((a, b) => this.#offsets[a] - this.#offsets[b] || this.#lengths[a] - this.#lengths[b] || a - b)
    }
    let last = { offset: -1, length: -1 }
    for (const index of order) {
      const content = { offset: this.#offsets[index], length: this.#lengths[index], id: this.#ids[index] }
      if (content.offset !== last.offset || content.length !== last.length) yield last = content
    }
  }
}
