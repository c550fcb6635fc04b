// Verifies folders, zip and tar of tile files: names, other files, every tile, and the check sums of a zip.
import { MAX_ZOOM, compareIds } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { ArchiveNames } from '../formats/archive-names.js'
import { FolderReader } from '../formats/folder/reader.js'
import { GONE_LIST } from '../formats/gone.js'
import { LocalFile } from '../formats/local-file.js'
import { METADATA } from '../formats/metadata.js'
import { breather } from '../formats/reading.js'
import { keepEntry, readTar } from '../formats/tar.js'
import * as zip from '../formats/zip/reader.js'
import { Spool } from '../spool.js'
import { childSignal } from '../store/child-signal.js'
import { Claims, claimsOf } from './claims.js'
import { decodeDefaults } from './decode.js'
import { examineAll } from './tiles.js'

/** @typedef {import('./index.js').SelectionOptions} Options */

/** A folder is read one column at a time. */
export async function verifyFolder (folder, options) {
  const { report, selected, scheme, grid, signal, isCounted, onProgress } = options
  const reader = new FolderReader(folder, { scheme, grid, signal, onFault: report.add })
  const beside = await Beside.open(reader, options)
  const counting = isCounted ? countMeanwhile(folder, options) : undefined
  const onTile = now => onProgress?.({ ...now, total: counting?.total })
  try {
    return summaryOf(await examine(jobs(), { ...options, onProgress: onTile }), beside.end())
  } finally {
    counting?.end()
    await beside.close()
  }

  async function * jobs () {
    for (const z of await reader.numbers()) {
      if (z > MAX_ZOOM) report.add('outside-pyramid', `${z}`, `zoom ${z}`)
      else for (const x of await reader.numbers(`${z}`)) yield * column(z, x)
    }
  }

  /** @returns {AsyncGenerator<import('./tiles.js').Job>} */
  async function * column (z, x) {
    let last = { path: '', y: -1 }
    for (const tile of await reader.tiles(z, x)) {
      const { path: where, y, ext } = tile
      if (tile.isOutside || !selected(z, x, y)) continue
      if (last.y === y) report.add('duplicate-tile', where, `beside ${last.path}`)
      last = tile
      await beside.see(where, z, x, y)
      yield { where, read: () => reader.read(where), compare: found => compareExt(found.ext, ext) }
    }
  }
}

/**
 * Counts the tiles of a folder while they are read: their names alone take a moment.
 * @returns {{total?: number, end: () => void}} total: once all are counted
 */
function countMeanwhile (folder, { selected, scheme, grid, signal }) {
  const child = childSignal(signal)
  const counting = { total: /** @type {number | undefined} */ (undefined), end: child.end }
  const count = async () => {
    const reader = new FolderReader(folder, { scheme, grid, signal: child.signal, onFault: () => {} })
    let total = 0
    for (const z of await reader.numbers()) {
      if (z > MAX_ZOOM) continue
      for (const x of await reader.numbers(`${z}`)) {
        for (const { y, isOutside } of await reader.tiles(z, x)) if (!isOutside && selected(z, x, y)) total++
      }
    }
    counting.total = total
  }
  count().catch(() => {}) // the check meets the same error and reports it
  return counting
}

export async function verifyZip (name, options) {
  const { report, signal, onProgress } = options
  const file = new LocalFile(name)
  const spool = await Spool.open()
  try {
    const names = namesOf(options)
    for await (const { name: entry, place, isEncrypted } of zip.readZip(file, { onFault: report.add, signal })) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      const tile = names.tile(entry)
      if (isEncrypted) report.add('unreadable-tile', entry, 'it is encrypted')
      else if (tile) {
        if (!tile.isOutside) spool.add(tile.z, tile.x, tile.y, ...zip.fieldsOf(place, tile.ext))
      } else if (!entry.endsWith('/') && await isSound(file, entry, place, options)) {
        names.beside(entry, place.size)?.(() => zip.streamZipped(file, place))
      }
    }
    const gone = await checkList(names, spool, options, (times, where) => report.add('duplicate-tile', where, `${times} times`))
    const total = spool.count()
    const onTile = now => onProgress?.({ ...now, total })
    return summaryOf(await examine(jobsOfZip(file, spool), { ...options, onProgress: onTile }), gone)
  } finally {
    file.close()
    await spool.close()
  }
}

/** A tar is read once from beginning to end, each tile decoded as it passes. */
export async function verifyTar (name, options) {
  const { onProgress } = options
  const spool = await Spool.open()
  try {
    const names = namesOf(options)
    let read
    const jobs = jobsOfTar(name, names, spool, { ...options, onRead: part => { read = part } })
    const done = await examine(jobs, { ...options, onProgress: now => onProgress?.({ ...now, read }) })
    const twice = (times, where) => options.report.add('odd-structure', where, `it is there ${times} times: the last of them counts`)
    return summaryOf(done, await checkList(names, spool, options, twice))
  } finally {
    await spool.close()
  }
}

const namesOf = ({ report, selected, scheme, grid, signal }) =>
  new ArchiveNames({ selected, scheme, grid, signal, onFault: report.add })

/** @param {AsyncIterable<import('./tiles.js').Job>} jobs */
const examine = (jobs, { report, decode, signal, onProgress }) =>
  examineAll(jobs, { report, decode, unpacked: true, signal, onTile: onProgress })

const summaryOf = ({ tiles, bytes, decoded, types }, gone) =>
  ({ tiles, bytes, checked: { decoded, types, ...(gone !== undefined && { gone }) } })

/** Whether a file beside the tiles is what the directory of the zip says. @param {LocalFile} file */
async function isSound (file, name, place, { report, signal }) {
  try {
    for await (const chunk of zip.streamZipped(file, place)) if (chunk && signal?.aborted) throw new TilecouchError('ABORTED')
    return true
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    report.add(error.fault ?? 'unreadable-tile', name, error.message)
    return false
  }
}

/** @returns {AsyncGenerator<import('./tiles.js').Job>} */
async function * jobsOfZip (file, spool) {
  for await (const { z, x, y, fields } of spool.tiles()) {
    const { place, ext } = zip.placeOf(fields)
    yield {
      where: `${z}/${x}/${y}`,
      size: Math.max(place.packed, place.size),
      read: () => zip.readZipped(file, place),
      compare (found) {
        const wrong = zip.wrongContent(place, zip.contentOf(found.bytes))
        return [...compareExt(found.ext, ext), ...(wrong ? [wrong] : [])]
      }
    }
  }
}

/** @param {ArchiveNames} names @returns {AsyncGenerator<import('./tiles.js').Job>} */
async function * jobsOfTar (name, names, spool, { report, signal, onRead }) {
  /** @type {import('./tiles.js').Job[]} */
  let ready = []
  const files = readTar(name, {
    signal,
    onFault: report.add,
    onFile (entry) {
      const { path: where, size } = entry
      const tile = names.tile(where)
      const keep = tile ? undefined : names.beside(where, size)
      if (keep) return keep(keepEntry(entry, spool))
      if (!tile || tile.isOutside || size > decodeDefaults.bytes) entry.resume()
      if (!tile || tile.isOutside) return
      spool.add(tile.z, tile.x, tile.y)
      /** @type {Buffer[]} */
      const chunks = []
      const end = () => {
        const bytes = Buffer.concat(chunks)
        const compare = found => compareExt(found.ext, tile.ext)
          .concat(bytes.length === size ? [] : [['wrong-length', `${bytes.length} bytes, its header says ${size}`]])
        ready.push({ where, size, read: () => bytes, compare })
      }
      if (size > decodeDefaults.bytes) return end() // not read: it is too large
      entry.on('data', chunk => chunks.push(Buffer.from(chunk)))
      entry.on('end', end)
    }
  })
  for await (const part of files) {
    onRead(part)
    yield * ready
    ready = []
  }
  yield * ready
}

/** @returns {import('./decode.js').Problems} */
const compareExt = (found, ext) => found && found !== ext ? [['wrong-type', `${found}, the name says ${ext}`]] : []

/**
 * Checks the list of all tiles of an archive.
 * @param {ArchiveNames} names
 * @param {(times: number, where: string) => void} onTwice
 * @returns {Promise<number | undefined>} how many tiles are gone, in a diff
 */
async function checkList (names, spool, options, onTwice) {
  const beside = await Beside.open(names, options)
  try {
    const takeBreak = breather(options.signal)
    for await (const { z, x, y, times } of spool.tiles()) {
      const pause = takeBreak()
      if (pause) await pause
      const where = `${z}/${x}/${y}`
      await beside.see(where, z, x, y)
      if (times > 1) onTwice(times, where)
    }
    return beside.end()
  } finally {
    await beside.close()
  }
}

/** What metadata and the list of gone tiles say, compared with the tiles in the order of their ids. */
class Beside {
  #report
  #claims
  #gone
  #list
  #next

  /** @param {FolderReader | ArchiveNames} reader */
  static async open (reader, { report, isPart, grid }) {
    const bad = why => report.add('bad-metadata', METADATA, why)
    let metadata = {}
    try {
      const text = await reader.metadata()
      // the extension of each tile says its format
      if (text !== undefined) metadata = { ...claimsOf(JSON.parse(text), bad), format: undefined }
    } catch (error) {
      if (error.code === 'ABORTED') throw error
      bad(error.message)
    }
    let gone
    try {
      gone = await reader.gone()
    } catch (error) {
      if (error.code === 'ABORTED' || error.code === 'DISK_FULL') throw error
      report.add('bad-structure', GONE_LIST, error.details?.why ?? error.message)
    }
    return new Beside(report, new Claims(report, { ...metadata, ...(grid && { grid }) }, isPart), gone)
  }

  constructor (report, claims, gone) {
    this.#report = report
    this.#claims = claims
    this.#gone = gone
    this.#list = gone?.tiles()
  }

  async #read () {
    this.#next = (await this.#list?.next())?.value
  }

  async see (where, z, x, y) {
    this.#claims.see(where, z, x, y)
    if (!this.#list) return
    if (!this.#next) await this.#read()
    const id = `${z}:${x}:${y}`
    while (this.#next && compareIds(idOf(this.#next), id) < 0) await this.#read()
    if (this.#next && idOf(this.#next) === id) this.#report.add('bad-structure', where, `${GONE_LIST} says that it is gone, and it is there`)
  }

  /** @returns {number | undefined} how many tiles are gone, in a diff */
  end () {
    this.#claims.end(METADATA)
    return this.#gone?.count()
  }

  async close () {
    await this.#gone?.close()
  }
}

const idOf = ({ z, x, y }) => `${z}:${x}:${y}`
