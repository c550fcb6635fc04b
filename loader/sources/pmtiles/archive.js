// An open PMTiles archive: its header, its directories as a list of tiles, its tiles.
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { TilecouchError, inspectTile } from '../../../core/index.js'
import { sourceLimits } from '../limits.js'
import { breather, invalid, reading } from '../reading.js'
import { unpack } from '../unpack.js'
import { Blocks } from './blocks.js'
import { walkDirectories } from './directory.js'
import { HEADER_BYTES, parseHeader } from './header.js'
import { idSelection } from './ids.js'
import { RemoteFile } from './remote.js'

export const archiveDefaults = {
  uncounted: 2 ** 26 // tiles of an archive, however short it is
}

const packed = promisify(gzip)
const isGzip = bytes => bytes[0] === 0x1f && bytes[1] === 0x8b

export class Archive {
  #file
  #name
  #header
  #spool

  /** @param {import('../file.js').LocalFile | RemoteFile} file @param {string} name for messages */
  constructor (file, name) {
    this.#file = file
    this.#name = name
  }

  async describe () {
    this.#header = await reading(this.#name, async () => parseHeader(await this.#file.read(0, Math.min(HEADER_BYTES, this.#file.size)), this.#file.size))
    if (this.#header.type === 'mlt') throw new TilecouchError('SOURCE_UNREADABLE', { value: this.#name, why: 'it holds MapLibre tiles (MLT), which a store does not keep' })
    return { header: this.#header, metadata: await reading(this.#name, () => this.#metadata(this.#header)) }
  }

  async #metadata ({ metadata: { offset, length }, packing }) {
    if (!length) return {}
    if (length > sourceLimits.metadata) throw new Error(`its metadata has ${length} bytes`)
    const bytes = await this.#file.read(offset, length)
    let text
    try {
      text = String(await unpack(bytes, packing, sourceLimits.metadata))
    } catch (error) {
      throw new Error(`its metadata cannot be read: ${error.message}`, { cause: error })
    }
    try {
      return Object(JSON.parse(text))
    } catch {
      return {} // it describes the tiles, it is not the tiles
    }
  }

  /**
   * Puts the tiles that are wanted into the order of their ids, and fetches them when they are elsewhere.
   * @param {import('../../spool.js').Spool} spool
   * @param {import('../index.js').SourceOptions} options
   */
  async index (spool, { area, zooms, signal, onReading }) {
    this.#spool = spool
    const wanted = idSelection({ area, zooms })
    const blocks = this.#file instanceof RemoteFile ? new Blocks(this.#header.data.length) : undefined
    const breathe = breather(signal)
    // a run of many takes no more room than one of few: a count is believed as far as there are bytes of tiles
    const most = Math.max(archiveDefaults.uncounted, this.#header.addressed ? this.#header.data.length : 0)
    let left = most
    await reading(this.#name, async () => {
      for await (const entries of walkDirectories(this.#file, this.#header, wanted.any)) {
        for (const { id, run, offset, length } of entries) {
          let any = false
          for (const [z, x, y] of wanted.tiles(id, id + run)) {
            spool.add(z, x, y, offset, length)
            any = true
            if (--left < 0) throw new Error(`it would have more than ${most} tiles: say which of them (--bbox, --polygon, --zoom)`)
            const pause = breathe()
            if (pause) await pause
          }
          if (any && length <= sourceLimits.tile) blocks?.add(offset, length) // what is longer is refused when it is read
        }
      }
    })
    if (this.#file instanceof RemoteFile && blocks) await this.#fetch(this.#file, blocks, onReading)
  }

  // once and in its own order: that of the tiles leads to and fro in it, and the server is far
  async #fetch (remote, blocks, onReading) {
    const total = blocks.bytes
    const { bavail, bsize } = await statfs(tmpdir())
    if (total > bavail * bsize) throw new TilecouchError('DISK_FULL', { where: `the folder for temporary files ${tmpdir()}` })
    const { offset } = this.#header.data
    let done = 0
    await remote.fetch(blocks.ranges(), offset, (at, bytes) => {
      this.#spool.place(at - offset, bytes)
      onReading?.({ bytes: done += bytes.length, total })
    })
  }

  /** @returns {AsyncGenerator<import('../index.js').SourceTile>} in the order of their ids */
  async * tiles () {
    for await (const { z, x, y, fields: [offset, length] } of this.#spool.tiles()) {
      yield { z, x, y, read: () => this.#read(`${z}/${x}/${y}`, offset, length) }
    }
  }

  #read (tile, offset, length) {
    if (length > sourceLimits.tile) throw this.#invalid(`${tile} has ${length} bytes`)
    try {
      const bytes = this.#file instanceof RemoteFile ? this.#spool.slice(offset, length) : this.#file.readSync(this.#header.data.offset + offset, length)
      return this.#isReady(bytes) ? bytes : this.#unpacked(tile, bytes)
    } catch (error) {
      throw error instanceof TilecouchError ? error : this.#invalid(error.message, error)
    }
  }

  // as a store keeps them: images as they are, vector tiles in gzip; what they are packed with is not always what the header says
  #isReady (bytes) {
    const { type, tilePacking } = this.#header
    if (tilePacking !== 'none' && tilePacking !== 'gzip') return false
    return type === 'mvt' ? isGzip(bytes) : tilePacking === 'none' || !isGzip(bytes)
  }

  async #unpacked (tile, bytes) {
    const { type, tilePacking } = this.#header
    const packing = tilePacking === 'gzip' && !isGzip(bytes) ? 'none' : tilePacking
    let content
    try {
      content = await unpack(bytes, packing, sourceLimits.tile)
    } catch (error) {
      throw this.#invalid(`${tile} cannot be read: ${error.message}`, error)
    }
    return type === 'mvt' || (type === 'unknown' && !isImage(content)) ? packed(content) : content
  }

  #invalid (why, cause) {
    return invalid(this.#name, why, cause)
  }
}

function isImage (bytes) {
  try {
    return inspectTile(bytes) && !isGzip(bytes)
  } catch {
    return false
  }
}
