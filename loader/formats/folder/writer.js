// Writes a folder of z/x/y.ext files, as tile tools and web servers use it. Each file appears complete, with the time
// of its version. Place, time and content tell which version a file is, so that an export can be resumed, or run again
// to bring the folder up to date. A file that replaces another image of the same time gets the next second: web servers
// compare only times to know whether a cached image is still valid. Links in the folder are not followed: other users
// may have put them there.
import { lstat, mkdir, readFile, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { LRUCache } from 'lru-cache'
import { extensionOf, gridOf, toSeconds } from '../../../core/index.js'
import { sharePromise } from '../../../core/promises.js'
import { TilecouchError } from '../../errors.js'
import { isOwnFolder, readTextIfThere } from '../files.js'
import { digestOf } from '../../store/tile.js'
import { METADATA, metadataJson } from '../metadata.js'
import { readColumn } from '../names.js'
import { MARK } from './reader.js'

const folderDefaults = {
  concurrency: 16, // files written at once
  columns: 16 // folders whose files are remembered
}

const WORK = '.tilecouch.part' // a folder for unfinished files
const MOVED = 60000 // milliseconds that a file may be later than its version
const EARLIEST = -(2 ** 31) * 1000 // the first time that file systems know, in 1901; earlier ones become it

export const lockOf = folder => path.join(folder, '.tilecouch.part-lock')

/** Milliseconds since 1970. */
const fileTime = time => Math.max(toSeconds(time) * 1000, EARLIEST)

/** Whether a file may be a version, by its time. */
const hasTimeOf = ({ mtimeMs }, time) => mtimeMs >= fileTime(time) && mtimeMs <= fileTime(time) + MOVED

/** @type {import('../../export/target.js').Kind['open']} */
export async function open (folder, { layer, scheme = 'xyz', force, ...options }) {
  const mark = JSON.stringify({ layer, scheme })
  await mkdir(folder, { recursive: true })
  const storedMark = readTextIfThere(path.join(folder, MARK), { links: false })
  if (storedMark !== undefined && storedMark !== mark) {
    throw new TilecouchError('TARGET_EXISTS', { value: folder, why: `it holds ${markWords(storedMark)}` })
  }
  const isEmpty = (await readdir(folder)).every(name => name.startsWith('.') || name === 'lost+found')
  if (storedMark === undefined && !isEmpty && !force) {
    throw new TilecouchError('TARGET_EXISTS', { value: folder, why: 'it is not empty, and no export made it' })
  }
  await rm(path.join(folder, WORK), { recursive: true, force: true })
  await mkdir(path.join(folder, WORK))
  if (storedMark === undefined) await writeFile(path.join(folder, MARK), mark, { flag: 'wx' })
  return new FolderWriter(folder, { ...options, layer, scheme }, !isEmpty)
}

function markWords (mark) {
  try {
    const { layer, scheme } = JSON.parse(mark)
    return `the layer ${layer}, with rows from the ${scheme === 'tms' ? 'south (tms)' : 'north (xyz)'}`
  } catch {
    return `a damaged ${MARK}`
  }
}

class FolderWriter {
  #folder
  #options
  #writing = new Set()
  #failure
  #written = 0
  /** Files by row, of the columns looked at last. @type {LRUCache<string, Promise<Map<number, string[]>>>} */
  #columns = new LRUCache({ max: folderDefaults.columns })
  #lastFolder = ''
  #isTidying = false

  constructor (folder, options, resumed) {
    this.#folder = folder
    this.#options = options
    this.resumed = resumed
  }

  /** @param {import('../../export/target.js').Known} tile */
  async has ({ z, x, y, time, size, digest }) {
    for (const file of await this.#filesOf(z, x, y)) {
      const stats = await lstat(file)
      if (stats.size === size && hasTimeOf(stats, time) && digestOf(await readFile(file)) === digest) return true
    }
    return false
  }

  async #filesOf (z, x, y) {
    const rows = await this.#rows(z, x)
    return rows.get(this.#row(z, y)) ?? []
  }

  #row (z, y) {
    return this.#options.scheme === 'tms' ? gridOf(this.#options.doc).flipY(z, y) : y
  }

  #rows (z, x) {
    return sharePromise(this.#columns, `${z}/${x}`, () => this.#column(z, x).then(readColumn))
  }

  /** The folder of a column. Throws if it, or that of the zoom, is a link or a file. */
  async #column (z, x) {
    const zoom = path.join(this.#folder, `${z}`)
    const column = path.join(zoom, `${x}`)
    if (await isOwnFolder(zoom)) await isOwnFolder(column)
    return column
  }

  /** Returns as soon as there is room for the next one. */
  async add (tile) {
    while (this.#writing.size >= folderDefaults.concurrency) await Promise.race(this.#writing)
    if (this.#failure) throw this.#failure
    const writing = this.#write(tile).catch(error => { this.#failure ??= error })
      .then(() => { this.#writing.delete(writing) })
    this.#writing.add(writing)
  }

  async #write ({ z, x, y, time, type, bytes }) {
    const part = path.join(this.#folder, WORK, `${this.#written++}`)
    await writeFile(part, bytes)
    const directory = path.join(this.#folder, `${z}`, `${x}`)
    const target = path.join(directory, `${this.#row(z, y)}.${extensionOf(type)}`)
    const oldStats = this.resumed ? await lstat(target).catch(() => undefined) : undefined
    const fileDate = new Date(oldStats && hasTimeOf(oldStats, time) ? oldStats.mtimeMs + 1000 : fileTime(time))
    await utimes(part, fileDate, fileDate)
    if (this.#lastFolder !== directory) {
      await mkdir(await this.#column(z, x), { recursive: true })
      this.#lastFolder = directory
    }
    await rename(part, target)
  }

  /**
   * Removes a file only if it is another version of its tile: then an export wrote it. The shown version must have its
   * file first, so a tile that changed after its file was written keeps that file.
   * @param {import('../../store/list.js').ListedTile} tile @param {string} [shown] time
   */
  async tidy ({ z, x, y, versions }, shown) {
    if (!this.#isTidying) {
      await this.#allWritten()
      this.#columns.clear() // they were read before the last files were written
      this.#isTidying = true
    }
    const files = versions.length > 1 || shown === undefined ? await this.#filesOf(z, x, y) : []
    const candidates = await Promise.all(files.map(async file => ({ file, stats: await lstat(file) })))
    const isVersion = (stats, { time, size, gone }) => !gone && stats.size === size && hasTimeOf(stats, time)
    const versionOf = ({ stats }) => versions.findLast(version => isVersion(stats, version))
    if (shown !== undefined && !candidates.some(candidate => versionOf(candidate)?.time === shown)) return 0
    const outdated = candidates.filter(candidate => ![undefined, shown].includes(versionOf(candidate)?.time))
    for (const { file } of outdated) await rm(file)
    return outdated.length
  }

  async #allWritten () {
    await Promise.all(this.#writing)
    if (this.#failure) throw this.#failure
  }

  async finish (facts) {
    await this.#allWritten()
    const { doc, ...options } = this.#options
    const work = path.join(this.#folder, WORK)
    await writeFile(path.join(work, METADATA), metadataJson(doc, facts, options))
    await rename(path.join(work, METADATA), path.join(this.#folder, METADATA))
    await rm(work, { recursive: true })
    return { size: facts.bytes }
  }

  async stop () {
    await Promise.all(this.#writing)
    await rm(path.join(this.#folder, WORK), { recursive: true, force: true })
  }
}
