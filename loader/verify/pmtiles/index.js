// PMTiles: the header, the directories, the metadata, and every content once.
import { tileIdToZxy } from 'pmtiles'
import { ID_LIMIT, idSelection } from '../../sources/pmtiles/ids.js'
import { LocalFile } from '../../sources/file.js'
import { recogniser } from '../../sources/magic.js'
import { unpack } from '../../sources/unpack.js'
import { decodeDefaults } from '../decode.js'
import { Claims } from '../metadata.js'
import { examineAll } from '../tiles.js'
import { Contents } from './contents.js'
import { Directories } from './directories.js'
import { HEADER_BYTES, readHeader } from './header.js'

const METADATA = 16e6 // bytes, unpacked
const BREATH = 10000 // entries after which others may go on
const COUNTED = 1e6 // tiles of one run that are counted one by one where only an area is wanted

export const isPmtiles = recogniser('pmtiles', /\.pmtiles$/i)

/**
 * @param {string} name
 * @param {import('../files.js').PickedOptions} options
 */
export async function verifyPmtiles (name, options) {
  const file = new LocalFile(name)
  try {
    const header = readHeader(file.readSync(0, Math.min(HEADER_BYTES, file.size)), file.size, (code, why) => options.report.add(code, 'header', why))
    if (!header) return { tiles: 0, bytes: 0, checked: {} }
    await checkMetadata(file, header, options.report)
    return await new Archive(file, header, options).verify()
  } finally {
    file.close()
  }
}

async function checkMetadata (file, { metadata: { offset, length }, packing, type }, report) {
  const bad = why => report.add('bad-metadata', 'metadata', why)
  if (!length) return bad('there is none: it must be a JSON object at least')
  if (length > METADATA) return bad(`it has ${length} bytes`)
  try {
    const text = (await unpack(file.readSync(offset, length), packing, METADATA)).toString()
    const metadata = JSON.parse(text)
    if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) bad('it is no JSON object')
    else if (type === 'mvt' && !Array.isArray(metadata.vector_layers)) bad('vector_layers is missing')
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
    this.#directories = new Directories(file, header, (code, where, why) => options.report.add(code, where, why))
    this.#wanted = options.area || options.zooms ? idSelection(options) : undefined
    const { minzoom, maxzoom, bounds, ext } = header
    this.#claims = new Claims(options.report, { minzoom, maxzoom, bounds, format: ext }, options.isPart)
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
    return { tiles: this.#tiles, bytes: done.bytes, checked: { entries: this.#directories.entries, contents: done.tiles, decoded: done.decoded, types: done.types } }
  }

  /** @returns {AsyncGenerator<import('../tiles.js').Job>} */
  async * #jobs () {
    const { signal } = this.#options
    let passed = 0
    for await (const entry of this.#directories.tiles()) {
      if (++passed % BREATH === 0) {
        await new Promise(resolve => { setImmediate(resolve) })
        if (signal?.aborted) return
      }
      this.#see(entry)
      if (this.#header.clustered ? this.#isNew(entry) : this.#isBeyond(entry)) yield * this.#job(entry)
    }
    if (!this.#header.clustered) yield * this.#scattered()
  }

  // the ends of a run say what zooms it has; all of its tiles would be too many for a run that somebody made up
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

  /** In a clustered archive, contents stand in the order of the tiles that show them first. */
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

  /** @returns {Generator<import('../tiles.js').Job>} */
  * #job ({ id, run = 1, offset, length }) {
    if (this.#header.type === 'mlt' || (this.#wanted && !this.#wanted.any(id, id + run))) return
    const { type, tilePacking } = this.#header
    const where = nameOf(id)
    yield {
      where,
      size: length,
      read: async () => {
        const bytes = this.#file.readSync(this.#header.data.offset + offset, length)
        if (isGzip(bytes) !== (tilePacking === 'gzip')) return bytes // told by compare
        return (type === 'mvt' && tilePacking === 'gzip') || tilePacking === 'none' || tilePacking === 'unknown' ? bytes : unpack(bytes, tilePacking, decodeDefaults.bytes)
      },
      compare: found => [...this.#claims.compare(found), ...this.#comparePacking(found)]
    }
  }

  /** @param {{ext?: string, bytes: Buffer}} found @returns {import('../decode.js').Problems} */
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
    const wrong = (what, said, counted) => { if (said && said !== counted) this.#report.add('wrong-count', 'header', `${said} ${what}, there are ${counted}`) }
    wrong('addressed tiles', addressed, this.#directories.addressed)
    wrong('tile entries', entries, this.#directories.entries)
    if (this.#contents.isFull) return
    wrong('tile contents', contents, clustered ? this.#contents.count : this.#distinct)
    if (data.length > this.#end) this.#report.add('unused-bytes', 'tile data', `${data.length - this.#end} bytes at its end`)
  }
}

const isGzip = bytes => bytes[0] === 0x1f && bytes[1] === 0x8b

function nameOf (id) {
  if (id >= ID_LIMIT) return `tile id ${id}`
  return tileIdToZxy(id).join('/')
}
