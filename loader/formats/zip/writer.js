// Writes a zip of z/x/y.ext files, stored: images do not shrink. yazl would keep every file in memory until the end and
// search all of them for each; here the directory waits in a second file.
import { open as openFile, rename, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { extensionOf, gridOf } from '../../../core/index.js'
import { GONE_LIST } from '../gone.js'
import { METADATA, metadataJson } from '../metadata.js'
import { directoryRecord, endRecords, localHeader } from './records.js'

export const zipDefaults = {
  buffer: 1e6 // bytes gathered before they are written
}

/** @type {import('../../export/target.js').Kind['open']} */
export async function open (file, options) {
  const archive = await Appended.open(`${file}.part`)
  try {
    return new ZipWriter(file, options, archive, await Appended.open(`${file}.part-directory`))
  } catch (error) {
    await archive.remove()
    throw error
  }
}

class ZipWriter {
  resumed = false // a zip that was not ended has no directory: it is begun again
  #file
  #options
  #archive
  #directory
  #entries = 0
  /** @type {string[]} */
  #gone = []

  constructor (file, options, archive, directory) {
    this.#file = file
    this.#options = options
    this.#archive = archive
    this.#directory = directory
  }

  has () { return false }

  #row (z, y) {
    return this.#options.scheme === 'tms' ? gridOf(this.#options.doc).flipY(z, y) : y
  }

  add ({ z, x, y, time, type, bytes }) {
    return this.#addFile(`${z}/${x}/${this.#row(z, y)}.${extensionOf(type)}`, bytes, time)
  }

  async #addFile (path, bytes, time) {
    const entry = { name: Buffer.from(path), crc: crc32(bytes), size: bytes.length, time: Date.parse(time) }
    const offset = this.#archive.size
    await this.#archive.append(localHeader(entry))
    await this.#archive.append(bytes)
    await this.#directory.append(directoryRecord({ ...entry, offset }))
    this.#entries++
  }

  gone ({ z, x, y }) {
    this.#gone.push(`${z}/${x}/${this.#row(z, y)}\n`)
  }

  async finish (facts) {
    const { doc, diff, ...options } = this.#options
    const time = options.time ?? facts.last ?? '1980-01-01T00:00:00Z'
    if (diff || this.#gone.length) await this.#addFile(GONE_LIST, Buffer.from(this.#gone.join('')), time)
    await this.#addFile(METADATA, Buffer.from(metadataJson(doc, facts, options)), time)
    const directory = { entries: this.#entries, offset: this.#archive.size, size: this.#directory.size }
    for await (const chunk of this.#directory.read()) await this.#archive.append(chunk)
    await this.#archive.append(endRecords(directory))
    await this.#archive.close()
    await rename(`${this.#file}.part`, this.#file)
    await this.#directory.remove()
    return { size: this.#archive.size }
  }

  async stop () {
    await this.#archive.remove()
    await this.#directory.remove()
  }
}

/** A file that grows at its end. */
class Appended {
  #handle
  #name
  /** @type {Buffer[]} */
  #chunks = []
  #waiting = 0
  size = 0

  static async open (name) {
    return new Appended(name, await openFile(name, 'w+'))
  }

  constructor (name, handle) {
    this.#name = name
    this.#handle = handle
  }

  async append (bytes) {
    this.#chunks.push(bytes)
    this.#waiting += bytes.length
    this.size += bytes.length
    if (this.#waiting >= zipDefaults.buffer) await this.#flush()
  }

  async #flush () {
    const bytes = Buffer.concat(this.#chunks)
    this.#chunks = []
    this.#waiting = 0
    await this.#handle.appendFile(bytes)
  }

  /** @returns {AsyncGenerator<Buffer>} */
  async * read () {
    await this.#flush()
    yield * this.#handle.createReadStream({ start: 0, autoClose: false, highWaterMark: zipDefaults.buffer })
  }

  /** Whole and on the disk. */
  async close () {
    await this.#flush()
    await this.#handle.sync()
    await this.#handle.close()
  }

  async remove () {
    await this.#handle.close().catch(() => {}) // closed already
    await rm(this.#name, { force: true })
  }
}
