// Opens PMTiles 3 as a source: one file, local or on a web server. Its tiles lie along a Hilbert curve, and many of
// them may share their bytes. On opening, its directories are read, and its tiles are put into the order of ids.
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { formats, gridOf, inspectTile } from '../../../core/index.js'
import { shared } from '../../../core/promises.js'
import { attempt, decodedText } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'
import { breather, invalid, reading, readingMetadata, sourceLimits, throwFaults } from '../../formats/reading.js'
import { LocalFile } from '../../formats/files.js'
import { layerFieldsOf, otherGridOf, parseObject, timeOf } from '../../formats/metadata.js'
import { Directories } from '../../formats/pmtiles/directory.js'
import { cannotUnpack, readHeader, readMetadata } from '../../formats/pmtiles/header.js'
import { idSelection } from '../../formats/pmtiles/ids.js'
import { Blocks, RemoteFile } from '../../formats/pmtiles/remote.js'
import { Spool } from '../../formats/spool.js'
import { canUnpack, isGzip, pack, unpack } from '../../formats/unpack.js'

export const pmtilesDefaults = {
  uncounted: 2 ** 26 // tiles of an archive, however short it is
}

export const recognisesUrl = url => /\.pmtiles$/i.test(url.pathname)

/** @type {import('./index.js').OpenSource} */
export async function open (name, options) {
  if (options.scheme === 'tms') {
    throw new TilecouchError('BAD_OPTION', {
      option: '--scheme', value: options.scheme, why: 'PMTiles always count rows from the north'
    })
  }
  const remote = /^https?:\/\//i.test(name)
  const file = remote ? new RemoteFile(name, options.signal) : await reading(name, async () => new LocalFile(name))
  /** @type {Spool | undefined} */
  let spool
  // closed once: a second close would close whatever has the number of the descriptor by then
  const close = shared(async () => {
    await file.close()
    await spool?.close()
  })
  try {
    const shown = file instanceof RemoteFile ? file.shown : name
    const { header, metadata } = await reading(shown, () => readFront(file, shown, options.onFault))
    spool = await Spool.open()
    const archive = new Archive(file, shown, header, spool)
    const fields = fieldsOf(header, metadata, why => options.onFault?.('bad-metadata', 'header', why))
    const area = options.area?.in(gridOf({ grid: options.isGridGiven ? options.grid : fields.grid ?? options.grid }))
    await archive.index({ ...options, area })
    return {
      name: remote ? decodedText(path.posix.basename(new URL(name).pathname)) : path.basename(path.resolve(name)),
      fields,
      bounds: fields.bounds,
      profile: otherGridOf(metadata),
      isInGrid: true,
      time: timeOf(metadata),
      total: spool.count(),
      tiles: () => archive.tiles(),
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** @param {import('../../formats/reading.js').OnFault} [onFault] */
async function readFront (file, name, onFault) {
  const header = await readHeader(file, onFault ?? throwFaults(name))
  if (!header) throw invalid(name, 'it has no header') // throwFaults threw already
  if (!canUnpack(header.packing)) throw invalid(name, cannotUnpack(header.packing))
  if (!canUnpack(header.tilePacking)) throw invalid(name, cannotUnpack(header.tilePacking))
  if (header.type === 'mlt') {
    throw new TilecouchError('SOURCE_UNREADABLE', {
      value: name, why: 'it holds MapLibre tiles (MLT), which a store does not keep'
    })
  }
  const onBad = why => onFault?.('bad-metadata', 'metadata', why)
  const metadata = await readingMetadata(onFault, async () => parseObject(await readMetadata(file, header), onBad))
  return { header, metadata }
}

/** The fields of the layer. The bounds are in the header, where some writers leave zeros. */
function fieldsOf ({ type, minzoom, maxzoom, bounds, center }, metadata, onBad) {
  const placed = bounds.some(Boolean)
  return layerFieldsOf({
    ...metadata,
    ...(minzoom <= maxzoom && { minzoom, maxzoom }),
    ...(placed && { bounds: bounds.join(), center }),
    ...(type !== 'unknown' && { format: formats[type]?.ext })
  }, onBad)
}

const tooMany = most =>
  new Error(`it would have more than ${most} tiles: say which of them (--bbox, --polygon, --zoom)`)

class Archive {
  #file
  #name
  #header
  #spool

  /** @param {LocalFile | RemoteFile} file @param {string} name for messages @param {Spool} spool for its tiles */
  constructor (file, name, header, spool) {
    this.#file = file
    this.#name = name
    this.#header = header
    this.#spool = spool
  }

  /**
   * Lists the selected tiles, and fetches them if the file is on a server.
   * @param {import('./index.js').SourceOptions} options
   */
  async index ({ area, zooms, signal, onReading, onFault = throwFaults(this.#name) }) {
    const header = this.#header
    const ids = idSelection({ area, zooms })
    const blocks = this.#file instanceof RemoteFile ? new Blocks(header.data.length) : undefined
    const takeBreak = breather(signal)
    // a long run takes no more bytes than a short one: only so many tiles are believed as there are bytes of tiles
    const most = Math.max(pmtilesDefaults.uncounted, header.addressed ? header.data.length : 0)
    let remaining = most
    await reading(this.#name, async () => {
      const directories = new Directories(this.#file, header, onFault, ids.any)
      for await (const entries of directories.tiles()) {
        for (const count of /** @type {const} */ (['entries', 'addressed'])) {
          if (header[count] && directories[count] > header[count]) {
            throw new Error(`it says that it has ${header[count]} ${count === 'entries' ? count : 'tiles'}, but it ` +
              'has more')
          }
        }
        for (const { id, run, offset, length } of entries) {
          let isSelected = false
          if (!area && !zooms && run > remaining) throw tooMany(most)
          for (const [z, x, y] of ids.tiles(id, id + run)) {
            this.#spool.add(z, x, y, offset, length)
            isSelected = true
            if (--remaining < 0) throw tooMany(most)
            const pause = takeBreak()
            if (pause) await pause
          }
          if (isSelected && length <= sourceLimits.tile) {
            blocks?.add(offset, length) // a longer tile is refused when it is read
          }
        }
      }
    })
    if (this.#file instanceof RemoteFile && blocks) await this.#fetch(this.#file, blocks, onReading)
  }

  // reads the remote file once, in its own order: the order of the tiles would jump to and fro
  async #fetch (remote, blocks, onReading) {
    const total = blocks.bytes
    const { bavail, bsize } = await statfs(tmpdir())
    if (total > bavail * bsize) {
      throw new TilecouchError('DISK_FULL', { where: `the folder for temporary files ${tmpdir()}` })
    }
    const { offset } = this.#header.data
    let done = 0
    await remote.fetch(blocks.ranges(), offset, (position, bytes) => {
      this.#spool.place(position - offset, bytes)
      onReading?.({ bytes: done += bytes.length, total })
    })
  }

  /** @returns {AsyncGenerator<import('./index.js').SourceTile>} in the order of their ids */
  async * tiles () {
    for await (const { z, x, y, fields: [offset, length] } of this.#spool.tiles()) {
      yield { z, x, y, content: `${offset}+${length}`, read: () => this.#read(`${z}/${x}/${y}`, offset, length) }
    }
  }

  #read (tile, offset, length) {
    if (length > sourceLimits.tile) throw invalid(this.#name, `${tile} has ${length} bytes`)
    try {
      const bytes = this.#file instanceof RemoteFile
        ? this.#spool.slice(offset, length)
        : this.#file.readSync(this.#header.data.offset + offset, length)
      return this.#isReady(bytes) ? bytes : this.#repacked(tile, bytes)
    } catch (error) {
      throw error instanceof TilecouchError ? error : invalid(this.#name, error.message, error)
    }
  }

  // whether bytes are as a store keeps them: images plain, vector tiles in gzip. The header may state a wrong packing
  #isReady (bytes) {
    const { type, tilePacking } = this.#header
    if (tilePacking !== 'none' && tilePacking !== 'gzip') return false
    return type === 'mvt' ? isGzip(bytes) : tilePacking === 'none' || !isGzip(bytes)
  }

  async #repacked (tile, bytes) {
    const { type, tilePacking } = this.#header
    const coding = tilePacking === 'gzip' && !isGzip(bytes) ? 'none' : tilePacking
    let content
    try {
      content = await unpack(bytes, { coding, limit: sourceLimits.tile })
    } catch (error) {
      throw invalid(this.#name, `${tile} cannot be read: ${error.message}`, error)
    }
    return type === 'mvt' || (type === 'unknown' && !isImage(content)) ? pack(content) : content
  }
}

const isImage = bytes => attempt(() => inspectTile(bytes)) !== undefined && !isGzip(bytes)
